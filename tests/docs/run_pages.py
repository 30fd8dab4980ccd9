#!/usr/bin/env python3
"""Run what the pages show: run_pages.py SOURCE MCPILCO SCRATCH

Every command line of README.md and docs/*.md that begins with mcpilco, build/mcpilco or make -C runs, page by
page, in a folder that looks like the source tree. A small script named mcpilco stands before the real one and
makes it quick: few particles, few steps, few runs; studies only read their file. Every whole task in a YAML
block is checked. Commands in a table or in running text are not run.
"""
import csv
import importlib.util
import math
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

SOURCE, MCPILCO, SCRATCH = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
SKIPPED_PAGES = {"c-api.md", "results.md"}  # generated; figures of long studies
# those of the Makefile have tests of their own, or take minutes
SLOW = re.compile(r"^make [a-z]")

WRAPPER = r"""#!/usr/bin/env python3
import os, sys
real, args = os.environ["REAL_MCPILCO"], sys.argv[1:]
small = ["--set", "optimise.particles=16", "--set", "optimise.steps=4", "--set", "optimise.steps_first=4"]
verb = args[0] if args else ""
def drop(flag, value=True):
    while flag in args:
        at = args.index(flag)
        del args[at:at + 1 + value]
if verb == "learn":
    resumed = "--resume" in args
    drop("--trials")
    drop("--live")
    args += ["--trials", "1", "--quiet", "--yes", "--threads", "1"] + ([] if resumed else small + ["--force"])
elif verb == "next" and args[1:2] and args[1].endswith(".yaml"):
    args += small
elif verb == "evaluate":
    drop("--runs")
    args += ["--runs", "4", "--yes"]
elif verb == "study":
    args += ["--table", "--quiet"]
elif verb == "rig":
    args += ["--yes"]
elif verb == "bench":
    args += ["--particles", "16", "--horizon", "5", "--repeats", "1"] if args[1:2] == ["step"] else []
os.execv(real, [real] + args)
"""


def blocks(text):
    """(kind, text) of each fenced or indented block; an indented block is a command block."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    indented = re.findall(r"(?:^    .*\n)+", rest, flags=re.M)
    return fenced + [("sh", re.sub(r"^    ", "", b, flags=re.M)) for b in indented]


def ordered_blocks(text):
    """The same in the order of the page."""
    return sorted(blocks(text), key=lambda b: text.find(b[1].strip().split("\n")[0]))


def commands(block):
    joined = block.replace("\\\n", " ")
    for line in joined.split("\n"):
        line = re.sub(r"\s+#.*$", "", line).strip()
        if re.match(r"(build/)?mcpilco [a-z]|make -C ", line):
            yield line


def run(command, background=False):
    environment = dict(os.environ, REAL_MCPILCO=MCPILCO, PATH=f"{SCRATCH}/bin:{os.environ['PATH']}")
    if background:
        return subprocess.Popen(command, shell=True, cwd=SCRATCH, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    return subprocess.run(command, shell=True, cwd=SCRATCH, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)


def wait_for_ports():
    """Until a server that was just started listens (port 7000 of the pages), or two seconds."""
    for _ in range(40):
        if any(":1B58 " in Path(f"/proc/net/{kind}").read_text() for kind in ("tcp", "udp")):
            return
        time.sleep(0.05)


def whole(yaml):
    return all(re.search(rf"^{key}:", yaml, flags=re.M) for key in ("rate", "state", "cost", "plant"))


def prepare():
    (SCRATCH / "bin").mkdir(parents=True)
    (SCRATCH / "build").mkdir()
    for folder in ("tasks", "examples", "experiments", "docs", "tests"):
        os.symlink(SOURCE / folder, SCRATCH / folder)
    for name in ("bin/mcpilco", "build/mcpilco"):
        path = SCRATCH / name
        path.write_text(WRAPPER)
        path.chmod(0o755)
    # the rig of docs/real-rigs.md: the pendulum behind the example driver in C
    rig = (SOURCE / "examples/drivers/pendulum-rig.yaml").read_text()
    (SCRATCH / "my-rig.yaml").write_text(rig.replace("name: pendulum-rig", "name: my-rig"))
    subprocess.run(["cc", "-std=c99", "-O2", "-o", str(SCRATCH / "rig"),
                    str(SOURCE / "examples/drivers/rig.c"), "-lm"], check=True)


def play(folder):
    """What a recorder would write of a pendulum that does what FOLDER, made by `mcpilco next`, asks for."""
    table = folder / "inputs.csv"
    if table.exists():
        rows = [float(row["u"]) for row in csv.DictReader(table.open())]
        decide = lambda k, y: rows[k]
    else:
        source = next(path for path in folder.glob("*.py"))
        spec = importlib.util.spec_from_file_location("controller", source)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        controller = module.Controller()
        decide = lambda k, y: controller.control([y])[0]
    theta, speed, period, samples = 0.01, 0.0, 0.05, 51
    lines = ["t,theta,u"]
    for k in range(samples):
        u = decide(k, theta) if k + 1 < samples else None
        lines.append(f"{k * period:.6f},{theta:.17g},{'' if u is None else format(u, '.17g')}")
        for _ in range(50):
            speed += period / 50 * (-9.81 * math.sin(theta) - 0.1 * speed + (u or 0.0))
            theta += period / 50 * speed
    (SCRATCH / "data.csv").write_text("\n".join(lines) + "\n")


def record():
    folders = sorted((SCRATCH / "runs/my-rig-1/next").iterdir())
    play(folders[-1])


def main():
    failures, ran = [], 0
    prepare()
    pages = [SOURCE / "README.md"] + sorted((SOURCE / "docs").glob("*.md"))
    for page in pages:
        if page.name in SKIPPED_PAGES:
            continue
        text = page.read_text(encoding="utf-8")
        servers = []
        for kind, block in ordered_blocks(text):
            if kind == "yaml" and whole(block):
                (SCRATCH / "my-robot.yaml").write_text(block)
                result = run("mcpilco check my-robot.yaml")
                ran += 1
                if result.returncode:
                    failures.append(f"{page.name}: its task does not load: {result.stderr or result.stdout}")
            if kind not in ("sh", ""):
                continue
            for command in commands(block):
                if SLOW.search(command):
                    continue
                if " add " in command:
                    record()
                ran += 1
                if command.endswith("&"):
                    servers.append(run(command[:-1], background=True))
                    wait_for_ports()
                    continue
                result = run(command)
                said = (result.stderr or result.stdout).strip().split("\n")[-1]
                if " study " in command and "are not finished" in said:
                    continue  # its file was read; its runs take hours
                if result.returncode:
                    failures.append(f"{page.name}: {command}\n    exit {result.returncode}: {said}")
        for server in servers:
            os.killpg(server.pid, 15)
    print(f"{ran} commands and tasks of {len(pages)} pages, {len(failures)} failed")
    print("\n".join(failures))
    return 1 if failures or ran < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
