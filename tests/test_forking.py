"""A process that was forked from one that has computed is told so, instead of waiting for ever."""

import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import jax.numpy as jnp
import numpy as np
import pytest

import vibayes as vb

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks there"),
    pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning"),
]
SPRING = vb.Structure.single_dof(1.0, [vb.Spring("k"), vb.Damper(0.5)], sensors=[vb.Displacement("mass")])
FORCE = vb.Sampled(np.ones(20), 10.0, vb.StraightLines())
RECORD = vb.Record.from_arrays(rate=10.0, input=np.ones(20), output=np.sin(np.arange(20.0)))
FORM = vb.normal_form(vb.Structure({"m": 1.0}, [vb.Duffing("k", 1.0).between("ground", "m")]))
PRIORS = {"k": vb.LogUniform(10.0, 100.0)}


def in_a_fork(work):
    """What a forked process says, or that it says nothing."""
    jnp.ones(3).block_until_ready()  # JAX has its threads now
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            work()
            said = "it worked"
        except BaseException as trouble:
            said = f"{type(trouble).__name__}: {trouble}"
        os.write(write, said.encode()[:4000])
        os._exit(0)
    os.close(write)
    for _ in range(200):
        if os.waitpid(child, os.WNOHANG)[0]:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "it hangs"
    with os.fdopen(read, "rb") as pipe:
        return pipe.read().decode()


VERBS = {
    "simulate": lambda: vb.simulate(SPRING, FORCE, {"k": np.linspace(10.0, 20.0, 200)}),
    "infer": lambda: vb.infer(0, vb.Problem(SPRING, RECORD, PRIORS), vb.ABCRejection(200.0, 10)),
    "likelihood": lambda: vb.Problem(SPRING, RECORD, PRIORS, noise=0.1),
    "forced_response": lambda: vb.forced_response(SPRING, {"k": 10.0}, {"mass": 1.0}, (1.0, 2.0)),
    "backbone_curve": lambda: vb.backbone_curve(FORM, np.linspace(0.1, 0.5, 5), {"k": 1.0}),
    "static_force": lambda: vb.static_force(vb.Spring(1.0), np.ones(3)),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_forked_process_is_refused_in_words(verb):
    said = in_a_fork(VERBS[verb])
    assert said.startswith(f"InvalidInput: {verb}: expected a process of its own") and "spawn" in said


@pytest.mark.slow
def test_a_spawned_process_works():
    jnp.ones(3).block_until_ready()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(vb.static_force, vb.Spring(2.0), 3.0).result() == 6.0
