"""logging_rig.py - a slow mass on a spring that writes down what it is told: logging_rig.py LOG. Dies by
itself at the step named in the file LOG.die, once."""
import os
import signal
import sys
import time

sys.path.insert(0, os.environ["DRIVERS"])
from mcpilco_plant import serve  # noqa: E402


class Rig:
    rate = 50
    inputs = ["u"]
    truth = ["q", "v"]

    def __init__(self, log):
        self.name, self.log, self.steps = log, open(log, "a", buffering=1), 0
        self.log.write(f"pid {os.getpid()}\n")

    def reset(self, x0, seed, trial, run):
        self.q, self.v = x0
        self.log.write(f"reset {trial}\n")
        return [self.q, self.v]

    def step(self, u):
        self.steps += 1
        self.log.write(f"step {self.steps}\n")
        if os.path.exists(self.name + ".die") and self.steps == int(open(self.name + ".die").read()):
            os.remove(self.name + ".die")
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.005)
        for _ in range(10):
            self.v += 0.002 * (u[0] - 4 * self.q - 0.1 * self.v)
            self.q += 0.002 * self.v
        return [self.q, self.v]

    def stop(self, u):
        self.log.write(f"stop {u[0]!r}\n")


serve(Rig(sys.argv[1]), [])
