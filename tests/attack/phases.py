"""phases.py - a signal in every phase of every verb: the program ends, and what was measured stays.

    phases.py MCPILCO SOURCE FOLDER [--slice] [--table FILE]

Each phase is made to last for minutes, so a program that ignores the signal is seen by that and not by a
stop watch. Prints how long the end took; exits with 1 when a program went on, ended with another code than
130, lost a recorded file, or left a plant without its safe input.
"""
import argparse
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GIVE_UP_S = 20
TINY = ["--set", "optimise.particles=24", "--set", "optimise.steps_first=5", "--set", "optimise.steps=5"]
SLOW_TRAINING = ["--set", "model.restarts=100", "--set", "trial=30"]
SLOW_STEPS = ["--set", "optimise.steps_first=1000000", "--set", "optimise.stop_rule=schedule",
              "--set", "optimise.budget=0"]
STUDY = "name: long\ntask: {task}\nseeds: [1, 2]\ntrials: 1\nvariants:\n  base: {{set: {{{slow}}}}}\n"


def hashes(folder):
    """What a run has recorded: every CSV and policy below the folder."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".csv", ".npy")) or name == "policy.json":
                with open(os.path.join(at, name), "rb") as f:
                    found[os.path.join(at, name)] = hashlib.sha256(f.read()).hexdigest()
    return found


class Phase:
    """ready: words of the output that tell the phase has begun, the plant's log, or None: a second later."""

    def __init__(self, name, command, ready):
        self.name, self.command, self.ready = name, command, ready


def phases(binary, source, folder, run):
    task = os.path.join(source, "tasks", "pendulum.yaml")
    hostile = os.path.join(folder, "rig.log")
    exchange = os.path.join(folder, "exchange")
    study = os.path.join(folder, "study.yaml")
    with open(study, "w", encoding="utf-8") as f:
        f.write(STUDY.format(task=task, slow=", ".join(x.replace("=", ": ") for x in SLOW_STEPS[1::2])))
    learn = [binary, "learn", task, "--seed", "1", "--trials", "1", "--threads", "2"]
    plant = "plant={exec: ['%s', '%s', '%s', --slow, '0.004'], timeout: 2}" % (
        sys.executable, os.path.join(HERE, "hostile_plant.py"), hostile)
    rig = os.path.join(folder, "rig.yaml")
    with open(rig, "w", encoding="utf-8") as f:
        f.write("name: rig\nrate: 50\ntrial: 2\nstate: {q: m, v: m/s}\ninputs: {u: 2}\nmeasured: {q: 1e-3}\n"
                "model: {velocities: {q: v}}\ncost: 1 - exp(-q^2)\nstart: {mean: [0.1, 0], std: 0}\n")
    subprocess.run([binary, "next", task, "--run", exchange, "--quiet"] + SLOW_STEPS, check=True)
    recorded = os.path.join(run, "explore-01", "trial.csv")
    subprocess.run([binary, "add", exchange, recorded], check=True, stdout=subprocess.DEVNULL)
    return [
        Phase("learn: GP training", learn + ["--out", folder + "/training"] + SLOW_TRAINING, "training"),
        Phase("learn: optimisation", learn + ["--out", folder + "/steps"] + SLOW_STEPS, "step 100"),
        Phase("check", [binary, "check", task, "--brief"] + SLOW_TRAINING, None),
        Phase("evaluate", [binary, "evaluate", run, "--runs", "1000000"], None),
        Phase("rig", [binary, "rig", rig, "--yes", "--seconds", "100", "--set", plant], hostile),
        Phase("next", [binary, "next", exchange], None),
        Phase("study", [binary, "study", study, "--out", folder + "/study", "--threads", "1"], None),
    ]


def wait_ready(phase, process, out):
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        if phase.ready is None:
            time.sleep(1.0)
            return process.poll() is None
        where = phase.ready if os.path.isabs(phase.ready) else out
        want = "step 20 " if where == phase.ready else phase.ready
        try:
            with open(where, encoding="utf-8", errors="replace") as f:
                if want in f.read():
                    time.sleep(0.2)
                    return process.poll() is None
        except OSError:
            pass
        time.sleep(0.02)
    return False


def one(phase, name, folder):
    """The verdict in a word, and the seconds from the signal to the end."""
    out = os.path.join(folder, "out-%s-%s" % ("".join(c for c in phase.name if c.isalnum()), name))
    with open(out, "wb") as f:
        p = subprocess.Popen(phase.command, stdout=f, stderr=f, stdin=subprocess.DEVNULL)
    try:
        if not wait_ready(phase, p, out):
            return "the phase was over before the signal (exit code %s)" % p.poll(), 0.0
        before, began = hashes(folder), time.monotonic()
        p.send_signal(getattr(signal, "SIG" + name))
        try:
            code = p.wait(timeout=GIVE_UP_S)
        except subprocess.TimeoutExpired:
            return "it goes on", GIVE_UP_S
        took = time.monotonic() - began
    finally:
        p.kill()
        p.wait()
    after = hashes(folder)
    if any(after.get(k) != v for k, v in before.items() if "/next/" not in k):
        return "a recorded file changed", took
    dies = phase.name == "check" and code == -getattr(signal, "SIG" + name)  # it has nothing to put away
    if code != 130 and not dies:
        return "exit code %d" % code, took
    if phase.ready and os.path.isabs(phase.ready):
        with open(phase.ready, encoding="utf-8") as f:
            if not any(x.startswith("stop 0") for x in f.read().splitlines()):
                return "the plant was left without its safe input", took
    return "ended", took


def main():
    parser = argparse.ArgumentParser()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever was started by nohup ignores it
    parser.add_argument("binary")
    parser.add_argument("source")
    parser.add_argument("folder")
    parser.add_argument("--slice", action="store_true", help="one signal a phase")
    parser.add_argument("--table", help="write the table to this file")
    a = parser.parse_args()
    folder = os.path.abspath(a.folder)
    run = os.path.join(folder, "run")
    task = os.path.join(a.source, "tasks", "pendulum.yaml")
    learn = [a.binary, "learn", task, "--out", run, "--trials", "1", "--quiet"]
    subprocess.run(learn + TINY, check=True, stdout=subprocess.DEVNULL)
    rows, bad = [], 0
    for phase in phases(a.binary, a.source, folder, run):
        for name in ["TERM"] if a.slice else ["TERM", "INT", "HUP", "QUIT"]:
            for old in ("training", "steps", "study"):
                shutil.rmtree(os.path.join(folder, old), ignore_errors=True)
            if os.path.exists(os.path.join(folder, "rig.log")):
                os.remove(os.path.join(folder, "rig.log"))
            verdict, took = one(phase, name, folder)
            bad += verdict != "ended"
            rows.append("| %s | SIG%s | %s | %.1f s |" % (phase.name, name, verdict, took))
            word = "ok" if verdict == "ended" else "FAIL"
            print("%-4s %s, SIG%s: %s after %.1f s" % (word, phase.name, name, verdict, took), flush=True)
    if a.table:
        with open(a.table, "w", encoding="utf-8") as f:
            f.write("| phase | signal | outcome | after |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
    print("%d signals in %d phases, %d bad" % (len(rows), len(rows) // (1 if a.slice else 4), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
