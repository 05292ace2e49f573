"""A checksum at the end of a file that tells whether all of it is as it was written.

    file = content · "\\nvibayes sha256 " · SHA-256 of the content, in hexadecimal · "\\n"

Formats such as HDF5 have their own end and ignore what follows. One look at the bytes comes before any library reads
them, for a library may not survive what is damaged.
"""

from __future__ import annotations

import hashlib
import re

_MARK = b"\nvibayes sha256 "
_SEAL = re.compile(re.escape(_MARK) + rb"([0-9a-f]{64})\n\Z")
_LENGTH = len(_MARK) + 64 + 1


def sealed(content: bytes) -> bytes:
    """Content with its checksum.

    Examples:
        >>> is_whole(sealed(b"numbers")), is_whole(sealed(b"numbers").replace(b"n", b"m", 1)), is_whole(b"numbers")
        (True, False, None)
    """
    return content + _MARK + hashlib.sha256(content).hexdigest().encode() + b"\n"


def is_whole(content: bytes) -> bool | None:
    """Whether content is as it was when it was sealed; None if it has no checksum, or none that can be read."""
    found = _SEAL.match(content[-_LENGTH:])
    if found is None:
        return None
    return hashlib.sha256(memoryview(content)[:-_LENGTH]).hexdigest().encode() == found[1]
