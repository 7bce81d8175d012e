"""Pure functions from results to figures and tables."""
