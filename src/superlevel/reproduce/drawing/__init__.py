"""The pictures of the paper's figures and of the experiments, drawn from their numbers."""
