"""pendulum_env.py - an environment with the interface and the equations of Gymnasium's Pendulum-v1, for
machines
without that library: observation cos, sin, velocity; a Box of one torque; five values from step."""
import math

import numpy as np


class Box:
    def __init__(self, low, high, shape):
        self.low, self.high = np.full(shape, low, np.float32), np.full(shape, high, np.float32)
        self.shape, self.dtype = shape, np.dtype(np.float32)


class Discrete:
    def __init__(self, n):
        self.n = n


class Pendulum:
    """Angle 0 is upright. The torque is at most 2, the velocity at most 8; an episode has 200 steps of
    0.05 s."""

    def __init__(self):
        self.action_space, self.steps = Box(-2.0, 2.0, (1,)), 200

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.random = np.random.default_rng(seed)
        high = (options or {}).get("x_init", math.pi), (options or {}).get("y_init", 1.0)
        self.theta, self.omega = self.random.uniform([-high[0], -high[1]], high)
        self.count, self.seed = 0, seed
        return self.observe(), {}

    def observe(self):
        return np.array([math.cos(self.theta), math.sin(self.theta), self.omega], np.float32)

    def step(self, action):
        assert isinstance(action, np.ndarray) and action.shape == (1,) and action.dtype == np.float32
        u = float(np.clip(action, -2.0, 2.0)[0])
        cost = (
            ((self.theta + math.pi) % (2 * math.pi) - math.pi) ** 2 + 0.1 * self.omega**2 + 0.001 * u**2
        )
        self.omega = min(max(self.omega + (15.0 * math.sin(self.theta) + 3.0 * u) * 0.05, -8.0), 8.0)
        self.theta += self.omega * 0.05
        self.count += 1
        return self.observe(), -cost, False, self.count >= self.steps, {}


class Switch(Pendulum):
    """Three actions: -2, 0, 2."""

    def __init__(self):
        super().__init__()
        self.action_space, self.actions = Discrete(3), []

    def step(self, action):
        assert isinstance(action, int) and 0 <= action < 3
        self.actions.append(action)
        return super().step(np.array([(-2.0, 0.0, 2.0)[action]], np.float32))
