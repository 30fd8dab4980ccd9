"""gym_pendulum.py - learns Gymnasium's Pendulum-v1: python3 gym_pendulum.py [MODULE:MAKE]

The environment shows cos, sin and velocity, and starts each episode at any angle. MODULE:MAKE names something
else that gives an environment of the same kind, for machines without Gymnasium."""
import importlib
import math
import sys

import mcpilco

module, _, make = (sys.argv[1:] or ["gymnasium:make"])[0].partition(":")
env = getattr(importlib.import_module(module), make)(*["Pendulum-v1"][: make == "make"])

task = mcpilco.Task({
    "name": "gym-pendulum", "rate": 20, "trial": 4,
    "state": {"theta": {"unit": "rad", "angle": True}, "dtheta": "rad/s"},   # 0 is upright
    "inputs": {"u": {"limit": 2, "unit": "N m"}},
    "measured": {"theta": 1e-3, "dtheta": 1e-3},
    "model": {"velocities": {"theta": "dtheta"}, "features": ["dtheta", "sin(theta)", "cos(theta)", "u"]},
    "policy": "2*tanh(rbf(100, dtheta, sin(theta), cos(theta))/2)",
    "cost": "1 - exp(-(2*sin(theta/2))^2 - (dtheta/6)^2)",
    "success": {"when": "cos(theta) > 0.95", "last": 0.5},
    "start": {"low": [-math.pi, -1], "high": [math.pi, 1]},
    "explore": {"type": "sines", "amplitude": 1, "frequency": [0.3, 2], "trials": 2},
    "optimise": {"particles": 100, "steps_first": 800, "steps": 800},
})
plant = mcpilco.GymPlant(env, state=lambda o: (math.atan2(o[1], o[0]), o[2]))
run = mcpilco.learn(task, plant, seed=1, trials=5)
print(run, run.controller())
