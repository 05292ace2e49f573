"""Processes that were forked after JAX had begun to compute: its threads are not there, and a computation waits for
them for ever. So it is refused instead, in words.

A process that is *spawned* begins anew, and works: ``multiprocessing.get_context("spawn")``.
"""

from __future__ import annotations

import os

from vibayes.errors import InvalidInput
from vibayes.precision import require_double_precision


class _Process:
    """This process: whether it was forked when there were threads of JAX already."""

    forked = False


def require_usable_jax(where: str) -> None:
    """Refuse to compute where it would never end, or would be in single precision: the check at the door of every verb.

    Args:
        where: the function that was called, for the message.

    Raises:
        InvalidInput: this process was forked from one in which JAX had computed already, or other code has switched JAX
            to single precision.

    Examples:
        >>> require_usable_jax("simulate")
    """
    if _Process.forked:
        expected = "a process of its own"
        got = "one forked from a process that had used JAX, in which this would wait for ever"
        remedy = 'start it by "spawn": multiprocessing.get_context("spawn"), or ProcessPoolExecutor(mp_context=...)'
        raise InvalidInput(where, expected, got, remedy)
    require_double_precision(where)


def notice_forks() -> None:
    """Have the system tell, in every process that is forked from this one."""
    if hasattr(os, "register_at_fork"):  # others do not fork
        os.register_at_fork(after_in_child=_forked)


def _forked() -> None:
    _Process.forked = _Process.forked or _jax_has_begun()


def _jax_has_begun() -> bool:
    """Before its first computation JAX has no threads, and a fork does no harm."""
    try:
        from jax._src.xla_bridge import backends_are_initialized

        return backends_are_initialized()
    except ImportError:  # a name that is not public, and may move
        return True
