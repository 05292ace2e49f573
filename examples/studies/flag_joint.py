"""Beside frame.toml: an element, a constraint and a distance of one's own, which the study names by import path."""

import jax.numpy as jnp
import numpy as np

import vibayes as vb


class FlagJoint(vb.Element):
    """An elastic joint that opens: beyond `opening` it goes on with a share of its stiffness, and closes again."""

    stiffness: float | str
    opening: float | str
    share: float | str

    def force(self, local):
        closed = jnp.clip(local.deformation, -self.opening, self.opening)
        return self.stiffness * (closed + self.share * (local.deformation - closed))


def opens_late(values):
    return values["opening"] > 2e-4


def half_of_the_error(measured, simulated):
    return float(50.0 * np.sum((measured - simulated) ** 2) / np.sum(measured**2))
