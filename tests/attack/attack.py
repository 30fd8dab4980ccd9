"""attack.py WHAT MCPILCO FOLDER [--count N] [--seed S] [--jobs J] [--faults LIBRARY] - attack the command.

    folders   damaged run folders, then a verb on each: a sentence or a result, never a crash or a hang
    plants    hostile plants over exec, tcp, udp and serial: commands within limits, a safe input at the end
    kills     SIGKILL at random moments, resumed until done: the same files as a run that was not disturbed
    faults    the k-th system call fails or comes late, then the run is resumed: the same files
    locale    a comma as the decimal point: the same files

N counts folders, plants, SIGKILLs, runs. Everything is drawn from the seed and bounded; only loopback is
used. Prints one line; exits with 1 on a finding, and keeps what led to it in FOLDER.
"""
import argparse
import concurrent.futures
import math
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
import tty

HERE = os.path.dirname(os.path.abspath(__file__))
TASK = """name: spring
rate: 50
trial: {seconds}
state: {{q: m, v: m/s}}
inputs: {{u: 2}}
measured: {{q: 1e-3}}
model: {{velocities: {{q: v}}}}
policy: 2*tanh(rbf(5, q, v)/2)
cost: 1 - exp(-q^2)
start: {{mean: [0.1, 0], std: 0}}
explore: {{type: uniform}}
limits: {{far: abs(q) > 3}}
optimise: {{particles: 16, steps_first: 4, steps: 4}}
plant: {plant}
"""
ODE = "{ode: {v: u - 4*q - 0.1*v}}"
HANG = 600  # s; seconds on a free machine, but a busy one must not be taken for a hang
SIGNS = (b"AddressSanitizer", b"runtime error:", b"LeakSanitizer", b"ThreadSanitizer")


def run(command, out, seconds=HANG, env=None):
    """Exit code; -1000 for a hang."""
    with open(out, "ab") as f:
        p = subprocess.Popen(command, stdout=f, stderr=f, stdin=subprocess.DEVNULL, env=env)
        try:
            return p.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            return -1000


def broken(code, out):
    """What is wrong with how a verb ended; None: nothing."""
    with open(out, "rb") as f:
        text = f.read()
    for sign in SIGNS:
        if sign in text:
            return sign.decode()
    if code == -1000:
        return "hang"
    if code < 0 or code > 2:
        return f"exit code {code}"
    if code and not text.strip():
        return "no sentence"
    return None


