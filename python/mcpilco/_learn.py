"""learn(): the trial loop."""
import ctypes
import os
import shutil
import tempfile
import weakref
from typing import Any, Callable, Optional, Union

from ._binding import (
    ASKED,
    PHASES,
    STATES_OF_RUN,
    PROGRESS,
    Stopped,
    call,
    fail,
    lib,
    mcp_error,
    mcp_learn_info,
    mcp_learn_settings,
    ERR_STOPPED,
    OK,
)
from ._plants import Bridge, as_plant
from ._progress import Progress
from ._runs import Run
from ._task import Task


def _sentence(info: mcp_learn_info) -> str:
    if info.explored:
        return f"exploration {info.number}: {info.samples} samples"
    what = "success" if info.success else "ended early" if info.ended else "no success yet"
    return f"trial {info.number}: cost {info.cost:.3f} (forecast {info.forecast_cost:.3f}), {what}"


class _Learner:
    """The handle, its settings, and what the callbacks need."""

    def __init__(
        self, task: Task, settings: mcp_learn_settings, bridge: Optional[Bridge], told: Callable[[Any], None]
    ):
        self.interrupt: Optional[BaseException] = None
        self.bridge, self.told = bridge, told
        self._progress = PROGRESS(self._on_progress)  # must live as long as the learner
        self._asked = ASKED(self._on_wait)
        settings.progress, settings.watch.stop = self._progress, self._asked
        if bridge:
            settings.plant = ctypes.pointer(bridge.ops)
        self.handle = ctypes.c_void_p()
        call("mcp_learner_create", ctypes.byref(self.handle), task._handle, ctypes.byref(settings))

    def _on_progress(self, context: Any, progress: Any) -> int:
        try:
            self.told(progress.contents)
        except BaseException as e:  # Ctrl-C arrives here: Python runs its handlers between our lines
            self.interrupt = e
            return 1
        return 0

    def _on_wait(self, context: Any) -> int:
        """Asked while a plant at the end of a wire is waited for."""
        try:
            return int(self.interrupt is not None)
        except BaseException as e:
            self.interrupt = e
            return 1

    def trial(self) -> mcp_learn_info:
        err, info = mcp_error(), ctypes.POINTER(mcp_learn_info)()
        status = lib.mcp_learner_trial(self.handle, ctypes.byref(info), ctypes.byref(err))
        if self.bridge:
            self.bridge.raise_error()
        if self.interrupt is not None and not isinstance(self.interrupt, KeyboardInterrupt):
            raise self.interrupt
        if status == ERR_STOPPED or self.interrupt is not None:
            raise KeyboardInterrupt
        if status != OK:
            fail(err)
        return info.contents

    def recommend(self) -> None:
        """Which policy to use; noted in the folder."""
        best = ctypes.c_int()
        call("mcp_learner_recommend", self.handle, ctypes.byref(best))

    def close(self, status: str) -> None:
        if self.handle:
            err = mcp_error()
            lib.mcp_learner_close(self.handle, STATES_OF_RUN.index(status), ctypes.byref(err))
            lib.mcp_learner_free(self.handle)
            self.handle = None


def learn(
    task: Union[Task, str, "os.PathLike[str]", dict],
    plant: Any = None,
    *,
    seed: int = 1,
    trials: Optional[int] = None,
    folder: Union[str, "os.PathLike[str]", None] = None,
    resume: bool = False,
    threads: int = 0,
    algorithm: Optional[str] = None,
    risk: float = 1.0,
    progress: Union[bool, Callable[[Any], Any]] = True,
) -> Run:
    """Learns a policy for the task, trial by trial, and returns the run.

    plant     an object with reset(x0) and step(u), a Gymnasium environment, or None: the task's own plant
    seed      the same task, settings and seed give the same numbers, here, in C and by the command
    trials    policy trials; None: as many as the task says
    folder    run folder, as `mcpilco learn --out` writes it; None: a temporary one that goes with the run
    resume    go on with what is in the folder
    risk      a policy whose forecast chance of a limit is above this is not run
    progress  True: a line in the terminal, a bar in a notebook; a function: called with every progress

    Ctrl-C stops after the sample or optimisation step at hand; the plant gets its safe input, everything
    finished is kept, and Stopped (a KeyboardInterrupt) is raised with the run. OpenBLAS is set to one thread.
    """
    if not isinstance(task, Task):
        task = Task(task)
    wanted = task.trials if trials is None else int(trials)
    bridge = Bridge(as_plant(plant), task) if plant is not None else None
    where = os.path.join(tempfile.mkdtemp(prefix="mcpilco-"), "run") if folder is None else os.fspath(folder)
    lib.mcp_machine_one_blas_thread()

    settings = mcp_learn_settings()
    lib.mcp_learn_settings_init(ctypes.byref(settings), ctypes.sizeof(settings))
    settings.seed, settings.threads, settings.trials = int(seed), int(threads), wanted
    settings.folder, settings.resume, settings.risk = os.fsencode(where), int(resume), float(risk)
    settings.algorithm = algorithm.encode() if algorithm else None

    bar = Progress(wanted) if progress is True else None

    def told(p: Any) -> None:
        if bar:
            bar.show(PHASES[p.phase], p)
        elif callable(progress):
            progress(p)

    learner, status = _Learner(task, settings, bridge, told), "failed"
    try:
        while (
            lib.mcp_learner_explored(learner.handle) < lib.mcp_learner_explorations(learner.handle)
            or lib.mcp_learner_trials(learner.handle) < wanted
        ):
            info = learner.trial()
            if bar:
                bar.trial(_sentence(info))
        learner.recommend()
        status = "finished"
    except KeyboardInterrupt:
        status = "stopped"
    finally:
        learner.close(status)
        if bar:
            bar.close()
    run = Run(where, plant=plant)
    if folder is None:
        weakref.finalize(run, shutil.rmtree, os.path.dirname(where), ignore_errors=True)
    if status == "stopped":
        stopped = Stopped(
            "stopped as asked; what was finished is kept: learn(..., folder=, resume=True) goes on"
        )
        stopped.run = run
        raise stopped
    return run
