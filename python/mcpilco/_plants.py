"""Plants in Python: any object with reset and step, or a Gymnasium environment."""
import inspect
import math
from typing import Any, Callable, Optional, Protocol, Sequence, Tuple, Union

import numpy as np

from ._binding import DESTROY, ERR_PLANT, OK, RESET, STEP, STOP, PlantError, mcp_plant_ops
from ._task import Task

Values = Union[Sequence[float], np.ndarray]


class Plant(Protocol):
    """What learn() asks of a plant. Both methods return either the true state, in the order of the task's
    states (the task's sensors are then simulated), or what was measured, in the order of its channels; or a
    pair (values, "why the trial ends here"). reset may take seed=, a number for the plant's own noise. A
    plant may have stop(u): the trial is over, apply this safe input."""

    def reset(self, x0: np.ndarray) -> Union[Values, Tuple[Values, str]]:
        ...

    def step(self, u: np.ndarray) -> Union[Values, Tuple[Values, str]]:
        ...


def _takes_seed(reset: Callable) -> bool:
    try:
        names = inspect.signature(reset).parameters
    except (TypeError, ValueError):
        return False
    return "seed" in names or any(p.kind is p.VAR_KEYWORD for p in names.values())


def number_of(seed: int, trial: int, run: int) -> int:
    """One number below 2^31 for a plant's random numbers: the same for the same trial of the same run."""
    return (seed * 1000003 + trial * 1009 + run) % 2**31


class Bridge:
    """The plant as C functions. An exception of the plant ends the trial and is kept in `error`."""

    def __init__(self, plant: Any, task: Task):
        for method in ("reset", "step"):
            if not callable(getattr(plant, method, None)):
                raise TypeError(f"{type(plant).__name__} is no plant: it has no method {method}()")
        self.plant, self.rate = plant, task.rate
        self.nx, self.ny, self.nu = len(task.states), len(task.measured), len(task.inputs)
        self.seeded, self.angles, self.steps = _takes_seed(plant.reset), task.angles, task.steps
        self.error: Optional[BaseException] = None
        if hasattr(plant, "attach"):
            plant.attach(task)
        self._functions = (RESET(self._reset), STEP(self._step), STOP(self._stop))
        self.ops = mcp_plant_ops(*self._functions, DESTROY())

    def _fill(self, sample: Any, outcome: Any) -> None:
        reason = None
        if isinstance(outcome, tuple) and len(outcome) == 2 and isinstance(outcome[1], str):
            outcome, reason = outcome
        values = np.atleast_1d(np.asarray(outcome, dtype=float)).ravel()
        s = sample.contents
        s.time = self.sample / self.rate
        if len(values) == self.nx:
            s.truth[: self.nx] = values.tolist()
        elif len(values) == self.ny:
            s.measured[: self.ny] = values.tolist()
        else:
            raise ValueError(
                f"the plant gave {len(values)} values, expected the {self.nx} states or the "
                f"{self.ny} measured channels of the task"
            )
        if reason is not None:
            s.ended, s.reason = 1, reason.encode()[:95]

    def _guard(self, err: Any, work: Callable[[], None]) -> int:
        try:
            work()
            return OK
        except BaseException as e:  # nothing may pass through C
            self.error = e
            if err:
                err.contents.status = ERR_PLANT
                err.contents.text = f"the plant raised {type(e).__name__}: {e}".encode()[:500]
            return ERR_PLANT

    def _reset(self, context, x0, seed, trial, run, sample, err) -> int:
        def work() -> None:
            self.sample = 0
            start = np.array(x0[: self.nx])
            more = {"seed": number_of(seed, trial, run)} if self.seeded else {}
            self._fill(sample, self.plant.reset(start, **more))

        return self._guard(err, work)

    def _step(self, context, u, sample, err) -> int:
        def work() -> None:
            self.sample += 1
            self._fill(sample, self.plant.step(np.array(u[: self.nu])))

        return self._guard(err, work)

    def _stop(self, context, u, err) -> int:
        stop = getattr(self.plant, "stop", None)
        return self._guard(err, lambda: stop(np.array(u[: self.nu]))) if stop else OK

    def raise_error(self) -> None:
        """What the plant raised, if anything, as the cause of a PlantError; Ctrl-C as itself."""
        if self.error is None:
            return
        error, self.error = self.error, None
        if not isinstance(error, Exception):
            raise error
        raise PlantError(f"the plant raised {type(error).__name__}: {error}") from error


