"""Ways to move points of a density: walk to beside where they are, jump to anywhere that other points are, forget some
coordinates, or exchange some with another point.

Two follow a cloud of points of the density, in pieces k with coordinates y_k and a density q = Σ_k q_k (`pieces`):

    walk:    in the coordinates of a piece, drawn with the probability q_k(z) / q(z), y' = y + s ξ, ξ standard normal,
    jump:    z' ~ q,
    forget:  one to three neighbouring coordinates of z are drawn from their prior.

With π(z) = N(z; 0, I) L(z)^power, a move is made with the probability

    min(1, r π(z') / π(z)),        r = q(z) / q(z') for a jump,        r = q_k(z') q(z) / (q_k(z) q(z')) for a walk,
                                   r = N(z; 0, I) / N(z'; 0, I) to forget,

and a point that is not moved counts once more. That leaves π as it is, whatever the cloud, as long as the cloud is not
the points that are moved. Jumps find their way from piece to piece and along bends; walks go where the cloud is wrong.
To forget is mostly in vain, but it finds what no point has found yet: a spring that yields where all points take it for
elastic, and so agree on nothing about its yield force.

An exchange of coordinates between z_1 and z_2 (Liang & Wong 2000) is made with the probability

    min(1, π(z_1') π(z_2') / π(z_1) π(z_2)),

in which the prior cancels: what one point knows of one spring, and the other of another, comes together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vibayes.samplers.likely import Likely, likelihoods, log_prior
from vibayes.samplers.pieces import Pieces, pieces_of

_BEST_WALK = 2.38
"""By the root of the number of unknowns: the best step for a Gaussian."""
_WANTED = 0.3
"""Share of walks that should be made."""
_JUMPS = 0.2, 0.8
"""Share of jumps among the moves, where jumps are mostly in vain and where they are not."""
_WORTH = 0.3
"""A jump forgets where it came from, a walk does so in some multiple of `size` steps: jumps are worth it if a share of
more than this by `size` is made."""
_RUNS = np.array([1, 1, 2, 3])
"""Neighbouring coordinates that are forgotten at once: those of one element, or some of them."""
_FORGOTTEN = 0.1
"""Correlation of where points are with where they began, in each direction, that ends the moves."""
_RESTING, _WAIT = 0.95, 10
"""A correlation that has not fallen to this share of itself in so many moves does not fall any more, and they end too:
points do not find the way from one mode to the other."""


class Points(NamedTuple):
    """Points that are being moved, and their log-likelihoods."""

    points: np.ndarray
    log_likelihoods: np.ndarray

    def of(self, chosen: np.ndarray) -> Points:
        """Some of them."""
        return Points(self.points[chosen], self.log_likelihoods[chosen])


class Moves(NamedTuple):
    """How points are moved; as long as it stays the same, the points keep their density."""

    pieces: Pieces
    step: float = 1.0
    """Of a walk, in units of the best for a Gaussian."""
    jumps: float = 0.5
    """Share of jumps among the moves."""
    jumped: float = np.nan
    """Share of jumps that were made, of late."""
    forgets: float = 0.0
    """Share of moves that forget."""


class Made(NamedTuple):
    """What became of the moves."""

    chance: np.ndarray
    """With which probability each was made."""
    jump: np.ndarray
    """Whether it was a jump."""
    walk: np.ndarray
    """Whether it was a walk."""
    log_weights: np.ndarray
    """Logarithm of π / q where jumps lead: independent numbers, whose mean is the evidence if the power is 1."""
    accept: np.ndarray
    """Which were made."""

    @property
    def accepted(self) -> float:
        """Share of moves that were made."""
        return float(self.accept.mean())


def moves_of(points: np.ndarray, weights: np.ndarray, before: Moves | None = None, forgets: float = 0.0) -> Moves:
    """Moves that follow the shape of weighted points, otherwise as before."""
    pieces = pieces_of(points, weights)
    return before._replace(pieces=pieces) if before else Moves(pieces, forgets=forgets)


def move(
    rng: np.random.Generator, target: Likely, points: Points, moves: Moves, power: float = 1.0
) -> tuple[Points, Made]:
    """Propose one move for every point, with one call of the likelihood for all, and make those that are accepted."""
    now, logs = points
    count, size = now.shape
    kind = rng.random(count)
    forget, jump = kind < moves.forgets, kind >= 1.0 - (1.0 - moves.forgets) * moves.jumps
    before = moves.pieces.log_densities(now)
    density = np.logaddexp.reduce(before)
    which = _drawn(rng, before - density)
    proposed = _walk(rng, moves.pieces, now, which, moves.step * _BEST_WALK / np.sqrt(size))
    proposed[jump] = moves.pieces.draw(rng, int(jump.sum()))
    proposed[forget] = _without_some(rng, now[forget])
    values = likelihoods(target, proposed)
    after = moves.pieces.log_densities(proposed)
    log_ratio = density - np.logaddexp.reduce(after)
    number = np.arange(count)
    with np.errstate(invalid="ignore"):  # where q is zero, so is the chance
        log_ratio += np.where(jump, 0.0, after[which, number] - before[which, number])
        log_ratio = np.where(forget, 0.0, log_ratio + log_prior(proposed) - log_prior(now)) + power * (values - logs)
    chance = np.exp(np.minimum(np.where(np.isnan(log_ratio), -np.inf, log_ratio), 0.0))
    accept = rng.random(count) < chance
    moved = Points(np.where(accept[:, None], proposed, now), np.where(accept, values, logs))
    log_prior_there = log_prior(proposed) - 0.5 * size * np.log(2.0 * np.pi)
    log_weights = power * values + log_prior_there - np.logaddexp.reduce(after)
    return moved, Made(chance, jump, ~(jump | forget), log_weights[jump], accept)


def tuned(moves: Moves, made: Made, gain: float) -> Moves:
    """Moves of which more will be made: a better step (Robbins-Monro), and jumps as often as they are worth it."""
    walked, jumped = made.chance[made.walk], made.chance[made.jump]
    step = moves.step * np.exp(gain * (walked.mean() - _WANTED)) if len(walked) else moves.step
    rate = moves.jumped
    if len(jumped):
        rate = jumped.mean() if np.isnan(rate) else rate + min(gain, 1.0) * (jumped.mean() - rate)
    worth = rate > _WORTH / len(moves.pieces.charts[0].centre)
    return moves._replace(step=float(np.clip(step, 1e-4, 10.0)), jumps=_JUMPS[int(worth)], jumped=float(rate))


def exchange(rng: np.random.Generator, target: Likely, points: Points) -> Points:
    """Let every point exchange a run of coordinates with another one, where that does not lead too far down."""
    now, logs = points
    count, size = now.shape
    order = rng.permutation(count)
    one, other = order[: count // 2], order[count // 2 : 2 * (count // 2)]
    taken = _runs(rng, rng.integers(1, size // 2 + 1, len(one)), size) if size > 1 else np.ones((len(one), 1), bool)
    pair = np.concatenate([np.where(taken, now[other], now[one]), np.where(taken, now[one], now[other])])
    values = likelihoods(target, pair)
    both = values.reshape(2, -1).sum(axis=0) - logs[one] - logs[other]
    made = np.tile(np.log(rng.random(len(one))) < both, 2)
    now, logs, where = now.copy(), logs.copy(), np.concatenate([one, other])[made]
    now[where], logs[where] = pair[made], values[made]
    return Points(now, logs)


def _runs(rng: np.random.Generator, lengths: np.ndarray, size: int) -> np.ndarray:
    """Which coordinates belong to a run of each length, (lengths, size); after the last comes the first."""
    begin = rng.integers(size, size=len(lengths))
    return (np.arange(size) - begin[:, None]) % size < lengths[:, None]


def _without_some(rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
    """The points, with a run of coordinates of each drawn from the prior."""
    lengths = rng.choice(_RUNS, len(points))
    return np.where(_runs(rng, lengths, points.shape[1]), rng.standard_normal(points.shape), points)


class Memory:
    """What moved points still know of where they began."""

    def __init__(self, start: np.ndarray):
        self._start = start
        self._left = [np.ones(start.shape[1])]

    def gone(self, now: np.ndarray) -> bool:
        """Whether it is gone in every direction, or does not go any further."""
        self._left.append(correlations(self._start, now))
        forgotten = self._left[-1] < _FORGOTTEN + 1.0 / np.sqrt(len(now))
        resting = self._left[-1] > _RESTING * self._left[-_WAIT] if len(self._left) > _WAIT else False
        return bool(np.all(forgotten | resting))

    @property
    def left(self) -> float:
        """Correlation in the worst direction."""
        return float(self._left[-1].max())


def correlations(start: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Of where points are with where they began, along each principal direction of the cloud."""
    away, moved = start - start.mean(axis=0), now - now.mean(axis=0)
    directions = np.linalg.eigh(away.T @ away)[1]
    away, moved = away @ directions, moved @ directions
    scale = np.linalg.norm(away, axis=0) * np.linalg.norm(moved, axis=0)
    return np.sum(away * moved, axis=0) / np.maximum(scale, 1e-300)


def _drawn(rng: np.random.Generator, logs: np.ndarray) -> np.ndarray:
    """A number for each column, with the probabilities in it."""
    return np.argmax(np.nan_to_num(logs, nan=0.0) + rng.gumbel(size=logs.shape), axis=0)


def _walk(rng: np.random.Generator, pieces: Pieces, points: np.ndarray, which: np.ndarray, step: float) -> np.ndarray:
    """A point beside each, in the coordinates of a given piece."""
    moved = step * rng.standard_normal(points.shape)
    for number, each in enumerate(pieces.charts):
        mine = which == number
        moved[mine] = each.points(each.straight(points[mine]) + moved[mine])
    return moved
