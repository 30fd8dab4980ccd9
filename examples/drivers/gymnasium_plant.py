#!/usr/bin/env python3
"""gymnasium_plant.py - makes a plant of any object with Gymnasium's reset and step (or the older Gym's).

    gymnasium_plant.py MODULE:MAKE --rate HZ --inputs u:N --truth x,dx,theta,dtheta [--pick 0,1,2,3]
                       [--actions=-10,10] [--tcp PORT | --udp PORT]

MODULE:MAKE names something callable that gives the environment, for example gymnasium:make with --args
Pendulum-v1. The observation becomes the values named by --truth (mcpilco then simulates the task's sensors)
or by --measured (your environment's observations already are measurements), in that order; --pick chooses
entries of the observation. The action is the list of inputs; with --actions the environment's actions are
0, 1, ..., and the one whose value is nearest to the input is taken. A trial ends when the environment says
terminated or truncated. In Python itself mcpilco.GymPlant does the same with functions for both.
"""
import argparse
import importlib
import sys

from mcpilco_plant import serve


class GymPlant:
    def __init__(self, env, options):
        names = lambda text: [n for n in text.split(",") if n]
        self.env, self.rate, self.inputs = env, options.rate, names(options.inputs)
        self.pick = [int(i) for i in names(options.pick)]
        self.actions = [float(a) for a in names(options.actions)]
        measured, truth = names(options.measured), names(options.truth)
        if measured:
            self.measured = measured
        if truth:
            self.truth = truth

    def values(self, observation):
        flat = list(observation)
        return [float(flat[i]) for i in self.pick] if self.pick else [float(v) for v in flat]

    def reset(self, x0, seed, trial, run):
        number = (seed * 1000003 + trial * 1009 + run) % 2**31
        try:
            result = self.env.reset(seed=number, options={"start": x0})
        except TypeError:
            result = self.env.reset()
        return self.values(result[0] if isinstance(result, tuple) else result)

    def step(self, u):
        if self.actions:
            u = min(range(len(self.actions)), key=lambda a: abs(self.actions[a] - u[0]))
        result = self.env.step(u)
        values = self.values(result[0])
        if result[2]:  # terminated; Gym: done
            return values, "the environment terminated the episode"
        if len(result) > 4 and result[3]:
            return values, "the environment truncated the episode"
        return values

    def stop(self, u):
        pass


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("make", metavar="MODULE:MAKE")
    parser.add_argument("--args", nargs="*", default=[], help="arguments of MAKE")
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--measured", default="")
    parser.add_argument("--truth", default="")
    parser.add_argument("--pick", default="")
    parser.add_argument("--actions", default="", help="values of a discrete environment's actions")
    options, rest = parser.parse_known_args(argv)
    module, _, make = options.make.partition(":")
    sys.path.insert(0, ".")
    env = getattr(importlib.import_module(module), make)(*options.args)
    serve(GymPlant(env, options), rest)


if __name__ == "__main__":
    main(sys.argv[1:])
