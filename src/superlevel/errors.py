"""What a person sees when something they gave cannot be used: one sentence, before anything is computed."""

from __future__ import annotations


class SuperlevelError(Exception):
    """Everything this library raises on purpose."""


class InputError(SuperlevelError, ValueError):
    """An input that cannot be used. The sentence names the field, what came and the remedy.

    >>> raise InputError("ridge", -1.0, "give a number >= 0")
    Traceback (most recent call last):
    superlevel.errors.InputError: ridge is -1.0: give a number >= 0
    """

    def __init__(self, field: str, got: object, remedy: str) -> None:
        super().__init__(f"{field} is {got}: {remedy}")
        self.field = field
        self.got = got
        self.remedy = remedy

    def about(self, field: str) -> InputError:
        """The same mistake under another name of the field: that of an option, for example."""
        return type(self)(field, "missing" if self.got is None else self.got, self.remedy)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, object, str]]:
        """Exceptions are unpickled from their message alone, which would lose the fields between processes."""
        return type(self), (self.field, self.got, self.remedy)


class NotInstalledError(InputError):
    """Something that only another version, or another package, can read."""


class AssumptionWarning(UserWarning):
    """The measurements speak against something that was assumed: what is declared may not be guaranteed."""


class CostWarning(UserWarning):
    """The work that begins now takes more than a minute or a gigabyte."""


class CacheWarning(UserWarning):
    """A cache could not be read or written: everything is right, and takes longer."""
