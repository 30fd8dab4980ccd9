"""spring_env.py - an environment with Gymnasium's reset and step: a mass on a spring; its rail ends at
0.5 m."""


class Spring:
    def __init__(self, stiffness="4"):
        self.k = float(stiffness)

    def reset(self, seed=None, options=None):
        self.q, self.v = options["start"]
        return [self.q, self.v, 99.0], {}

    def step(self, action):
        for _ in range(10):
            self.v += 0.002 * (action[0] - self.k * self.q - 0.1 * self.v)
            self.q += 0.002 * self.v
        return [self.q, self.v, 99.0], 0.0, abs(self.q) > 0.5, False, {}


class SpringSteps(Spring):
    """The same with three actions: pull, nothing, push."""

    def step(self, action):
        return super().step([(-1.0, 0.0, 1.0)[action]])
