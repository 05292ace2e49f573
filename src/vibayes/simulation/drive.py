"""Excitations as the stepping loop wants them: Taylor series of every input channel, anywhere in time."""

from __future__ import annotations

from math import comb
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from vibayes.simulation.method import Series

Scalar = Any


class TableDrive(eqx.Module):
    """Piecewise-polynomial inputs: ``columns[channel][k]`` holds coefficient k of every piece."""

    columns: tuple[tuple[Any, ...], ...]

    def series(self, piece: Scalar, since: Scalar, order: int) -> tuple[Series, ...]:
        """Taylor series at a time after the start of a piece."""
        channels = []
        for columns in self.columns:
            c = [column[piece] for column in columns]
            top = len(c) - 1
            shifted = []
            for k in range(min(top, order) + 1):
                value = c[top] * comb(top, k)
                for j in reversed(range(k, top)):
                    value = value * since + c[j] * comb(j, k)
                shifted.append(value)
            channels.append(tuple(shifted))
        return tuple(channels)


class AnalyticDrive(eqx.Module):
    """Smooth inputs, known for all time."""

    excitations: tuple[Any, ...]
    interval: float = eqx.field(static=True)

    def series(self, piece: Scalar, since: Scalar, order: int) -> tuple[Series, ...]:
        """Taylor series at a time after the start of a piece."""
        t = piece * self.interval + since
        if order == 0:
            return tuple((e.value(t),) for e in self.excitations)
        return tuple(tuple(e.taylor(t, order)) for e in self.excitations)


def table_drive(pieces: Any, last: Any) -> TableDrive:
    """From coefficients (…, pieces, channels, degree+1) and the very last sample (…, channels), which closes the
    record.
    """
    closing = jnp.zeros_like(pieces[..., :1, :, :]).at[..., 0, :, 0].set(last)
    table = jnp.concatenate([pieces, closing], axis=-3)
    return TableDrive(tuple(tuple(table[..., c, k] for k in range(table.shape[-1])) for c in range(table.shape[-2])))
