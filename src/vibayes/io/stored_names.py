"""Names of models, parameters and channels as names of groups and variables in a netCDF file.

There ``/`` separates groups, a parameter cannot be called like a dimension (``draw``), and programs read at most 256
bytes. What cannot be stored is percent-encoded, as in web addresses, and so is the sign ``%`` itself, so that two names
are never stored under one:

    k → k      rig/acc → rig%2Facc      draw → %64raw      .. → %2E.      5 % → 5 %25

The rest of a name that is too long is replaced by its checksum.
"""

from __future__ import annotations

import hashlib
import unicodedata

_DIMENSIONS = frozenset(("chain", "draw", "time", "point"))
_INNER = ("_nc4", "_Netcdf4", "_NC", "phony_dim")
"""Beginnings of names that libraries give a meaning."""
_LONGEST = 200
"""Bytes. NC_MAX_NAME is 256, and libraries add some of their own."""
_KEPT = 150
"""Bytes of a name that is too long."""


def stored_name(name: str) -> str:
    """The name under which something is stored.

    Examples:
        >>> stored_name("k"), stored_name("rig/acc"), stored_name("draw")
        ('k', 'rig%2Facc', '%64raw')
    """
    # A library that normalises names would take two spellings of one letter for one name.
    composed = unicodedata.is_normalized("NFC", name)
    kept = [each.isprintable() and each not in "/%" and (composed or each.isascii()) for each in name]
    if name in _DIMENSIONS or name.startswith(_INNER) or not name.strip("."):
        kept[:1] = [False] * bool(name)
    for end in (0, -1):
        if name and name[end] == " ":
            kept[end] = False
    letters = [each if keep else _encoded(each) for each, keep in zip(name, kept, strict=True)]
    stored = "".join(letters) or "%"
    if len(stored.encode()) <= _LONGEST:
        return stored
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    beginning, size = [], 0
    for letter in letters:
        size += len(letter.encode())
        if size > _KEPT:
            break
        beginning.append(letter)
    return f"{''.join(beginning)}%~{digest}"


def stored_text(text: str) -> str:
    """Text that an attribute can hold: what cannot be stored (zero bytes, halves of letters) is spelled out.

    Examples:
        >>> stored_text("Größe"), stored_text("a" + chr(0))
        ('Größe', 'a\\\\x00')
    """
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def _encoded(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogatepass"))
