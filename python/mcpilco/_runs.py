"""Runs: what learn() returns and load() reads. A run is its folder (docs/run-folder.md)."""
import ctypes
import html
import json
import os
import shutil
import subprocess
import weakref
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._binding import (
    EVALUATED,
    HERE,
    OK,
    ArgumentError,
    FileError,
    call,
    fail,
    guarded,
    lib,
    mcp_controller_info,
    mcp_error,
    mcp_evaluate_settings,
    mcp_evaluation,
)
from ._plants import Bridge, as_plant
from ._task import Task


_TARGETS = 3  # MCP_NAMES_TARGETS


class Table(np.ndarray):
    """A structured array: columns by name, rows by number; to_pandas() where pandas is there."""

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame({name: np.asarray(self[name]) for name in self.dtype.names})


def _read_csv(path: Path) -> Table:
    """Numbers with a header; an empty field is NaN."""
    with open(path, encoding="ascii") as f:
        names = f.readline().rstrip("\n").split(",")
        rows = [tuple(float(v) if v else np.nan for v in line.rstrip("\n").split(",")) for line in f]
    return np.array(rows, dtype=[(n, float) for n in names]).view(Table)


def _read_json(path: Path) -> Dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as e:
        raise FileError(f"{path}: cannot be read ({e})") from None


class Forecast(NamedTuple):
    """What the particles said before the trial: arrays are [sample][state]; particles
    [sample][particle][state]."""

    cost: float
    cost_std: float
    success: float  #: share of particles that meet the success test
    limit: float  #: share that reaches a limit
    low: np.ndarray  #: 5 %
    median: np.ndarray
    high: np.ndarray  #: 95 %
    particles: Optional[np.ndarray]


class Trial:
    """One trial of a run: an exploration, or a policy on the plant."""

    def __init__(self, run: "Run", folder: Path):
        self.run, self.folder = run, folder
        self.explored = folder.name.startswith("explore")
        self.number = int(folder.name.rpartition("-")[2])

    @cached_property
    def result(self) -> Dict[str, Any]:
        """How it went: cost, success, limit, coverage, seconds."""
        return _read_json(self.folder / "result.json")

    @property
    def cost(self) -> float:
        return self.result["cost"]

    @property
    def success(self) -> bool:
        return bool(self.result["success"])

    @property
    def coverage(self) -> float:
        """Share of what happened inside the forecast's 5-95 % band; NaN without a forecast."""
        value = self.result.get("coverage")
        return float("nan") if value is None else value

    @cached_property
    def data(self) -> Table:
        """The trial as recorded: t, measured.NAME, observed.NAME, commanded.NAME, applied.NAME,
        truth.NAME."""
        return _read_csv(self.folder / "trial.csv")

    @cached_property
    def states(self) -> Table:
        """The states after smoothing, which the next model learns from."""
        return _read_csv(self.folder / "states.csv")

    @cached_property
    def history(self) -> Table:
        """Every step of the optimisation."""
        return _read_csv(self.folder / "history.csv")

    @cached_property
    def forecast(self) -> Optional[Forecast]:
        """What was expected; None for an exploration."""
        if not (self.folder / "forecast.json").exists():
            return None
        f = _read_json(self.folder / "forecast.json")
        low, median, high = (
            np.array([f["bands"][s][p] for s in self.run.task.states], dtype=float).T
            for p in ("p05", "p50", "p95")
        )
        particles = self.folder / "particles.npy"
        return Forecast(
            f["cost"],
            f["cost_std"],
            f["success"],
            f["limit"],
            low,
            median,
            high,
            np.load(particles) if particles.exists() else None,
        )

    @cached_property
    def parameters(self) -> Dict[str, np.ndarray]:
        """The policy's parameters by group, e.g. "rbf1.weights"."""
        groups = _read_json(self.folder / "policy.json")["groups"]
        return {g["name"]: np.array(g["values"], dtype=float).reshape(g["rows"], g["cols"]) for g in groups}

    @cached_property
    def model(self) -> "Model":
        """The Gaussian processes that this trial's policy was learned with."""
        if self.explored:
            raise ArgumentError("an exploration has no model; the first is that of trial 1")
        return Model(self.run, self.number)

    def controller(self) -> "Controller":
        """The policy of this trial with its observer."""
        return Controller(self.run.folder, self.number)

    def __repr__(self) -> str:
        if self.explored:
            return f"<mcpilco.Trial exploration {self.number}>"
        return f"<mcpilco.Trial {self.number}: cost {self.cost:.3f}{', success' if self.success else ''}>"


