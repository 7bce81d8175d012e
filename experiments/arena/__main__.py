"""`python -m experiments.arena`."""

from experiments.arena.run import main

if __name__ == "__main__":
    main()
