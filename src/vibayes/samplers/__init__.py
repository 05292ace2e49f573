"""Samplers, one per file. They see callables and arrays only, and know nothing of mechanics."""

from vibayes.samplers.follow_and_weigh import FollowAndWeigh
from vibayes.samplers.nested import ABCNestedSampling
from vibayes.samplers.rejection import ABCRejection
from vibayes.samplers.smc import ABCSMC

__all__ = ["ABCSMC", "ABCNestedSampling", "ABCRejection", "FollowAndWeigh"]
