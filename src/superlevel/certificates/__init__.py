"""The second verifier of certificates: one file that imports nothing of the rest, because strangers run it alone."""
