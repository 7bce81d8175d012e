"""How many more measurements it takes, in words: what is known of it, and no more."""

from __future__ import annotations

import pytest

from superlevel.study.outlook import TELLING, Expected, Outlook


def outlook(until: int | None, earliest: int | None, latest: int | None) -> Outlook:
    expected = tuple(Expected(more=more, wrong=9.0, low=3, high=12) for more in (0, 50, 100))
    return Outlook(
        points=400, expected=expected, rate=0.01, until=until, earliest=earliest, latest=latest, farthest=2000
    )


@pytest.mark.parametrize(
    ("until", "earliest", "latest", "words"),
    [
        (0, 0, 0, "reached"),
        (0, 0, 40, "at most 40 more measurements, perhaps none"),
        (60, 0, None, "not known yet: it may be reached, or take very many measurements"),
        (100, 60, 60 * TELLING, "60 to 240 more measurements"),
        (100, 60, 60 * TELLING + 10, "at least 60 more measurements"),
        (1200, 1100, None, "at least 1,100 more measurements"),
        (None, 1500, None, "at least 1,500 more measurements"),
        (None, None, None, "more than 2,000 more measurements"),
    ],
)
def test_an_interval_is_told_where_it_tells_something(
    until: int | None, earliest: int | None, latest: int | None, words: str
) -> None:
    found = outlook(until, earliest, latest)
    assert found.missing == words
    assert dict(found.rows)["until 1 % wrong"] == words
