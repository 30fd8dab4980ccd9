"""texts.py - names, titles, units and labels of a task with any characters in them, through everything that
prints them: terminal, JSON, CSV, SVG, the pages, the exported files, and the hints for a shell.

    texts.py MCPILCO FOLDER [--count N] [--seed S]

Each text must arrive as text: the same tags, scripts, columns and keys as with plain letters, no control
character on a terminal. Exits with 1 on any difference; the task that made it is kept in FOLDER.
"""
import argparse
import csv
import glob
import html.parser
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree

PIECES = ["</script>", "<script>alert(1)</script>", "<!--", "-->", "]]>", "&lt;", "&", '"', "'", "`", "$(id)",
          ";", "|", "\\", "\\n", "\n", "\t", "\u00b0C", "\u03a9", "\U0001F600", "\U000E0001", ",", "a,b",
          "=1+1", "@x", "%s%n", "${x}", "@P@", "{{x}}", "m/s", " ", "*/", '"""', "<svg onload=alert(1)>",
          "' onmouseover='x", "javascript:x", "../../x", "/etc/x", "-rf", "\u0301", "\ud7ff"]
CONTROL = ["\r", "\x1b[31m", "\x1b]0;title\x07", "\x00", "\x7f", "\x85", "\u202e", "\u2028", "\u2029",
           "\ufeff"]
TASK = """name: %(name)s
title: %(title)s
rate: 20
trial: 0.5
state: {p: %(unit)s, dp: %(angle)s}
inputs: {u: {limit: 3, unit: %(unit)s}}
measured: {p: {noise: 0.01}}
model: {velocities: {p: dp}, features: [dp, sin(p), u]}
policy: 3*tanh(rbf(3, dp, sin(p)))
cost: 1 - exp(-p^2)
success: {when: abs(p) < 2, last: 0.2}
start: {std: 0.1}
plant: {ode: {dp: u}}
draw: [{text: {x: 0, y: 0, label: %(label)s}}]
optimise: {particles: 8, steps_first: 2}
"""
PLAIN = {"name": "plain", "title": "plain", "unit": "m", "angle": "rad", "label": "here"}


def any_text(r):
    def character():
        ranges = r.choice([(32, 127), (0xa0, 0xd7ff), (0x10000, 0x10ffff)])
        return chr(r.randrange(*ranges))
    text = "".join(r.choice(PIECES) if r.random() < 0.7 else character() for _ in range(r.randrange(1, 5)))
    return text + (r.choice(CONTROL) if r.random() < 0.05 else "")


