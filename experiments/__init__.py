"""Experiments: each file is a question, and prints or draws the answer."""
