"""Numbers as people read them."""

from __future__ import annotations

WHOLE = 1e6  # numbers from here on have no decimals,
EXPONENT = 1e15  # and from here on an exponent


def written(value: float) -> str:
    """Six digits, or all digits before the decimal point where these are more.

    >>> written(20.0), written(0.1234567), written(1234567.8), written(1e20)
    ('20', '0.123457', '1234568', '1e+20')
    """
    return f"{value:.0f}" if WHOLE <= abs(value) < EXPONENT else f"{value:.6g}"