class Tags(html.parser.HTMLParser):
    """The page's skeleton: every tag with the names of its attributes, and the scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.inside = [], [], 0

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(sorted(k for k, _ in attrs))))
        self.inside = tag == "script"

    def handle_endtag(self, tag):
        self.inside = 0

    def handle_data(self, data):
        if self.inside:
            self.scripts.append(data)


def skeleton(path):
    tags = Tags()
    with open(path, encoding="utf-8", newline="") as f:
        tags.feed(f.read())
    # numbers decide how many paths a chart has; markup that can act must not come from a text
    names = ("script", "iframe", "object", "embed", "form", "link", "meta")
    acting = [t for t in tags.tags if t[0] in names or any(a.startswith("on") for a in t[1])]
    return sorted(acting), len(tags.scripts), tags.scripts


def on_terminal(text):
    return re.search("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)


class Case:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.bad = os.path.abspath(binary), folder, []

    def say(self, what, detail=""):
        self.bad.append("%s %s" % (what, detail))

    def call(self, *words, code=0):
        p = subprocess.run([self.binary, *words], capture_output=True, cwd=self.folder, check=False)
        out, err = (x.decode("utf-8", "replace") for x in (p.stdout, p.stderr))
        for text in (out, err):
            if on_terminal(text):
                self.say("control character on the terminal of " + words[0], repr(on_terminal(text).group()))
        if code is not None and p.returncode != code:
            self.say("%s ended with %d:" % (words[0], p.returncode), err[-300:])
        return p.returncode, out, err

    def run(self, texts):
        with open(os.path.join(self.folder, "task.yaml"), "w", encoding="utf-8", newline="") as f:
            f.write(TASK % {k: json.dumps(v) for k, v in texts.items()})
        code, _, err = self.call("check", "task.yaml", "--brief", "--json", code=None)
        if code != 0:  # refused: one sentence that names the place
            if "task.yaml:" not in err and "task.yaml" not in err:
                self.say("refused without a place:", err)
            return None
        _, out, err = self.call("learn", "task.yaml", "--out", "run", "--trials", "1", "--seed", "1")
        for line in (out + err).splitlines():
            if re.match(r"(next|page):", line):
                try:
                    shlex.split(line)
                except ValueError:
                    self.say("a hint that a shell cannot read:", line)
        self.call("show", "run")
        self.call("report", "run", "-o", "page.html")
        for figure in ("trajectory", "inputs", "cost"):
            self.call("plot", "run", "--figure", figure, "-o", figure + ".svg")
        self.call("export", "run", "-o", "exported")
        for words in (("show", "run", "--json"), ("evaluate", "run", "--runs", "5", "--json")):
            _, out, _ = self.call(*words)
            for line in out.splitlines():
                try:
                    json.loads(line) if words[0] == "evaluate" else None
                except ValueError:
                    self.say("not JSON:", line[:200])
        return self.files()

    def files(self):
        for path in glob.glob(self.folder + "/**/*", recursive=True):
            try:
                if path.endswith(".json"):
                    with open(path, encoding="utf-8") as f:
                        json.load(f)
                elif path.endswith(".svg"):
                    if any("script" in e.tag or any(a.startswith("on") for a in e.attrib)
                           for e in xml.etree.ElementTree.parse(path).iter()):
                        self.say("a script in", path)
                elif path.endswith(".csv"):
                    with open(path, encoding="utf-8", newline="") as f:
                        rows = list(csv.reader(x for x in f if not x.startswith("#")))
                    if len({len(x) for x in rows if x}) > 1:
                        self.say("columns differ in", path)
            except (ValueError, xml.etree.ElementTree.ParseError) as e:
                self.say("%s:" % path, str(e))
        return skeleton(os.path.join(self.folder, "page.html"))


def scripts_run(scripts, folder):
    """Every script of a page parses as JavaScript (or is JSON); None: no engine here."""
    node = shutil.which("node") or shutil.which("nodejs")
    for text in scripts if node else []:
        if text.lstrip().startswith(("{", "[")):
            json.loads(text)
            continue
        path = os.path.join(folder, "page.js")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        if subprocess.run([node, "--check", path], capture_output=True, check=False).returncode:
            return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    r, taken, bad, base = random.Random(a.seed), 0, 0, None
    for k in range(a.count + 1):
        folder = os.path.join(os.path.abspath(a.folder), "case-%04d" % k)
        os.makedirs(folder)
        case = Case(a.binary, folder)
        texts = PLAIN if k == 0 else {key: any_text(r) for key in PLAIN}
        if k and r.random() < 0.7:
            texts["name"] = "plain"  # most odd names are refused; the other texts must be seen as well
        got = case.run(texts)
        if k == 0 and not got:
            case.say("the plain task was refused")
        if k == 0:
            base = got
        elif got:
            taken += 1
            if got[:2] != base[:2]:
                case.say("the page has other tags or scripts that act")
            if not scripts_run(got[2], folder):
                case.say("a script of the page does not parse")
        for what in case.bad:
            print("FAIL case %d: %s %r" % (k, what, texts))
        bad += bool(case.bad)
        if not case.bad:
            shutil.rmtree(folder)
    if not taken:
        print("FAIL no task was taken")
    print("texts: %d tasks, %d of them taken, %d findings" % (a.count, taken, bad))
    return bad != 0 or not taken


if __name__ == "__main__":
    sys.exit(main())
