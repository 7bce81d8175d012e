"""`python -m superlevel`."""

from superlevel.cli import main

main()