class Model:
    """What the robot does in one sample, as the particles believed it.

    x: n x states, u: n x inputs (or one of each). Targets are the states that Gaussian processes learn."""

    def __init__(self, run: "Run", trial: int):
        self._run = run  # the handle borrows it
        self._handle = ctypes.c_void_p()
        call("mcp_model_open", ctypes.byref(self._handle), run._handle, trial, 0)
        count = lib.mcp_model_targets(self._handle)
        self.targets: List[str] = [
            lib.mcp_task_name(run.task._handle, _TARGETS, i).decode() for i in range(count)
        ]

    def _ask(self, name: str, x: Any, u: Any, *out: np.ndarray) -> None:
        task = self._run.task
        X = np.atleast_2d(np.ascontiguousarray(x, dtype=float))
        U = np.ascontiguousarray(u, dtype=float).reshape(len(X), -1)
        if X.shape[1] != len(task.states) or U.shape[1] != len(task.inputs):
            raise ArgumentError(
                f"found {X.shape[1]} states and {U.shape[1]} inputs a row, expected "
                f"{len(task.states)} and {len(task.inputs)}"
            )
        call(name, self._handle, len(X), X.ctypes.data, U.ctypes.data, *[o.ctypes.data for o in out])

    def predict(self, x: Any, u: Any) -> Tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the change of every target in one sample: n x targets each."""
        shape = (len(np.atleast_2d(x)), len(self.targets))
        mean, std = np.empty(shape), np.empty(shape)
        self._ask("mcp_model_predict", x, u, mean, std)
        return mean, std

    def step(self, x: Any, u: Any) -> np.ndarray:
        """The states one sample later, by the mean: n x states."""
        out = np.empty((len(np.atleast_2d(x)), len(self._run.task.states)))
        self._ask("mcp_model_step", x, u, out)
        return out

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.mcp_model_free(self._handle)
            self._handle = None


class Evaluation(NamedTuple):
    """One policy from many fresh starts."""

    runs: int
    successes: int
    limits: int  #: runs that reached a limit
    low: float  #: Wilson's 95 % interval of the success rate
    high: float
    cost: np.ndarray  #: of every run
    success: np.ndarray

    @property
    def rate(self) -> float:
        return self.successes / self.runs


class Controller:
    """Observer and policy for a control loop of your own: every 1/rate seconds

    >>> u = controller(y)

    where y holds the measured channels in order. reset() before the first sample of every run. The arrays
    of one call are reused by the next; copy what you keep."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"], trial: int = 0):
        self._handle = ctypes.c_void_p()
        call("mcp_controller_load", ctypes.byref(self._handle), os.fsencode(folder), int(trial))
        info = mcp_controller_info()
        lib.mcp_controller_describe(self._handle, ctypes.byref(info))
        self.rate: float = info.rate
        self.measured: List[str] = [
            lib.mcp_controller_measured_name(self._handle, i).decode() for i in range(info.measured)
        ]
        self.commands: List[str] = [
            lib.mcp_controller_command_name(self._handle, i).decode() for i in range(info.commands)
        ]
        self.limits: List[float] = [
            lib.mcp_controller_command_limit(self._handle, i) for i in range(info.commands)
        ]
        self._goals: List[str] = []
        while (name := lib.mcp_controller_goal_name(self._handle, len(self._goals))) is not None:
            self._goals.append(name.decode())
        self._y, self._u, self.observed = (
            np.zeros(info.measured),
            np.zeros(info.commands),
            np.zeros(info.states),
        )
        self._at = self._y.ctypes.data, self._u.ctypes.data, self.observed.ctypes.data
        self.valid = True  #: False: a measurement was not finite, the commands are zero
        self.reset()

    def reset(self) -> None:
        """Before the first sample of every run; goals are then the middle of what they are drawn from."""
        lib.mcp_controller_reset(self._handle)

    @property
    def goals(self) -> Dict[str, float]:
        """The set-points that the policy knows, by name."""
        return {name: lib.mcp_controller_goal(self._handle, i) for i, name in enumerate(self._goals)}

    def set_goal(self, **values: float) -> None:
        """Set-points from the next sample on: controller.set_goal(r=0.3)."""
        for name, value in values.items():
            call("mcp_controller_set_goal", self._handle, name.encode(), float(value))

    def step(self, y: Any) -> np.ndarray:
        """One sample: measurements in, commands out; `observed` is then the state estimate."""
        self._y[:] = y
        self.valid = lib.mcp_controller_step(self._handle, *self._at) == 0
        return self._u

    __call__ = step

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.mcp_controller_free(self._handle)
            self._handle = None

    def __repr__(self) -> str:
        names = f"{', '.join(self.measured)} -> {', '.join(self.commands)}"
        return f"<mcpilco.Controller {names} at {self.rate:g} Hz>"


