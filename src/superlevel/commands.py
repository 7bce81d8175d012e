"""A program that is called like a function: whatever is not Python.

>>> Command("./simulate --heat {temperature} {ph}").arguments(temperature=20.5, ph=7.0)
['./simulate', '--heat', '20.5', '7.0']
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from string import Formatter

from superlevel.arrays import as_number
from superlevel.errors import InputError, SuperlevelError
from superlevel.scales import Cell

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:nan|inf(?:inity)?|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?!\w|\.\d)", re.IGNORECASE)
EXAMPLE = "./simulate {temperature} {ph}"


class CallFailedError(SuperlevelError):
    """A call that gave no number, and why."""


@dataclass(frozen=True)
class Command:
    """A program and its arguments, with the names of coordinates in braces.

    No shell is involved: the text is split into words once, and each value stays within its word. The value is the last
    number that the program prints on its standard output.
    """

    text: str
    """Such as './simulate {temperature} {ph}'. A number is written with all its digits, or as in {ph:.2f}."""
    timeout: float | None = None
    """Seconds after which the program is ended, and everything that it started."""

    def __post_init__(self) -> None:
        if not self.words:
            raise InputError("command", repr(self.text), f"give a program and its arguments, such as {EXAMPLE!r}")
        self.fields  # noqa: B018  parsed, so that a mistake is found now
        if self.timeout is not None:
            object.__setattr__(self, "timeout", as_number("timeout", self.timeout, above=0))

    @property
    def words(self) -> list[str]:
        """The program and its arguments, as a shell would split them."""
        try:
            return shlex.split(self.text)
        except ValueError as error:
            raise InputError("command", repr(self.text), f"check its quotes ({error})") from error

    @property
    def fields(self) -> set[str]:
        """The names in braces."""
        try:
            return {name for word in self.words for _, name, _, _ in Formatter().parse(word) if name is not None}
        except ValueError as error:
            remedy = f"write a brace that is not around a name twice, as {{{{ and }}}} ({error})"
            raise InputError("command", repr(self.text), remedy) from error

    def check(self, names: Collection[str]) -> None:
        """That the program is there, and that the names in braces are those of the coordinates."""
        for name in sorted(self.fields - set(names)):
            raise InputError("command", f"one with {{{name}}}", f"the coordinates are {', '.join(names)}")
        for name in names:
            if name not in self.fields:
                raise InputError("command", f"one without {{{name}}}", "give every coordinate to the program")
        if shutil.which(self.words[0]) is None:
            remedy = "give a program that is there and may be run (chmod +x makes a file one)"
            raise InputError("command", f"one that begins with {self.words[0]!r}", remedy)

    def arguments(self, **place: Cell) -> list[str]:
        """The words with the coordinates of a place."""
        return [word.format_map(place) for word in self.words]

    def __call__(self, **place: Cell) -> float:
        """The last number that the program prints; a CallFailedError says why there is none."""
        try:
            process = subprocess.Popen(
                self.arguments(**place),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that all that it starts can be ended with it
            )
        except OSError as error:
            raise CallFailedError(f"the program could not be started ({error.strerror})") from error
        except (KeyError, ValueError, TypeError) as error:
            raise CallFailedError(f"its arguments cannot be written ({error})") from error
        with process:
            try:
                printed, complaints = process.communicate(timeout=self.timeout)
            except subprocess.TimeoutExpired as error:
                _end(process)
                raise CallFailedError(f"no answer within {self.timeout:g} s") from error
            except BaseException:  # Ctrl-C: the program would go on
                _end(process)
                raise
        return _value(process.returncode, printed.decode(errors="replace"), complaints.decode(errors="replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _value(code: int, printed: str, complaints: str) -> float:
    last = (complaints.strip() or printed.strip()).rpartition("\n")[2]
    if code:
        ended = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
        raise CallFailedError(f"{ended}: {last}" if last else ended)
    numbers = NUMBER.findall(printed)
    if not numbers:
        raise CallFailedError(f"printed no number: {last!r}" if last else "printed nothing")
    return float(numbers[-1])
