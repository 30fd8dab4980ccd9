"""exits.py - every way out of a trial x every kind of plant: the last command the plant saw.

    exits.py MCPILCO FOLDER [--slice] [--table FILE]

Runs a trial over each wire, ends it in each way, and reads the plant's own log. Prints a table; exits with 1
when a plant was left without its safe input, and when a signal took longer than a second.
"""
import argparse
import concurrent.futures
import os
import pty
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
cost: 1 - exp(-q^2)
start: {{mean: [0.1, 0], std: 0}}
explore: {{type: uniform}}
safe: {safe}
limits: {{{limit}}}
optimise: {{particles: 16, steps_first: 4}}
plant: {plant}
"""
KINDS = ["exec", "tcp", "udp", "serial", "exec, paced"]
# name: what the plant does, what is done to mcpilco after step 20, what its end must look like
WAYS = [
    ("end of the trial", "nothing", [], "stop"),
    ("limit reached", "nothing", "limit", "stop"),
    ("plant ends the trial", "end", [], "stop"),
    ("plant reports an error", "error", [], "stop"),
    ("plant talks nonsense", "garbage", [], "stop"),
    ("measurement not finite", "nan", [], "stop"),
    ("measurement impossible", "huge", [], "stop"),
    ("plant falls silent", "silence", [], "stop"),
    ("plant closes the wire", "leave", [], "gone"),
    ("plant is killed", "die", [], "gone"),
    ("Ctrl-C (SIGINT)", "nothing", ["INT"], "stop"),
    ("Ctrl-C twice", "nothing", ["INT", "INT"], "stop"),
    ("SIGTERM", "nothing", ["TERM"], "stop"),
    ("lost terminal (SIGHUP)", "nothing", ["HUP"], "stop"),
    ("SIGQUIT", "nothing", ["QUIT"], "stop"),
    ("SIGUSR1", "nothing", ["USR1"], "stop"),
    ("Ctrl-Z (SIGTSTP)", "nothing", ["TSTP"], "stop"),
    ("Ctrl-C, plant silent, timeout 60 s", "silence", ["INT"], "stop"),
    ("SIGTERM, plant said wait 60", "wait", ["TERM"], "stop"),
    ("crash of mcpilco (SIGSEGV)", "nothing", ["SEGV"], "last"),
    ("SIGABRT", "nothing", ["ABRT"], "last"),
    ("SIGKILL, power cut", "nothing", ["KILL"], "own"),
]
SLICE = {("exec", w[0]) for w in WAYS} | {
    ("udp", "SIGTERM"), ("tcp", "SIGTERM, plant said wait 60"), ("tcp", "SIGABRT"),
    ("serial", "lost terminal (SIGHUP)"), ("exec, paced", "Ctrl-C twice")}


class Case:
    def __init__(self, binary, folder, kind, way):
        self.binary, self.kind = binary, kind
        self.name, self.do, self.signals, self.wanted = way
        words = "".join(c if c.isalnum() else "-" for c in f"{kind}-{self.name}")
        self.dir = os.path.join(folder, words)
        os.makedirs(self.dir)
        self.log = os.path.join(self.dir, "plant.log")
        self.open, self.ends = [], []

    def plant(self):
        """The plant's line in the task file; what serves a socket or a serial line is started."""
        command = [sys.executable, os.path.join(HERE, "hostile_plant.py"), self.log, "--do", self.do + "@20"]
        command += ["--slow", "0.004"] if self.signals and self.signals != "limit" else []
        if self.kind.startswith("exec"):
            paced = ", paced: yes" if "paced" in self.kind else ""
            words = ", ".join("'%s'" % w for w in command)
            return "{exec: [%s], timeout: %s%s}" % (words, self.timeout(), paced)
        wire = self.kind
        if wire == "serial":
            near, far = pty.openpty(), pty.openpty()
            self.ends = [near, far]
            for end in self.ends:
                tty.setraw(end[1])
            self.start([sys.executable, "-c", CABLE, str(near[0]), str(far[0])], (near[0], far[0]))
            wire = "serial:" + os.ttyname(far[1])
        server = self.start(command + ["--wire", wire], ())
        address = os.ttyname(self.ends[0][1]) if self.ends else server.stdout.readline().split()[-1].decode()
        return "{%s: '%s', timeout: %s}" % (self.kind, address, self.timeout())

    def start(self, command, fds):
        p = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, pass_fds=fds)
        self.open.append(p)
        return p

    def timeout(self):
        return 60 if self.signals and self.do in ("silence", "wait") else 1

    def lines(self):
        try:
            with open(self.log, encoding="utf-8") as f:
                return f.read().splitlines()
        except OSError:
            return []

    def wait_for(self, test, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if test(self.lines()):
                return True
            time.sleep(0.005)
        return False

    def run(self):
        task = os.path.join(self.dir, "task.yaml")
        limited = self.signals == "limit"
        with open(task, "w", encoding="utf-8") as f:
            limit = "far: q < 0.05" if limited else ""
            f.write(TASK.format(seconds=2, safe="zero", limit=limit, plant=self.plant()))
        out = open(os.path.join(self.dir, "out"), "wb")
        command = [self.binary, "learn", task, "--out", self.dir + "/run", "--yes", "--trials", "1"]
        p = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        took = 0.0
        if self.signals and not limited:
            if not self.wait_for(lambda l: any(x.startswith(("step 20 ", "apply 20 ")) for x in l), 20):
                p.kill()
                return "the trial did not start", 0.0
            time.sleep(0.05)
            began = time.monotonic()
            for s in self.signals:
                p.send_signal(getattr(signal, "SIG" + s))
                time.sleep(0.01)
            self.wait_for(lambda l: any(x.startswith(("stop", "closed", "watchdog", "bye")) for x in l), 10)
            took = time.monotonic() - began
        try:
            p.wait(timeout=60)
        except subprocess.TimeoutExpired:
            p.kill()
            return "mcpilco hangs", 0.0
        if self.wanted == "own":
            self.wait_for(lambda l: any(x.startswith(("closed", "watchdog")) for x in l), 5)
        return self.verdict(), took

    def verdict(self):
        lines = self.lines()
        if self.name == "end of the trial":
            return "stop 0" if [x for x in lines if x.startswith("stop")][-1:] == ["stop 0"] else "none"
        first = next((i for i, x in enumerate(lines) if x.startswith("stop")), None)
        after = [x for x in lines[first:] if x.startswith(("step", "apply"))] if first is not None else []
        if first is not None and not (after and self.wanted == "stop" and self.do == "nothing" and
                                      isinstance(self.signals, list) and self.signals):
            return lines[first]
        if any("watchdog" in x for x in lines):
            return "its watchdog's zero"
        if any(x.startswith("closed: stopped") for x in lines):
            return "its own zero, wire closed"
        return "gone" if self.wanted == "gone" else "none: " + "; ".join(lines[-2:])

    def close(self):
        for p in self.open:
            p.kill()
            p.wait()
            p.stdout.close()
        for end in self.ends:
            for fd in end:
                os.close(fd)


CABLE = """
import os, select, sys
ends = [int(a) for a in sys.argv[1:]]
while True:
    for fd in select.select(ends, [], [])[0]:
        os.write(ends[1 - ends.index(fd)], os.read(fd, 4096))
"""


def good(case, verdict, took):
    wanted = {"stop": ["stop 0"], "last": ["stop 0", "its own zero, wire closed"],
              "own": ["its watchdog's zero", "its own zero, wire closed"],
              "gone": ["gone", "stop 0", "its own zero, wire closed", "its watchdog's zero"]}[case.wanted]
    return verdict in wanted and took < 1.5


def one(arguments):
    case = Case(*arguments)
    try:
        verdict, took = case.run()
    finally:
        case.close()
    return case, verdict, took


def main():
    parser = argparse.ArgumentParser()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever was started by nohup ignores it
    parser.add_argument("binary")
    parser.add_argument("folder")
    parser.add_argument("--slice", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--jobs", type=int, default=4)
    o = parser.parse_args()
    kinds = KINDS
    try:
        a, b = pty.openpty()
        os.close(a)
        os.close(b)
    except OSError:
        kinds = [k for k in KINDS if k != "serial"]
        print("serial lines are left out: this machine gives no pseudo-terminals")
    jobs = [(os.path.abspath(o.binary), o.folder, k, w) for w in WAYS for k in kinds
            if not o.slice or (k, w[0]) in SLICE]
    table, bad, slowest = {}, [], 0.0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for case, verdict, took in pool.map(one, jobs):
            table[case.name, case.kind] = verdict
            slowest = max(slowest, took if case.wanted == "stop" else 0.0)
            if not good(case, verdict, took):
                bad.append(f"{case.kind}: {case.name}: {verdict} after {took:.2f} s, see {case.dir}")
    text = "| way out | " + " | ".join(kinds) + " |\n|" + "---|" * (len(kinds) + 1) + "\n"
    for w in WAYS:
        text += f"| {w[0]} | " + " | ".join(table.get((w[0], k), "") for k in kinds) + " |\n"
    if o.table:
        with open(o.table, "w", encoding="utf-8") as f:
            f.write(text)
    print(text)
    print("\n".join("FAIL " + b for b in bad))
    print(f"{len(jobs)} exits, {len(bad)} without a safe input; slowest answer to a signal {slowest:.2f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