class GymPlant:
    """A Gymnasium environment as a plant.

    >>> env = gymnasium.make("Pendulum-v1")        # it shows cos, sin and velocity
    >>> plant = mcpilco.GymPlant(env, state=lambda o: (math.atan2(o[1], o[0]), o[2]))

    state   observation -> the task's states (or its measured channels); left out: the observation itself.
            States that the task calls angles are unwrapped.
    action  inputs -> the environment's action; left out: for a Box the inputs in its shape and type, clipped
            to its bounds; for Discrete(n) the inputs' range cut into n equal parts
    scale   Box: the task's limits are stretched to the environment's bounds
    options start state -> options of env.reset, for environments that can start where they are told
    seed    an offset to the number that seeds each reset

    A trial ends when the environment says terminated, or truncated before the trial is over.
    """

    def __init__(
        self,
        env: Any,
        state: Optional[Callable[[Any], Values]] = None,
        action: Optional[Callable[[np.ndarray], Any]] = None,
        scale: bool = False,
        options: Optional[Callable[[np.ndarray], dict]] = None,
        seed: int = 0,
    ):
        self.env, self.state, self.action, self.scale = env, state, action, scale
        self.options, self.seed = options, seed
        self.ranges: np.ndarray = np.zeros((0, 2))
        self.angles: Sequence[int] = ()
        self.steps = 0

    def attach(self, task: Task) -> None:
        """learn() tells the plant what it will be asked."""
        self.ranges, self.angles, self.steps = np.array(task.ranges), task.angles, task.steps
        if self.action is None:
            self.action = self._discrete if hasattr(self.env.action_space, "n") else self._box

    def _share(self, u: np.ndarray) -> np.ndarray:
        """Where in its range each input is, 0 .. 1."""
        low, high = self.ranges.T
        return (u - low) / (high - low)

    def _discrete(self, u: np.ndarray) -> int:
        n = int(self.env.action_space.n)
        part = int(math.floor(self._share(u)[0] * n))
        return int(getattr(self.env.action_space, "start", 0)) + min(max(part, 0), n - 1)

    def _box(self, u: np.ndarray) -> np.ndarray:
        space = self.env.action_space
        low, high = np.ravel(space.low), np.ravel(space.high)
        if self.scale:
            u = low + self._share(u) * (high - low)
        return np.clip(u, low, high).astype(space.dtype).reshape(space.shape)

    def _values(self, observation: Any) -> np.ndarray:
        seen = self.state(observation) if self.state else observation
        x = np.array(np.ravel(np.asarray(seen, dtype=float)))
        if self._before is not None and len(x) == len(self._before):
            for i in self.angles:
                if i < len(x):
                    x[i] += 2.0 * math.pi * round((self._before[i] - x[i]) / (2.0 * math.pi))
        self._before = x
        return x

    def reset(self, x0: np.ndarray, seed: int) -> np.ndarray:
        self._before, self._sample = None, 0
        more = {"options": self.options(x0)} if self.options else {}
        observation, _ = self.env.reset(seed=(seed + self.seed) % 2**31, **more)
        return self._values(observation)

    def step(self, u: np.ndarray) -> Any:
        observation, _, terminated, truncated, _ = self.env.step(self.action(u))
        self._sample += 1
        values = self._values(observation)
        if terminated:
            return values, "the environment terminated the episode"
        if truncated and self._sample < self.steps:
            return values, "the environment truncated the episode"
        return values


def as_plant(given: Any) -> Any:
    """An environment is wrapped; what has reset and step of our own is taken as it is."""
    return GymPlant(given) if hasattr(given, "action_space") and not isinstance(given, GymPlant) else given
