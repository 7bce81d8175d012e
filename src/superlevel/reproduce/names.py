"""What can be reproduced, by name: known without importing what it takes to do it."""

NAMES = (
    "allocations",
    "gp",
    "cosine",
    "appendix-gp",
    "appendix-cosine",
    "appendix-2d",
    "linear-explicit",
    "linear-implicit",
)
ALL = "all"
REPS, QUICK_REPS = 25, 3