class Attack:
    def __init__(self, o):
        self.o, self.binary = o, os.path.abspath(o.binary)
        self.folder, self.done = os.path.abspath(o.folder), o.count
        os.makedirs(self.folder, exist_ok=True)

    def place(self, name):
        d = os.path.join(self.folder, name)
        shutil.rmtree(d, ignore_errors=True)
        os.makedirs(d)
        return d

    def task(self, d, plant=ODE, seconds=0.6):
        path = os.path.join(d, "task.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(TASK.format(seconds=seconds, plant=plant))
        return path

    def learn(self, d, trials=2, more=()):
        return [self.binary, "learn", d + "/task.yaml", "--out", d + "/run", "--trials", str(trials),
                "--seed", "1", "--threads", "1", "--yes", "--quiet", *more]

    def calm(self):
        d = self.place("calm")
        self.task(d)
        if run(self.learn(d), d + "/out"):
            raise SystemExit("FAIL the undisturbed run: " + open(d + "/out", encoding="utf-8").read())
        return d

    def each(self, one, cases=None):
        bad, cases = [], cases or range(self.o.count)
        with concurrent.futures.ThreadPoolExecutor(self.o.jobs) as pool:
            for i, result in zip(cases, pool.map(one, cases)):
                if (i + 1) % 100 == 0:
                    print(f"{self.o.what}: {i + 1} cases", file=sys.stderr, flush=True)
                if result:
                    bad.append(result)
                    print("FAIL", result, flush=True)
        return len(bad)


class Folders(Attack):
    VERBS = ["show", "report", "evaluate", "export", "resume", "next", "simulate"]

    def damage(self, rng, root):
        files = sorted(os.path.join(d, f) for d, _, fs in os.walk(root) for f in fs if f != "lock")
        path = rng.choice(files)
        if not os.path.isfile(path):  # damaged already
            return "nothing"
        with open(path, "rb") as f:
            data = bytearray(f.read())
        kind = rng.randrange(12)
        if kind == 0:
            os.remove(path)
        elif kind == 1:
            shutil.rmtree(os.path.dirname(path)) if os.path.dirname(path) != root else os.remove(path)
        elif kind == 2:
            os.remove(path)
            os.mkdir(path)
        elif kind == 3:
            other = rng.choice(files)
            if other != path:
                shutil.copy(other, path)
        elif kind == 4:
            os.remove(path)
            os.symlink(rng.choice([path, "/dev/null", "/dev/zero/x", "..", "/etc/hostname"]), path)
        else:
            self.scramble(rng, data, kind)
            with open(path, "wb") as f:
                f.write(data)
        return f"{os.path.relpath(path, root)} by {kind}"

    @staticmethod
    def scramble(rng, data, kind):
        n = len(data)
        if kind == 5:
            del data[rng.randrange(n + 1):]
        elif kind == 6:
            for _ in range(rng.randrange(1, 20)):
                if n:
                    data[rng.randrange(n)] = rng.randrange(256)
        elif kind in (7, 8):
            digits = [i for i in range(n) if 48 <= data[i] <= 57]
            if digits:
                at = rng.choice(digits)
                word = rng.choice(["1e308", "-1e308", "nan", "9223372036854775807", "-1", "0", "1e-310",
                                   "null", '"inf"', "2147483648", "[]", "{}"])
                data[at:at + 1] = word.encode()
        elif kind == 9:
            a, b = sorted(rng.randrange(n + 1) for _ in range(2))
            del data[a:b]
        elif kind == 10:
            a, b = sorted(rng.randrange(n + 1) for _ in range(2))
            data[a:a] = data[a:b]
        else:
            lines = bytes(data).split(b"\n")
            rng.shuffle(lines)
            data[:] = b"\n".join(lines)

    def run(self):
        calm = self.calm()

        def one(i):
            rng = random.Random(self.o.seed * 1000003 + i)
            d = self.place(f"folder-{i}")
            shutil.copytree(calm + "/run", d + "/run")
            shutil.copy(calm + "/task.yaml", d + "/task.yaml")
            what = [self.damage(rng, d + "/run") for _ in range(rng.choice([1, 1, 1, 2, 3]))
                    if os.path.isdir(d + "/run") and any(fs for _, _, fs in os.walk(d + "/run"))]
            verb = rng.choice(self.VERBS)
            command = {
                "show": [self.binary, "show", d + "/run"],
                "report": [self.binary, "report", d + "/run", "-o", d + "/report.html"],
                "evaluate": [self.binary, "evaluate", d + "/run", "--runs", "2", "--threads", "1"],
                "export": [self.binary, "export", d + "/run", "-o", d + "/c"],
                "resume": self.learn(d, 2, ["--resume"]),
                "next": [self.binary, "next", d + "/run", "--threads", "1", "--quiet"],
                "simulate": [self.binary, "simulate", d + "/run", "-o", d + "/p.npy", "--threads", "1"],
            }[verb]
            wrong = broken(run(command, d + "/out"), d + "/out")
            if wrong:
                return f"{d}: {verb} after {'; '.join(what)}: {wrong}"
            shutil.rmtree(d)
            return None
        return self.each(one), "damaged folders"


class Plants(Attack):
    def run(self):
        try:
            ends = pty.openpty()
            os.close(ends[0])
            os.close(ends[1])
            kinds = ["exec", "tcp", "udp", "serial"]
        except OSError:
            kinds = ["exec", "tcp", "udp"]

        def one(i):
            rng = random.Random(self.o.seed * 1000003 + i)
            kind = kinds[i % len(kinds)]
            d = self.place(f"plant-{i}")
            log = d + "/log"
            act = rng.choice(["random", "random", rng.choice(sorted(ACTS)) + "@%d" % rng.randrange(0, 40)])
            hostile = [sys.executable, HERE + "/hostile_plant.py", log, "--seed", str(rng.randrange(10 ** 9)),
                       "--do", act]
            extra = ", timeout: 0.3" + (", paced: yes" if rng.random() < 0.3 else "")
            opened, fds = [], []
            try:
                if kind == "exec":
                    plant = "{exec: [%s]%s}" % (", ".join("'%s'" % w for w in hostile), extra)
                else:
                    wire = kind
                    if kind == "serial":
                        near, far = pty.openpty(), pty.openpty()
                        fds = [*near, *far]
                        for end in (near, far):
                            tty.setraw(end[1])
                        cable = [sys.executable, "-c", CABLE, str(near[0]), str(far[0])]
                        opened.append(subprocess.Popen(cable, pass_fds=(near[0], far[0])))
                        wire = "serial:" + os.ttyname(far[1])
                    p = subprocess.Popen(hostile + ["--wire", wire], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL)
                    opened.append(p)
                    address = (os.ttyname(near[1]) if kind == "serial"
                               else p.stdout.readline().split()[-1].decode())
                    plant = "{%s: '%s'%s}" % (kind, address, extra)
                self.task(d, plant)
                code = run(self.learn(d, 1), d + "/out")
                wrong = broken(code, d + "/out") or self.judge(log, d + "/out")
                until = time.monotonic() + 6  # a plant that was busy hears of it later
                while wrong and wrong.startswith("no safe input") and time.monotonic() < until:
                    time.sleep(0.1)
                    wrong = self.judge(log, d + "/out")
                if wrong and wrong.startswith("no safe input") and act.startswith("die@"):
                    wrong = None  # nobody is there to be told
            finally:
                for p in opened:
                    p.kill()
                    p.wait()
                    if p.stdout:
                        p.stdout.close()
                for fd in fds:
                    os.close(fd)
            if wrong:
                return f"{d}: {kind} {hostile[-1]}: {wrong}"
            shutil.rmtree(d)
            return None
        return self.each(one), "hostile plants"

    @staticmethod
    def judge(log, out):
        with open(out, "rb") as f:
            text = f.read()
        if any(c < 32 and c not in b"\n\t" or c == 127 for c in text):
            return "control characters reached the terminal"
        try:
            with open(log, encoding="utf-8") as f:
                lines = f.read().splitlines()
        except OSError:
            lines = []
        moved = False
        for line in lines:
            words = line.split()
            if words[0] in ("step", "apply", "stop"):
                u = float(words[-1])
                if not math.isfinite(u) or abs(u) > 2.0:
                    return "a command outside its limits: " + line
            if words[0] in ("reset", "step", "apply"):
                moved = True
            elif words[0] in ("stop", "watchdog", "closed:"):
                moved = False
            elif line == "closed":
                moved = False
        return "no safe input: " + "; ".join(lines[-2:]) if moved else None


class Kills(Attack):
    FILES = ["explore-01/trial.csv", "trial-01/trial.csv", "trial-01/policy.json", "trial-02/trial.csv",
             "trial-02/policy.json"]

    def same(self, calm, d):
        for name in self.FILES:
            with open(f"{calm}/run/{name}", "rb") as a, open(f"{d}/run/{name}", "rb") as b:
                if a.read() != b.read():
                    return f"{name} differs from the undisturbed run"
        return None

    def whole(self):
        """Seconds that an undisturbed run takes now."""
        d = self.place("timed")
        self.task(d)
        began = time.monotonic()
        run(self.learn(d), d + "/out")
        return time.monotonic() - began

    def run(self):
        calm = self.calm()
        killed, bad, whole = {}, 0, 0.0

        def one(i):
            killed[i] = 0
            rng = random.Random(self.o.seed * 1000003 + i)
            d = self.place(f"kill-{i}")
            self.task(d)
            for attempt in range(12):
                more = ["--resume"] if os.path.exists(d + "/run/run.json") else []
                with open(d + "/out", "ab") as f:
                    p = subprocess.Popen(self.learn(d, 2, more), stdout=f, stderr=f, stdin=subprocess.DEVNULL)
                    try:
                        code = p.wait(timeout=rng.uniform(0, 1.1 * whole) if attempt < 8 else HANG)
                        if code == 0:
                            break
                        return f"{d}: exit code {code} after a kill"
                    except subprocess.TimeoutExpired:
                        p.kill()
                        p.wait()
                        killed[i] += 1
            else:
                return f"{d}: never finished"
            wrong = self.same(calm, d)
            if wrong:
                return f"{d}: {wrong}"
            shutil.rmtree(d)
            return None
        while sum(killed.values()) < self.o.count and len(killed) < self.o.count:  # about five a run
            begun, whole = len(killed), self.whole()
            bad += self.each(one, range(begun, begun + 4 * self.o.jobs))
        self.done = sum(killed.values())
        return bad, f"SIGKILLs in {len(killed)} runs"


class Faults(Kills):
    KINDS = ["28", "5", "4", "24", "122", "slow", "short"]  # ENOSPC, EIO, EINTR, EMFILE, EDQUOT
    CALLS = ["write", "fsync", "open", "rename", "mkdir", "any"]

    def run(self):
        calm = self.calm()

        def one(i):
            rng = random.Random(self.o.seed * 1000003 + i)
            d = self.place(f"fault-{i}")
            self.task(d)
            env = dict(os.environ, LD_PRELOAD=os.path.abspath(self.o.faults),
                       FAULT_CALL=rng.choice(self.CALLS), FAULT_AT=str(rng.randrange(1, 60)),
                       FAULT_KIND=rng.choice(self.KINDS))
            if rng.random() < 0.3:
                env["FAULT_ALWAYS"] = "1"
            if env["FAULT_KIND"] in ("slow", "4"):
                env.pop("FAULT_ALWAYS", None)
            code = run(self.learn(d), d + "/out", HANG, env)
            wrong = broken(code, d + "/out")
            if not wrong and code:
                more = ["--resume"] if os.path.exists(d + "/run/run.json") else []
                code = run(self.learn(d, 2, more), d + "/out")
                wrong = f"resume: exit code {code}" if code else None
            wrong = wrong or self.same(calm, d)
            if wrong:
                return f"{d}: {env['FAULT_CALL']} {env['FAULT_AT']} {env['FAULT_KIND']}: {wrong}"
            shutil.rmtree(d)
            return None
        return self.each(one), "runs with a failing or slow system call"


class Locale(Kills):
    def run(self):
        calm = self.calm()
        d = self.place("locale")
        self.task(d)
        env = dict(os.environ, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
        wrong = broken(run(self.learn(d), d + "/out", HANG, env), d + "/out") or self.same(calm, d)
        if wrong:
            print("FAIL", d, wrong)
        self.done = 1
        return int(bool(wrong)), "runs in a locale with a decimal comma"


CABLE = """
import os, select, sys
ends = [int(a) for a in sys.argv[1:]]
while True:
    for fd in select.select(ends, [], [])[0]:
        os.write(ends[1 - ends.index(fd)], os.read(fd, 4096))
"""
sys.path.insert(0, HERE)
from hostile_plant import ACTS  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["folders", "plants", "kills", "faults", "locale"])
    parser.add_argument("binary")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--faults")
    o = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    began = time.monotonic()
    kind = {"folders": Folders, "plants": Plants, "kills": Kills, "faults": Faults, "locale": Locale}[o.what]
    attack = kind(o)
    bad, what = attack.run()
    print(f"{attack.done} {what}, {bad} findings, seed {o.seed}, {time.monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
