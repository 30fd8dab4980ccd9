"""pendulum.py - learns to swing up a pendulum that is twenty lines of Python: python3 pendulum.py"""
import math
import mcpilco

class Pendulum:
    def reset(self, x0):
        self.theta, self.omega = x0
        return [self.theta]                               # what the sensor shows: the angle
    def step(self, u):                                    # hold u for 0.05 s, then measure
        for _ in range(50):
            self.omega += 1e-3 * (u[0] - 0.02 * self.omega - 4.905 * math.sin(self.theta)) / 0.25
            self.theta += 1e-3 * self.omega
        return [self.theta]

task = mcpilco.Task({"name": "my-pendulum", "rate": 20, "trial": 2.5,
                     "state": {"theta": {"unit": "rad", "angle": True}, "dtheta": "rad/s"},
                     "inputs": {"u": 2.5}, "measured": {"theta": 3e-3},
                     "model": {"velocities": {"theta": "dtheta"}}, "start": {"std": 0.01},
                     "cost": "1 - exp(-((abs(theta) - pi)/2)^2)",
                     "success": {"when": "abs(abs(theta) - pi) < 0.3", "last": 0.5},
                     "optimise": {"particles": 64, "steps_first": 500, "steps": 500}})
run = mcpilco.learn(task, Pendulum(), seed=2, trials=3)
print(run, run.controller())
