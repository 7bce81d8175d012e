"""The parts that a page is written from: words, sections, tables and pictures as HTML."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from superlevel.numerals import written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200  # of an image: sharp on paper


# --- words


def text(value: object) -> str:
    """As HTML shows it, without the characters that no page may have."""
    known = "".join(letter if letter.isprintable() or letter.isspace() else "\ufffd" for letter in str(value))
    return escape(known, quote=True)


class Numeral(str):
    """A number as it is written."""

    __slots__ = ()


def number(value: object) -> Numeral:
    """A number as a table has it, empty for None."""
    match value:
        case None:
            return Numeral()
        case float():
            return Numeral(written(value))
    return Numeral(f"{value:,}")


def several(count: int, word: str) -> str:
    """'1 point', '2,000 points'."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def section(heading: str, content: str) -> str:
    """A part of the page under a heading."""
    return f"<section>\n<h2>{heading}</h2>\n{content}\n</section>"


# --- tables


class Label(str):
    """The name of a class, with its colour."""

    face: str

    def __new__(cls, word: object, face: str) -> Label:
        made = super().__new__(cls, word)
        made.face = face
        return made


def table(names: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Numbers to the right and words to the left; without names, every line is headed by its first word."""
    head = "".join(
        f'<th scope="col"{_side(column)}>{text(name)}</th>'
        for name, column in zip(names, zip(*lines, strict=True), strict=False)
    )
    head = f"<thead><tr>{head}</tr></thead>\n" if names else ""
    body = ""
    for line in lines:
        cells = [_cell(value) for value in line]
        if not names:
            cells[0] = f'<th scope="row">{text(line[0])}</th>'
        body += f"<tr>{''.join(cells)}</tr>\n"
    return f'<div class="wide"><table>\n{head}<tbody>\n{body}</tbody></table></div>'


def _side(column: Iterable[object]) -> str:
    words = any(isinstance(value, str) and not isinstance(value, Numeral) for value in column)
    return "" if words else ' class="number"'


def _cell(value: object) -> str:
    match value:
        case Label():
            return f'<td class="label" style="--face: {value.face}">{text(value)}</td>'
        case Numeral():
            return f'<td class="number">{text(value)}</td>'
        case str():
            return f"<td>{text(value)}</td>"
    return _cell(number(value))


# --- pictures


def picture(figure: Figure, *, alt: str, mark: str = "d") -> str:
    """The figure within the page: drawn by the browser, or as an image where that is shorter, or where it has one.

    The parts of each have a mark of their own, because a page is to have no two of one name.
    """
    image = _png(figure, alt)
    if any(axes.images for axes in figure.axes):
        return image
    return min(_svg(figure, alt, mark), image, key=len)


def _png(figure: Figure, alt: str) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DPI, metadata={"Software": None})
    width, height = (round(96 * side) for side in figure.get_size_inches())
    data = base64.b64encode(content.getvalue()).decode()
    return f'<img width="{width}" height="{height}" alt="{text(alt)}" src="data:image/png;base64,{data}">'


def _svg(figure: Figure, alt: str, mark: str) -> str:
    """Without what a file has and a part of a page needs not, and the same text for the same figure."""
    content = io.StringIO()
    figure.savefig(content, format="svg", metadata={"Date": None})
    drawn = content.getvalue()
    drawn = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawn).replace("xlink:href", "href")
    found = dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawn))
    short = {name: f"{mark}{at}" for at, name in enumerate(found)}  # matplotlib's are drawn by lot
    drawn = re.sub(r'(\bid="|#)([^")\s;]+)', lambda hit: hit[1] + short.get(hit[2], hit[2]), drawn)
    start = drawn.index("<svg") + len("<svg")
    return f'<svg role="img" aria-label="{text(alt)}"{drawn[start:].strip()}'
