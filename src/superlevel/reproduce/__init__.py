"""The figures of the paper, run again: a table of settings for each, one runner, and a verdict on every claim."""
