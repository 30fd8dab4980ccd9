"""in_terminal.py MCPILCO TASK WORK - learn in terminals of 60 to 120 columns: lines that are drawn over
themselves fit, tables do not break, and without a terminal no control characters come."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

mcpilco, task, work = sys.argv[1:4]
SMALL = ["--set=optimise.particles=16", "--set=optimise.steps_first=60", "--set=optimise.steps=60",
         "--set=optimise.patience=1000", "--set=optimise.candidates=1"]
failures = 0


def check(ok, claim):
    global failures
    if not ok:
        print("FAIL " + claim)
    failures += not ok


def width(text):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def learn(name, terminal, columns):
    command = [mcpilco, "learn", task, "--seed", "1", "--trials", "2", "--threads", "1", "--out",
               f"{work}/{name}", *SMALL]
    if not terminal:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        return done.stdout.decode(), done.stderr.decode()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    run = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                           env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    os.close(theirs)
    said = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        said += more
    check(run.wait() == 0, f"{columns} columns: learn failed")
    return said.decode(), ""


def steps_are_possible(text, where):
    for step, steps in re.findall(r"step (\d+)/(\d+)", text):
        check(int(step) <= int(steps), f"{where}: step {step} of {steps}")
    check(not re.search(r"-\d[\d.]* (s|min) left", text), f"{where}: a negative time")


for columns in (60, 80, 100, 120):
    text, _ = learn(f"run-{columns}", True, columns)
    where = f"{columns} columns"
    drawn = [d for d in re.split(r"\r\x1b\[K", text)[1:] if d]
    live = [d.split("\r\n")[0] for d in drawn]
    check(sum("step" in d for d in live) >= 2, f"{where}: no progress was drawn")
    for line in live:
        check("\x1b" not in line, f"{where}: {line!r}")
    progress = [d for d, whole in zip(live, drawn) if "\n" not in whole]  # the others are printed for good
    check(progress, f"{where}: every line is left standing")
    for line in progress:
        check(width(line) < columns, f"{where}: {width(line)} wide: {line!r}")
    steps_are_possible(text, where)
    # of what stays, tables fit from 80 columns on
    kept = [re.sub(r".*\r(\x1b\[K)?", "", line) for line in text.replace("\r\n", "\n").split("\n")]
    table = [line for line in kept if re.match(r"^  (trial|explore|\d)", line)]
    for line in table:
        check(columns < 80 or width(line) <= columns, f"{where}: a table of {width(line)}: {line!r}")
    print(f"ok   {where}: {len(progress)} lines drawn, the widest {max(map(width, progress), default=0)}")

out, err = learn("run-pipe", False, 0)
check("\x1b" not in out + err and "\r" not in out + err, "control characters without a terminal")
check(re.search(r"^trial 1: step", out, re.M), "no progress without a terminal")
steps_are_possible(out, "pipe")
print("ok   without a terminal")
sys.exit(failures != 0)
