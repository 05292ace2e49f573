"""What is to be found out: a structure with unknowns, the record it shall explain, and what was believed before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vibayes.backbone import BackboneMethod, BackbonePoints, fitting
from vibayes.constraints import Constraint, breaks_in_order
from vibayes.distance import NMSE, Distance, require_distance
from vibayes.errors import InvalidInput
from vibayes.excitation import Hold, Sampled, StraightLines
from vibayes.filters import Filter, filtering
from vibayes.filters.checks import check_noise
from vibayes.notebook import card
from vibayes.physical import require_physical
from vibayes.priors import Prior, require_priors
from vibayes.record import Record
from vibayes.simulation import FixedStep, Method
from vibayes.simulation.checks import check_kind, check_stability
from vibayes.solvers import ODEFilter, Solver, solving
from vibayes.structure import Structure
from vibayes.structure.element import bind

Simulator = Callable[..., Any]
_NMSE, _STRAIGHT = NMSE(), StraightLines()


@dataclass(frozen=True)
class Problem:
    """One candidate model of a record.

    Args:
        model: a `Structure` whose unknowns have names, or a simulator of your own: a function that takes the
            parameters by name and returns the outputs, of shape (samples,) or (samples, outputs).
        record: what was measured. A structure is driven by its inputs and compared with its outputs, in their order.
            Or points of backbones, with which a structure of polynomial elements is compared without any input.
        priors: one for each unknown.
        name: of the model, as it appears in results.
        constraints: functions of the values by name that say which sets are allowed. Break points of piecewise-linear
            elements are in increasing order without being told.
        distance: `NMSE`, or a function of the measured and the simulated outputs.
        prior_probability: of the model in comparison with the others; only ratios matter.
        hold: what the inputs do between their samples.
        method: of simulation; by default the one `simulate` would choose.
        noise: standard deviation of the outputs' noise: a number or the name of an unknown, for all or one per output.
            It makes a likelihood of a comparison; a structure whose inputs are random needs it. Of points of backbones,
            standard deviation of the errors of the equations: one per mode.
        filter: where the likelihood comes from: of a structure whose inputs are random a filter, by default an
            `UnscentedFilter`; where all inputs were measured a solver, by default an `ODEFilter`; of points of
            backbones a `BackboneResidual` by default, or `BackboneAmplitudes`.
        sequential: whether errors build up along the record, as in a simulation; a static map is fitted faster without.
        vectorised: the simulator takes arrays with one entry per set, and returns (sets, samples) or
            (sets, samples, outputs).

    Examples:
        >>> import numpy as np
        >>> import vibayes as vb
        >>> time = np.arange(50) / 10.0
        >>> record = vb.Record.from_arrays(rate=10.0, output={"decay": np.exp(-0.7 * time)})
        >>> def decay(rate):
        ...     return np.exp(-rate * time)
        >>> vb.Problem(decay, record, {"rate": vb.Uniform(0.1, 2.0)}, name="exponential")
        Problem('exponential': rate; 50 samples of decay)
    """

    model: Structure | Simulator
    record: Record | BackbonePoints
    priors: Mapping[str, Prior]
    name: str = ""
    constraints: Sequence[Constraint] = ()
    distance: NMSE | Distance = _NMSE
    prior_probability: float = 1.0
    hold: Hold = _STRAIGHT
    method: Method | None = None
    noise: Any = None
    filter: Filter | Solver | BackboneMethod | None = None
    sequential: bool = True
    vectorised: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.record, Record | BackbonePoints):
            got = type(self.record).__name__
            raise InvalidInput("Problem.record", "a Record", got, "make one with Record.from_arrays or read_record")
        if self.of_backbones and not self.likely:
            expected, remedy = "a structure and the noise of its equations", 'write noise="sigma" with a prior for it'
            raise InvalidInput("Problem.noise", f"{expected}, for points of backbones", repr(self.noise), remedy)
        names = self._unknowns()
        object.__setattr__(self, "priors", require_priors("Problem.priors", self.priors, names))
        object.__setattr__(self, "constraints", self._all_constraints())
        require_distance("Problem.distance", self.distance)
        object.__setattr__(self, "name", self.name or self._default_name())
        p = self.prior_probability
        if not (np.isfinite(p) and p > 0):
            remedy = "leave the model out if it is impossible"
            raise InvalidInput("Problem.prior_probability", "a positive number", repr(p), remedy)
        if isinstance(self.distance, NMSE) and isinstance(self.record, Record) and not self.likely:
            self.distance.per_sample(self.record)  # refuses a record that cannot be compared with
        self._check_method()
        if isinstance(self.model, Structure):
            if self.likely:
                self.filtering()  # refuses what cannot be filtered or solved
                require_physical(self.model, self.priors, self._noise_names())
            else:
                self._check_channels(self.model)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the unknowns."""
        return tuple(self.priors)

    @property
    def random(self) -> bool:
        """Whether some inputs of the structure are random processes."""
        return isinstance(self.model, Structure) and any(p is not None for p in self.model.processes)

    @property
    def likely(self) -> bool:
        """Whether the outputs have noise, and so a likelihood."""
        return isinstance(self.model, Structure) and self.noise is not None

    @property
    def of_backbones(self) -> bool:
        """Whether points of backbones were measured, instead of motions."""
        return isinstance(self.record, BackbonePoints)

    @property
    def motions(self) -> Record:
        """The record, where motions were measured; refuses points of backbones."""
        if isinstance(self.record, Record):
            return self.record
        remedy = "use backbone_curve, or pose a problem with a Record"
        raise InvalidInput(f"Problem {self.name!r}", "a record of motions", "points of backbones", remedy)

    def filtering(self) -> Any:
        """Structure, record and filter, solver or normal form (`Filtering`, `Solving`, `BackboneLikelihood`), ready for
        values of the unknowns.
        """
        assert isinstance(self.model, Structure)
        if isinstance(self.record, BackbonePoints):
            return fitting(self.model, self.record, self.noise, self._backbone_method())
        if isinstance(self.filter, BackboneMethod):
            got, remedy = repr(self.filter), "give points of backbones, or leave it out"
            raise InvalidInput("Problem.filter", "a filter or a solver, for motions were measured", got, remedy)
        if not self.random:
            return solving(self.model, self.record, self.noise, self._solver(), self.hold)
        if isinstance(self.filter, Solver):
            got, remedy = repr(self.filter), "leave it out, or use an UnscentedFilter()"
            raise InvalidInput("Problem.filter", "a filter, for inputs are random", got, remedy)
        return filtering(self.model, self.record, self.noise, self.filter, self.hold)

    def _backbone_method(self) -> BackboneMethod | None:
        if self.filter is None or isinstance(self.filter, BackboneMethod):
            return self.filter
        expected, remedy = "BackboneResidual() or BackboneAmplitudes(), for points of backbones", "give one"
        raise InvalidInput("Problem.filter", expected, repr(self.filter), remedy)

    def _solver(self) -> Solver:
        if self.filter is None:
            return ODEFilter()
        if not isinstance(self.filter, Solver):
            got, remedy = repr(self.filter), "leave it out, or say what drives the structure (Structure.driven_by)"
            raise InvalidInput("Problem.filter", "a solver, for all inputs were measured", got, remedy)
        return self.filter

    def excitation(self) -> Sampled:
        """The record's inputs as a signal."""
        return Sampled(self.motions.input, self.motions.rate, self.hold)

    def __repr__(self) -> str:
        outputs = ", ".join(self.record.output_names)
        what = "points" if self.of_backbones else "samples"
        return f"Problem({self.name!r}: {', '.join(self.parameters)}; {self.record.samples} {what} of {outputs})"

    def _repr_html_(self) -> str:
        rows = [(name, str(prior)) for name, prior in self.priors.items()]
        outputs = ", ".join(self.record.output_names)
        what = "points" if self.of_backbones else "samples"
        notes = [f"{self.record.samples:,} {what} of {outputs}"]
        return card(f"Problem: {self.name}", ("unknown", "prior"), rows, notes)

    def _unknowns(self) -> tuple[str, ...]:
        if isinstance(self.model, Structure):
            own = (*self.model.parameters, *self._solver_names(), *self._noise_names())
            if not own:
                raise InvalidInput("Problem.model", "a structure with unknowns", "none", "write a name for a number")
            if not self.likely and self.filter is not None:
                got, remedy = "a filter without noise", "give the standard deviation of the outputs, or a name for it"
                raise InvalidInput("Problem.noise", "the noise of the outputs, for a likelihood", got, remedy)
            if self.random and self.noise is None:
                remedy = "give the standard deviation of the outputs, or a name and a prior for it"
                raise InvalidInput("Problem.noise", "the noise of a record whose inputs are random", "none", remedy)
            return tuple(dict.fromkeys(own))
        if not callable(self.model):
            remedy = "give a Structure or a function of the parameters by name"
            raise InvalidInput("Problem.model", "a structure or a simulator", repr(self.model), remedy)
        if not isinstance(self.priors, Mapping) or not self.priors:
            raise InvalidInput("Problem.priors", "priors by name", repr(self.priors), 'write {"k": Uniform(1, 2)}')
        return tuple(self.priors)

    def _solver_names(self) -> tuple[str, ...]:
        if isinstance(self.filter, BackboneMethod):
            return self.filter.scatter.names
        return self.filter.names if isinstance(self.filter, Solver) else ()

    def _noise_names(self) -> tuple[str, ...]:
        if self.noise is None:
            return ()
        outputs = self.record.amplitudes if isinstance(self.record, BackbonePoints) else self.record.output
        return tuple(n for n in check_noise(self.noise, outputs.shape[1]) if isinstance(n, str))

    def _all_constraints(self) -> tuple[Constraint, ...]:
        given = [self.constraints] if callable(self.constraints) else list(self.constraints)
        for number, each in enumerate(given):
            if not callable(each):
                remedy = "give functions of the values by name"
                raise InvalidInput(f"Problem.constraints[{number}]", "a function", repr(each), remedy)
        implied = ()
        if isinstance(self.model, Structure):
            implied = breaks_in_order(link.element for link in self.model.links)
        return (*given, *(each for each in implied if each not in given))

    def _check_method(self) -> None:
        """Refuse a method of simulation that can treat the structure at no values that the priors allow."""
        if self.method is None:
            return
        if not isinstance(self.model, Structure):
            remedy = "leave it out; it is for structures"
            raise InvalidInput("Problem.method", "none, for the model is a function", repr(self.method), remedy)
        check_kind(self.method, self.model)
        if isinstance(self.method, FixedStep) and isinstance(self.record, Record):
            rng = np.random.default_rng(0)
            drawn = {name: np.asarray(p.icdf(rng.uniform(0.05, 0.95, 16)), float) for name, p in self.priors.items()}
            known = {name: drawn[name] for name in self.model.parameters}
            # The input may have several pieces to a sample, and a step is a part of one.
            interval = 1.0 / (self.record.rate * self.hold.refinement)
            check_stability(self.method, bind(self.model, known), interval, np.min)

    def _default_name(self) -> str:
        return getattr(self.model, "__name__", f"{len(self.priors)} unknowns")

    def _check_channels(self, structure: Structure) -> None:
        record = self.motions
        pairs = (("input", structure.inputs, record.input), ("output", structure.sensors, record.output))
        for what, wanted, values in pairs:
            if len(wanted) != values.shape[1]:
                expected = f"one {what} of the record per {'input' if what == 'input' else 'sensor'} of the structure"
                got = f"{values.shape[1]} and {len(wanted)}"
                raise InvalidInput(
                    "Problem.record", expected, got, f"select the {what}s of the record, or add the rest"
                )
