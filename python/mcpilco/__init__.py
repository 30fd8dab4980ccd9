"""mcpilco - learn controllers for partially measured robots from seconds of data.

    run = mcpilco.learn("cartpole.yaml", seed=1, trials=5)
    run.trials[-1].data["measured.theta"]
    run.controller()                                # for a control loop of your own

A thin binding of the C library; docs/python.md has the tour."""
from ._binding import (
    ArgumentError,
    Error,
    FileError,
    NumericError,
    PlantError,
    Stopped,
    TaskError,
    lib,
    machine,
)
from ._gp import GP
from ._learn import learn
from ._plants import GymPlant, Plant
from ._runs import Controller, Evaluation, Forecast, Model, Run, Trial, load
from ._task import Task, find

__version__: str = lib.mcp_version().decode()
__all__ = """ArgumentError Controller Error Evaluation FileError Forecast GP GymPlant Model NumericError Plant
PlantError Run Stopped Task TaskError Trial find learn load machine""".split()
