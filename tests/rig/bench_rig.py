"""bench_rig.py MCPILCO TASK FOLDER OUT - a bench of its own: does what FOLDER (made by mcpilco next) asks
for, on the plant that `MCPILCO plant TASK` serves, and writes what it logged to OUT, in its own names and
units: milliseconds, degrees, torque."""
import csv
import importlib.util
import math
import os
import random
import subprocess
import sys

mcpilco, task, folder, out = sys.argv[1:5]
plant = subprocess.Popen([mcpilco, "plant", task], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(line):
    plant.stdin.write(line + "\n")
    plant.stdin.flush()
    return plant.stdout.readline().split()


assert ask("hello 1 rate=20 mode=step watchdog=10 inputs=u measured=theta")[0] == "hello"
table = os.path.join(folder, "inputs.csv")
if os.path.exists(table):
    rows = [float(r["u"]) for r in csv.DictReader(open(table))]
    control = lambda k, theta: rows[k]
else:
    spec = importlib.util.spec_from_file_location("controller", os.path.join(folder, "pendulum.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    controller = module.Controller()
    control = lambda k, theta: controller.control([theta])[0]

random.seed(folder)
answer = ask("reset 1 99 7 0 %.17g %.17g" % (random.gauss(0, 0.01), random.gauss(0, 0.01)))
log = open(out, "w")
log.write("# bench log\ntime_ms;angle_deg;torque;temperature\n")
for k in range(51):
    theta = float(answer[3])
    u = control(k, theta) if k < 50 else math.nan
    clock = 5000 + 50 * k + random.uniform(-0.4, 0.4)
    log.write("%.6f;%.17g;%s;21.5\n" % (clock, math.degrees(theta), "" if k == 50 else "%.9g" % u))
    if k < 50:
        answer = ask("step %d %.17g" % (k + 2, u))
ask("stop 60 0")
plant.stdin.write("bye\n")
plant.stdin.close()
plant.wait()