def command() -> str:
    """The mcpilco command: of this package (wheel), named by MCPILCO, or on the PATH."""
    for path in (os.environ.get("MCPILCO"), str(HERE / "bin" / "mcpilco"), shutil.which("mcpilco")):
        if path and os.path.exists(path):
            return path
    raise FileError("the command mcpilco was not found; install the package mcpilco")


def _say(verb: str, *arguments: str) -> str:
    done = subprocess.run([command(), verb, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise FileError(done.stderr.strip() or f"mcpilco {verb} failed")
    return done.stdout.strip()


class Run:
    """Everything a run has: its task, its trials, its policies."""

    def __init__(self, folder: Union[str, "os.PathLike[str]"], plant: Any = None):
        self.folder = Path(folder)
        self.notes = _read_json(self.folder / "run.json")
        self._plant = plant

    @cached_property
    def task(self) -> Task:
        """The task as it was, with the overrides of the run."""
        task = Task.__new__(Task)
        task.overrides = list(self.notes.get("overrides", []))
        task._read(self.notes.get("task_file") or "task.yaml", (self.folder / "task.yaml").read_text())
        return task

    def _items(self, kind: str) -> List[Trial]:
        done = sorted(p.parent for p in self.folder.glob(f"{kind}-*/result.json"))
        return [Trial(self, p) for p in done]

    @cached_property
    def trials(self) -> List[Trial]:
        """The policy trials that are done, the first one at index 0."""
        return self._items("trial")

    @cached_property
    def explorations(self) -> List[Trial]:
        return self._items("explore")

    @property
    def seed(self) -> int:
        return self.notes["seed"]

    @property
    def status(self) -> str:
        """ "finished", "stopped", "failed", "running" or "waiting"."""
        return self.notes["status"]

    @property
    def success(self) -> bool:
        """Did the last trial succeed?"""
        return bool(self.trials) and self.trials[-1].success

    @cached_property
    def policy(self) -> Controller:
        """The recommended policy with its observer: run.policy(y) is one sample; run.policy.reset()
        begins anew."""
        return self.controller()

    def controller(self, trial: int = 0) -> Controller:
        """The controller of one trial's policy; 0: the one that export uses too."""
        return Controller(self.folder, trial)

    @cached_property
    def _handle(self) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        call("mcp_run_open", ctypes.byref(handle), os.fsencode(self.folder), None)
        weakref.finalize(self, lib.mcp_run_free, handle)
        return handle

    def evaluate(
        self,
        runs: int = 400,
        *,
        trial: int = 0,
        seed: Optional[int] = None,
        on: str = "plant",
        plant: Any = None,
        goals: Optional[Dict[str, float]] = None,
    ) -> Evaluation:
        """A policy (trial; 0: the recommended one) from fresh starts with fresh noise, on the plant or on the
        model it was learned with. The plant is the one given, the one of learn(), or the task's. goals, e.g.
        {"r": 0.3}: these are given, the others are drawn."""
        settings = mcp_evaluate_settings()
        lib.mcp_evaluate_settings_init(ctypes.byref(settings), ctypes.sizeof(settings))
        settings.runs, settings.trial = int(runs), int(trial)
        settings.seed = self.seed if seed is None else int(seed)
        settings.where = ("plant", "model").index(on)
        texts = [f"{name}={float(value)!r}".encode() for name, value in (goals or {}).items()]
        settings.goals, settings.goal_count = (ctypes.c_char_p * len(texts))(*texts), len(texts)
        plant = self._plant if plant is None else plant
        bridge = Bridge(as_plant(plant), self.task) if plant is not None and on == "plant" else None
        interrupts: List[BaseException] = []

        def told(context: Any, done: int, wanted: int) -> int:
            return int(bool(interrupts))  # Ctrl-C arrives between these lines

        settings.progress = EVALUATED(guarded(told, interrupts))
        if bridge:
            settings.plant = ctypes.pointer(bridge.ops)
        out, err = ctypes.POINTER(mcp_evaluation)(), mcp_error()
        status = lib.mcp_run_evaluate(
            ctypes.byref(out), self._handle, ctypes.byref(settings), ctypes.byref(err)
        )
        if bridge:
            bridge.raise_error()
        if interrupts:
            raise interrupts[0]
        if status != OK:
            fail(err)
        e = out.contents
        cost, success = np.array(e.cost[: e.runs]), np.array(e.success[: e.runs], dtype=bool)
        result = Evaluation(e.runs, e.successes, e.limits, e.low, e.high, cost, success)
        lib.mcp_evaluation_free(out)
        return result

    def report(self, path: Union[str, "os.PathLike[str]", None] = None) -> Path:
        """Writes the page that shows the run and returns its path (report.html in the folder)."""
        return Path(_say("report", str(self.folder), *(["--out", os.fspath(path)] if path else [])))

    def export(self, folder: Union[str, "os.PathLike[str]"], trial: int = 0) -> Path:
        """Writes the controller as C99, Python and JSON into the folder."""
        _say(
            "export",
            str(self.folder),
            "--out",
            os.fspath(folder),
            *(["--policy", str(trial)] if trial else []),
        )
        return Path(folder)

    def save(self, folder: Union[str, "os.PathLike[str]"]) -> "Run":
        """Copies the run folder; the copy is read by load() and by the command."""
        shutil.copytree(self.folder, folder)
        return Run(folder, plant=self._plant)

    def __repr__(self) -> str:
        won = sum(t.success for t in self.trials)
        return (
            f"<mcpilco.Run {self.notes['task']}, seed {self.seed}, {self.status}: {len(self.trials)} trials, "
            f"{won} successful>"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{t.number}</td><td>{t.cost:.3f}</td>"
            f"<td>{t.forecast.cost:.3f} &plusmn; {t.forecast.cost_std:.3f}</td>"
            f"<td>{100 * t.forecast.success:.0f} %</td><td>{'yes' if t.success else 'no'}</td>"
            f"<td>{100 * t.coverage:.0f} %</td></tr>"
            for t in self.trials
            if t.forecast
        )
        return (
            f"<p><b>{html.escape(self.task.title)}</b>, seed {self.seed}, {html.escape(self.status)}</p>"
            "<table><tr><th>trial</th><th>cost</th><th>forecast</th><th>success expected</th><th>success</th>"
            f"<th>inside the band</th></tr>{rows}</table>"
        )


def load(folder: Union[str, "os.PathLike[str]"]) -> Run:
    """A run that learn() or the command wrote."""
    return Run(folder)
