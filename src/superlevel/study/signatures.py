"""Signed logs: every entry carries an ed25519 signature, which only the holder of the key file can make.

    signature_k = sign(H(digest_{k-1}, seq, kind, at, payload without the signature))

The public key is in the first entry. Whoever holds only the store can then neither change nor add an entry without
its being noticed by whoever knows the public key. Needs the optional package cryptography.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superlevel.errors import InputError
from superlevel.study.events import Created, DamagedError, chained, parted
from superlevel.study.storage.protocol import Entry

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PREFIX = "ed25519:"
REMEDY = "install it with `pip install 'superlevel[sign]'`"


@dataclass(frozen=True, eq=False)
class Signer:
    """A private key that was read."""

    _key: Ed25519PrivateKey

    @property
    def public(self) -> str:
        """The public key, as it is printed."""
        return f"{PREFIX}{self._key.public_key().public_bytes_raw().hex()}"

    def __call__(self, digest: str) -> str:
        """The signature of a digest."""
        return self._key.sign(digest.encode()).hex()


def check_installed() -> None:
    """InputError where signatures cannot be made or checked."""
    _ed25519()


def is_installed() -> bool:
    """Whether signatures can be made and checked here."""
    try:
        _ed25519()
    except InputError:
        return False
    return True


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415  optional, and slow to import
    except ImportError as error:
        raise InputError("sign", "not possible without the package cryptography", REMEDY) from error
    return ed25519


def make_key(path: str | os.PathLike[str]) -> Signer:
    """Write a new private key to a new file that only its owner can read."""
    made = Signer(_ed25519().Ed25519PrivateKey.generate())
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415

    pem = made._key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise InputError("key", repr(str(path)), "a file of that name is there already: name a new one") from error
    except OSError as error:
        raise InputError("key", repr(str(path)), f"it cannot be written ({error.strerror}): name another") from error
    with os.fdopen(file, "wb") as lines:
        lines.write(pem)
    return made


def read_key(path: str | os.PathLike[str]) -> Signer:
    """The private key in a file that `make_key` wrote."""
    ed25519 = _ed25519()
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    remedy = "give a file that `superlevel study key FILE` wrote"
    try:
        key = load_pem_private_key(Path(path).read_bytes(), password=None)
    except OSError as error:
        raise InputError("sign", repr(str(path)), f"{remedy} ({error.strerror})") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InputError("sign", f"{str(path)!r}, which is no key", remedy) from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise InputError("sign", f"{str(path)!r}, which is a key of another kind", remedy)
    return Signer(key)


def signer_of(key: str | os.PathLike[str] | None) -> Signer | None:
    """Who signs, if anybody does."""
    return None if key is None else read_key(key)


def check_signer(created: Created, signer: Signer | None) -> None:
    """That a key is that of the study."""
    if signer is None or signer.public == created.key:
        return
    if not created.key:
        raise InputError("sign", "a key for a study without one", "leave it out, or create a study with it")
    raise InputError("sign", f"the key {signer.public}", f"this study is signed with {created.key}: give that one")


def allowed(created: Created, signer: Signer | None) -> Signer | None:
    """Who signs the next entry: a signed study takes no unsigned one."""
    if created.key and signer is None:
        raise InputError("sign", "missing", "every entry of this study is signed: give its key with --sign FILE")
    return signer


def as_public(text: str) -> str:
    """A public key that somebody typed, or that is in a file."""
    given = text.strip()
    with suppress(OSError):  # what is no name of a file, or cannot be read, is no key either
        if not given.startswith(PREFIX) and Path(given).is_file():
            given = Path(given).read_text(encoding="utf-8", errors="replace").strip()
    digits = given.removeprefix(PREFIX).lower()
    if len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        remedy = f"give the public key as `superlevel study key` prints it, {PREFIX} and 64 characters"
        raise InputError("key", repr(text), remedy)
    return f"{PREFIX}{digits}"


def faults(entries: Sequence[Entry], key: str) -> list[str]:
    """Which entries are not signed with this public key, a sentence each. InputError without cryptography."""
    ed25519 = _ed25519()
    try:
        public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.removeprefix(PREFIX)))
    except ValueError as error:
        raise DamagedError(f"{key!r} is no public key") from error
    return list(_faults(entries, public))


def _faults(entries: Sequence[Entry], public: Any) -> Iterator[str]:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415

    before = ""
    for entry in entries:
        payload, signature = parted(entry.payload)
        if not signature:
            yield f"entry {entry.seq} is not signed"
        else:
            signed = chained(before, entry.seq, entry.kind, entry.at, payload)
            try:
                public.verify(bytes.fromhex(signature), signed.encode())
            except InvalidSignature:
                yield f"entry {entry.seq} is signed with another key, or was changed"
        before = entry.digest
