"""An element of one's own with modes and memory: a self-centring joint with its flag-shaped loop.

A rocking joint is closed until the force reaches k·opening. Then it opens along a softer line; on the way back friction
holds it for a while, it closes along a parallel line that lies lower, and is closed again at the end: nothing is left
over. Run it with ``python examples/self_centring.py``; it draws the loops into self_centring.png.
"""

# --8<-- [start:element]
import jax.numpy as jnp
import numpy as np

import vibayes as vb
from vibayes.structure.element import choose

CLOSED, OPENING, HELD, CLOSING = 0, 1, 2, 3  # and 4, 5, 6: opening, held and closing on the negative side


class SelfCentring(vb.Element):
    """Flag-shaped hysteresis: f = k (d − z), where z is what the joint has opened by.

    opening and closing   z' = (1 − α) v,   along  d − z/(1 − α) = opening   and   opening − loop/(1 − α)
    closed and held       z' = 0
    """

    stiffness: float | str
    opening: float | str  # deformation at which the joint opens
    loop: float | str  # height of the flag over the stiffness
    ratio: float | str = 0.05  # stiffness when opening over stiffness when closed, α
    states = ("z",)
    affine = True
    needs_events = True

    @property
    def modes(self):
        return ("closed", "opening on", "held on", "closing on", "opening back", "held back", "closing back")

    def force(self, local):
        return self.stiffness * (local.deformation - local.states[0])

    def rates(self, local):
        phase, _ = phase_and_side(local.mode)
        moving = (phase == OPENING) | (phase == CLOSING)
        return (jnp.where(moving, (1.0 - self.ratio) * local.velocity, 0.0),)

    def guards(self, local):
        d, v, (z,) = local.deformation, local.velocity, local.states
        phase, side = phase_and_side(local.mode)
        place = side * (d - z / (1.0 - self.ratio))
        lowest = self.opening - self.loop / (1.0 - self.ratio)
        return (
            choose(phase, (self.opening - d, side * v, self.opening - place, -side * v)),
            choose(phase, (self.opening + d, 1.0, place - lowest, side * z)),
        )

    def guard_names(self):
        return ("open, or turn", "open back, or close")

    def switch(self, local, fired):
        first, _ = fired
        phase, side = phase_and_side(local.mode)
        next_phase = choose(
            phase,
            (OPENING, HELD, jnp.where(first, OPENING, CLOSING), jnp.where(first, HELD, CLOSED)),
        )
        back = jnp.where(phase == CLOSED, ~first, side < 0) & (next_phase != CLOSED)
        z = jnp.where(next_phase == CLOSED, 0.0, local.states[0])  # not merely nearly zero
        return jnp.where(back, next_phase + 3, next_phase), (z,)

    def mode_at(self, local):
        (z,) = local.states
        return jnp.where(z == 0.0, CLOSED, jnp.where(z > 0.0, HELD, HELD + 3))

    def start(self, deformation=None):
        if deformation is None:
            return (0.0,)
        return ((1.0 - self.ratio) * (deformation - jnp.clip(deformation, -self.opening, self.opening)),)

    def checks(self):
        bad = ~(np.asarray(self.loop) <= (1.0 - np.asarray(self.ratio)) * np.asarray(self.opening))
        yield vb.Check(bad, "loop", "at most (1 − ratio) · opening, so that the joint closes", "lower it")


def phase_and_side(mode):
    back = mode > CLOSING
    return jnp.where(back, mode - 3, mode), jnp.where(back, -1.0, 1.0)


# --8<-- [end:element]


def main() -> None:
    joint = SelfCentring("k", "opening", "loop").between("ground", "mass", name="joint")
    structure = vb.Structure.single_dof(
        1.0, [vb.Damper(1.0), joint], sensors=[vb.ElementDeformation("joint"), vb.ElementForce("joint")]
    )
    force = vb.ModulatedSine(amplitude=1.5, frequency_hz=1.0, modulation_hz=0.1)
    values = {"k": 1000.0, "opening": 1e-3, "loop": 0.5e-3}
    settings = {"rate": 200.0, "samples": 2001}
    exact = vb.simulate(structure, force, values, **settings)
    located = vb.simulate(structure, force, values, method=vb.EventLocated(rtol=1e-8), **settings)
    difference = np.abs(exact.outputs - located.outputs).max(axis=0) / np.abs(exact.outputs).max(axis=0)
    closed = exact.modes[:, 1] == CLOSED
    print(f"{len(exact.events)} events; left over when closed: {np.abs(exact['z of joint'][closed]).max()}")
    print(f"two methods agree to {difference.max():.0e} of the largest value")
    draw(exact, "self_centring.png")


def draw(solution, path) -> None:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("Matplotlib is not installed; nothing was drawn")
        return
    figure, axes = plt.subplots()
    axes.plot(1e3 * solution["element deformation of joint"], solution["element force of joint"], linewidth=0.8)
    axes.set(xlabel="deformation (mm)", ylabel="force (N)", title="A self-centring joint")
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
