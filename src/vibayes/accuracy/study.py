"""The result of an accuracy study: error, work and events of the same simulation at many tolerances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from vibayes.accuracy.matching import Matching, match_events
from vibayes.atomic_write import write_whole
from vibayes.errors import InvalidInput
from vibayes.simulation import EventTable, Solution, Status

_COLUMNS = (
    "rtol", "displacement_error", "state_error", "evaluations", "rejected_evaluations", "seconds", "events",
    "lost", "spurious", "status",
)  # fmt: skip


@dataclass(frozen=True)
class AccuracyRun:
    """One simulation of the study: its tolerance, how wrong it was at the end, what it cost, which events it found."""

    rtol: float
    displacement_error: float
    """Global error |x̂(t_n) − x(t_n)| at the final time, the largest over the masses; NaN where the run failed."""
    state_error: float
    """The same over all state variables."""
    evaluations: int
    """Evaluations of the flow in steps that were kept."""
    rejected_evaluations: int
    """Evaluations in steps that were thrown away and repeated."""
    seconds: float
    """Elapsed time of the whole call, compiled beforehand."""
    events: EventTable | None
    """None for a method that does not locate events."""
    status: Status

    @property
    def work(self) -> int:
        """All evaluations of the flow."""
        return self.evaluations + self.rejected_evaluations


@dataclass(frozen=True)
class AccuracyStudy:
    """A simulation repeated at many relative tolerances, against one highly converged reference.

    Examples:
        >>> import vibayes as vb
        >>> from vibayes.accuracy import accuracy
        >>> oscillator = vb.Structure.single_dof(1.0, [vb.BilinearHysteresis(1.0, 0.75, 0.3)])
        >>> force = vb.Sine(amplitude=0.8, frequency_hz=0.1)
        >>> study = accuracy(oscillator, force, duration=20.0, tolerances=[1e-4, 1e-6, 1e-8], repeats=1)
        >>> study.event_count_constant, study.lost_events
        (True, 0)
        >>> bool(0.8 < study.tp_slope < 1.2)
        True
    """

    runs: tuple[AccuracyRun, ...]
    reference: Solution

    # ---- columns of the table ---------------------------------------------------------------------------------

    @property
    def tolerances(self) -> np.ndarray:
        """Relative tolerances, in the order given."""
        return np.array([run.rtol for run in self.runs])

    @property
    def displacement_errors(self) -> np.ndarray:
        """Global error of the displacement at the final time, one per tolerance."""
        return np.array([run.displacement_error for run in self.runs])

    @property
    def state_errors(self) -> np.ndarray:
        """Largest global error of any state variable at the final time, one per tolerance."""
        return np.array([run.state_error for run in self.runs])

    @property
    def evaluations(self) -> np.ndarray:
        """Evaluations of the flow in steps that were kept, one per tolerance."""
        return np.array([run.evaluations for run in self.runs])

    @property
    def rejected_evaluations(self) -> np.ndarray:
        """Evaluations of the flow in steps that were repeated, one per tolerance."""
        return np.array([run.rejected_evaluations for run in self.runs])

    @property
    def seconds(self) -> np.ndarray:
        """Elapsed time, one per tolerance."""
        return np.array([run.seconds for run in self.runs])

    @property
    def event_counts(self) -> np.ndarray:
        """Events found, one per tolerance; zero where they are not located."""
        return np.array([0 if run.events is None else len(run.events) for run in self.runs])

    @property
    def locates_events(self) -> bool:
        """Whether the method under study locates events."""
        return all(run.events is not None for run in self.runs)

    # ---- what the table says ----------------------------------------------------------------------------------

    @property
    def tp_slope(self) -> float:
        """Slope of the straight line through log error of the displacement over log tolerance; 1 is proportionality.

        Runs that failed, or whose error is exactly zero, are left out; NaN where fewer than two remain.
        """
        good = np.isfinite(self.displacement_errors) & (self.displacement_errors > 0)
        if good.sum() < 2:
            return float("nan")
        return float(np.polyfit(np.log10(self.tolerances[good]), np.log10(self.displacement_errors[good]), 1)[0])

    @cached_property
    def matchings(self) -> tuple[Matching, ...]:
        """Events of each run against those of the reference; empty for a method that does not locate events."""
        table = self.reference.events
        if table is None or not self.locates_events:
            return ()
        return tuple(match_events(table, run.events) for run in self.runs if run.events is not None)

    @property
    def event_count_constant(self) -> bool:
        """Whether every run found as many events as the reference."""
        expected = 0 if self.reference.events is None else len(self.reference.events)
        return bool(self.locates_events and (self.event_counts == expected).all())

    @property
    def lost_events(self) -> int:
        """Events of the reference not found plus events found that it does not have, over all runs."""
        return sum(matching.lost + matching.spurious for matching in self.matchings)

    @property
    def event_time_errors(self) -> np.ndarray:
        """|t̂ − t| of every event of the reference (columns) at every tolerance (rows); NaN where it was lost."""
        count = 0 if self.reference.events is None else len(self.reference.events)
        errors = np.full((len(self.matchings), count), np.nan)
        for row, (matching, run) in enumerate(zip(self.matchings, self.runs, strict=False)):
            for ours, theirs in matching.pairs:
                errors[row, ours] = abs(run.events.time[theirs] - self.reference.events.time[ours])  # type: ignore[union-attr]
        return errors

    def work_ratio(self, other: AccuracyStudy) -> float:
        """How many times as many evaluations ``other`` needs for the same error of the displacement.

        All evaluations count, those of repeated steps too. log(work) is interpolated linearly in log(error) over
        the range of errors both studies reach; the ratio is the geometric mean over that range. Above 1, this study
        is the cheaper one.

        Args:
            other: a study of the same response by another method.

        Returns:
            The ratio; NaN where the errors of the two have no range in common.
        """
        (ours, our_work), (theirs, their_work) = _work_by_error(self), _work_by_error(other)
        if min(len(ours), len(theirs)) < 2:
            return float("nan")
        low, high = max(ours[0], theirs[0]), min(ours[-1], theirs[-1])
        if not low < high:
            return float("nan")
        grid = np.linspace(low, high, 200)
        return float(np.exp(np.mean(np.interp(grid, theirs, their_work) - np.interp(grid, ours, our_work))))

    # ---- for people -------------------------------------------------------------------------------------------

    def _rows(self) -> list[tuple]:
        lost = [(m.lost, m.spurious) for m in self.matchings] or [("", "")] * len(self.runs)
        return [
            (run.rtol, run.displacement_error, run.state_error, run.evaluations, run.rejected_evaluations, run.seconds,
             "" if run.events is None else len(run.events), *alone, run.status.name)
            for run, alone in zip(self.runs, lost, strict=True)
        ]  # fmt: skip

    def to_csv(self, path: str | Path) -> None:
        """Write the table as comma-separated text, one row per tolerance."""
        lines = [",".join(_COLUMNS)]
        lines += [",".join(repr(v) if isinstance(v, float) else str(v) for v in row) for row in self._rows()]
        _write(path, lines)

    def events_to_csv(self, path: str | Path) -> None:
        """Write every event of every run with its time and, where the reference has it too, the error of that time."""
        if not self.locates_events:
            raise InvalidInput(
                "AccuracyStudy.events_to_csv",
                "a method that locates events",
                "one that does not",
                "study EventLocated()",
            )
        lines = ["rtol,time,time_error,element,event,mode_before,mode_after"]
        for run, matching in zip(self.runs, self.matchings, strict=True):
            partner = {theirs: ours for ours, theirs in matching.pairs}
            for i, (time, *what) in enumerate(run.events.rows() if run.events else []):
                known = self.reference.events.time[partner[i]] if i in partner and self.reference.events else np.nan
                lines.append(",".join([repr(run.rtol), repr(time), repr(float(abs(time - known))), *what]))
        _write(path, lines)

    def __str__(self) -> str:
        head = ["rtol       error      worst state  evaluations  rejected  milliseconds  events  lost  spurious"]
        body = [
            f"{rtol:<9.2e}  {error:<9.2e}  {state:<11.2e}  {kept:>11}  {rejected:>8}  {1e3 * seconds:>12.2f}  "
            f"{events:>6}  {lost:>4}  {spurious:>8}" + ("" if status == "SUCCESS" else f"  {status}")
            for rtol, error, state, kept, rejected, seconds, events, lost, spurious, status in self._rows()
        ]
        tail = f"error over tolerance: slope {self.tp_slope:.3f} in logarithms"
        if self.locates_events:
            constancy = "the same at" if self.event_count_constant else "NOT the same at"
            tail += f"; number of events {constancy} all tolerances; {self.lost_events} lost or spurious"
        return "\n".join([*head, *body, tail])


def _work_by_error(study: AccuracyStudy) -> tuple[np.ndarray, np.ndarray]:
    """log(error) in increasing order and the log(work) that goes with it."""
    errors, work = study.displacement_errors, study.evaluations + study.rejected_evaluations
    good = np.isfinite(errors) & (errors > 0)
    order = np.argsort(errors[good])
    return np.log(errors[good][order]), np.log(work[good][order])


def _write(path: str | Path, lines: list[str]) -> None:
    write_whole("AccuracyStudy", path, ("\n".join(lines) + "\n").encode("utf-8"))
