"""Particles drawn anew stand for the weights they had."""

from __future__ import annotations

import numpy as np
import pytest

import vibayes as vb
from vibayes.samplers import multinomial, residual, stratified, systematic

WAYS = [multinomial, residual, stratified, systematic]
REPEATS, COUNT = 4000, 12


def counts(way, weights):
    rng = np.random.default_rng(1)
    return np.array([np.bincount(way(rng, weights), minlength=COUNT) for _ in range(REPEATS)])


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(0).dirichlet(np.full(COUNT, 0.5))


def off(way, weights):
    """The largest error of an average count, in standard errors; counts that never vary are off by rounding or not."""
    drawn = counts(way, weights)
    error = drawn.std(axis=0) / np.sqrt(REPEATS)
    return np.max(np.abs(drawn.mean(axis=0) - COUNT * weights) / np.maximum(error, 1e-9))


@pytest.mark.parametrize("way", WAYS)
def test_each_is_drawn_as_often_as_its_weight_says_on_average(way, weights):
    assert off(way, weights) < 4.0  # of twelve


def test_drawing_the_heaviest_first_is_found_out(weights):
    def greedy(rng, weights):
        return np.argsort(-weights)[rng.integers(0, 4, COUNT)]

    assert off(greedy, weights) > 20.0


@pytest.mark.parametrize("way", [systematic, residual])
def test_no_one_is_drawn_less_often_than_the_whole_part_of_its_due(way, weights):
    assert np.all(counts(way, weights) >= np.floor(COUNT * weights))


def test_systematic_counts_are_the_due_rounded_up_or_down(weights):
    assert np.all(np.abs(counts(systematic, weights) - COUNT * weights) < 1.0)


@pytest.mark.parametrize("way", [residual, stratified, systematic])
def test_counts_vary_less_than_those_of_independent_draws(way, weights):
    assert counts(way, weights).var(axis=0).sum() < 0.9 * counts(multinomial, weights).var(axis=0).sum()


@pytest.mark.parametrize("way", WAYS)
def test_equal_weights_and_a_single_one_are_drawn_without_a_miss(way):
    rng = np.random.default_rng(0)
    single = way(rng, np.array([0.0, 1.0, 0.0]))
    assert single.tolist() == [1, 1, 1]
    assert len(way(rng, np.full(7, 1.0 / 7.0))) == 7


def test_a_way_that_is_no_function_is_refused():
    with pytest.raises(vb.InvalidInput, match="systematic, stratified, residual or multinomial"):
        vb.IBIS(resampling="systematic")  # type: ignore[arg-type]
