"""The numbers of the pages, from docs/results/*.csv: one function per region, see scripts/results.

A file has lines "# key: value" (study, command, version, commit, seeds) and then a row per run and policy
trial, as `mcpilco study` writes runs.csv. Numbers of the paper are quoted here; nothing else is.
"""
import csv
import math
import re
import statistics
from collections import namedtuple

Study = namedtuple("Study", "name file first last")
# Most important first: a stopped command leaves what matters.
STUDIES = [
    Study("figure2", "experiments/figure2.yaml", 501, 550),
    Study("filter", "experiments/filter.yaml", 501, 520),
    Study("speed", "experiments/speed.yaml", 321, 340),
    Study("table1", "experiments/table1.yaml", 551, 600),
    Study("rivals", "experiments/rivals.yaml", 551, 600),
    Study("furuta", "experiments/furuta.yaml", 521, 540),
    Study("ballplate", "experiments/ballplate.yaml", 501, 520),
    Study("paper-figure2", "experiments/paper/figure2.yaml", 501, 520),
    Study("ladder", "experiments/ladder.yaml", 501, 520),
    Study("paper-table1", "experiments/paper/table1.yaml", 551, 600),
    Study("baselines", "experiments/baselines.yaml", 551, 600),
    Study("paper-furuta", "experiments/paper/furuta.yaml", 521, 540),
    Study("paper-ballplate", "experiments/paper/ballplate.yaml", 501, 520),
    Study("estimator", "experiments/estimator.yaml", 301, 320),
    Study("gallery", "experiments/gallery.yaml", 601, 605),
    Study("unseen", "experiments/unseen.yaml", 401, 403),
    Study("double-pendulums", "experiments/double-pendulums.yaml", 201, 205),
    Study("ablations", "experiments/ablations.yaml", 301, 320),
]
KEYS = ("study", "command", "version", "commit", "seeds")
KERNELS = [("sp", "SP: equations of motion + SE", "trial 3, 9 s"), ("se+mp2", "SE + P(2)", "trial 4, 12 s"),
           ("se", "SE", "trial 6, 18 s")]
PLATES = [("friction-0.02", "friction 0.02"), ("sticky-0.05", "sticky plate, 0.05")]
RUNGS = [("paper", "the paper's settings"),
         ("particles-96", "96 particles instead of 400"),
         ("sparse", "fewer inducing points, as many as the gradient needs"),
         ("sines", "exploration by sines instead of white noise"),
         ("auto-estimators", "smoother and observer from the sensors' figures, the noise's covariance known"),
         ("prior", "weak priors and floors of hyper-parameters"),
         ("scaling", "policy and steps in the units of the data"),
         ("clips", "adjoint and gradient clipped"),
         ("plateau", "stops on a plateau, keeps the best policy; higher rate"),
         ("judged", "judged by failures too, under more noise"),
         ("second-try", "a fresh policy where the warm start leads nowhere"),
         ("draws", "that fresh policy is the cheapest of many, from gentle to bold"),
         ("incumbent", "a policy that works is not thrown away"),
         ("linear-kernel", "SE + linear: what few data show is carried on"),
         ("hold", "a linear part near the goal beside the network"),
         ("near-goal", "a fifth of the particles starts near the goal"),
         ("regulator", "the linear part begins as the model's regulator there"),
         ("rest", "the goal is a place to rest, and the model is told"),
         ("defaults", "half of the particles until the rate is lowered: our task as it is")]


class Results:
    """One file: rows of each variant and seed."""

    def __init__(self, path):
        lines = path.read_text(encoding="utf-8").splitlines()
        head = [line[2:].partition(": ") for line in lines if line.startswith("# ")]
        self.head = {key: value for key, _, value in head}
        self.runs = {}
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            self.runs.setdefault(row["variant"], {}).setdefault(int(row["seed"]), []).append(row)
        span = re.fullmatch(r"(\d+)\.\.(\d+)", self.head.get("seeds", ""))
        self.span = (int(span[1]), int(span[2])) if span else (0, -1)

    def asked(self):
        return self.span[1] - self.span[0] + 1

    def of(self, variant):
        """Runs of a variant, by seed: rows in the order of trials."""
        runs = self.runs.get(variant, {})
        return [sorted(runs[seed], key=lambda r: int(r["trial"])) for seed in sorted(runs)]

    def seeds(self, variant):
        n, all_of_them = len(self.runs.get(variant, {})), self.asked()
        return str(n) if n == all_of_them else f"**{n} of {all_of_them}**"


class Data:
    """Every file of the folder; what is wrong with them."""

    def __init__(self, folder):
        self.folder, self.files, self.trouble = folder, {}, []
        for path in sorted(folder.glob("*.csv")):
            if path.stem.endswith(("-summary", "-times")) or path.stem in ("prediction", "kernels"):
                continue
            self.files[path.stem] = found = Results(path)
            lacking = [k for k in KEYS if not found.head.get(k)]
            found.head |= {key: "unknown" for key in lacking}
            if lacking:
                self.trouble.append(f"{path.name}: its head lacks {', '.join(lacking)}")
            seeds = [s for runs in found.runs.values() for s in runs]
            if any(not found.span[0] <= s <= found.span[1] for s in seeds):
                self.trouble.append(f"{path.name}: runs of other seeds than its head says")

    def runs(self, study, variant):
        return self.files[study].of(variant) if study in self.files else []

    def seeds(self, study, variant):
        return self.files[study].seeds(variant)

    def times(self, study):
        """Seconds of one core that a run computes, by variant: the medians of its trials added up."""
        path, sums = self.folder / f"{study}-times.csv", {}
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            took = float(row["model_s_median"]) + float(row["optimise_s_median"])
            sums[row["variant"]] = sums.get(row["variant"], 0.0) + took
        return sums


def wilson(k, n):
    """95 % interval of a rate, in per cent."""
    z, p = 1.959964, k / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return [100 * max(0.0, (centre + sign * half) / (1 + z * z / n)) for sign in (-1, 1)]


def number(row, key):
    return float(row[key]) if row[key] not in ("", "nan") else math.nan


def solved(runs, trial):
    """Runs whose trial of this number succeeded, and runs that came so far."""
    rows = [r for run in runs for r in run if int(r["trial"]) == trial]
    return sum(r["success"] == "1" for r in rows), len(rows)


def solved_by(runs, trial):
    return sum(any(r["success"] == "1" and int(r["trial"]) <= trial for r in run) for run in runs)


def rate(k, n):
    if n == 0:
        return "-"
    if n < 20:
        return f"{k} of {n}"
    low, high = wilson(k, n)
    return f"{100 * k / n:.0f} % ({low:.0f} - {high:.0f})"


def final(run):
    """Plant successes, runs and limits met of the recommended policy; of the last one in older files."""
    best = [r for r in run if r.get("recommended") == "1"]
    which = "final" if best else "plant"
    row = best[-1] if best else run[-1]
    return [int(row[f"{which}_{key}"]) for key in ("success", "runs", "limit")]


def last(runs):
    """Of the recommended policies: plant successes, plant runs, runs in which all succeed, the worst run."""
    ok, n = [final(run)[0] for run in runs], [final(run)[1] for run in runs]
    return sum(ok), sum(n), sum(a == b for a, b in zip(ok, n)), min(ok, default=0)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def missing(label, columns):
    return [label] + ["not run yet"] + [""] * (columns - 2)


def source(data, *names):
    """Where a table's numbers come from."""
    told = []
    for name in names:
        if name in data.files:
            head = data.files[name].head
            told.append(f"[`{name}.csv`](results/{name}.csv): `{head['command']}`, "
                        f"version {head['version']}, commit {head['commit']}")
        else:
            told.append(f"`{name}`: not run yet, `scripts/results {name}`")
    return "\n".join(f"- {line}" for line in told)


def picture(data, name, text):
    return f"![{text}](results/{name})\n" if (data.folder / name).exists() else ""


def success_row(data, study, variant, label):
    runs = data.runs(study, variant)
    if not runs:
        return None
    ok, n, perfect, worst = last(runs)
    share = f"{ok} of {n} ({100 * ok / n:.1f} %)" if n else "-"
    return ([label, data.seeds(study, variant)] + [rate(*solved(runs, t)) for t in range(1, 6)] +
            [share, f"{perfect} of {len(runs)}", str(worst)])


def figure2(data):
    head = ["", "seeds", "trial 1", "2", "3", "4", "5", "last policy, plant runs", "seeds without a failure",
            "worst seed", "the same on its model"]
    rows = []
    for study, whose in (("figure2", "our settings"), ("filter", "our settings, the paper's observer"),
                         ("paper-figure2", "the paper's settings")):
        for variant, name in (("mc-pilco4pms", "MC-PILCO4PMS"), ("mc-pilco", "MC-PILCO")):
            if (study, variant) == ("figure2", "mc-pilco"):
                continue
            row, runs = success_row(data, study, variant, f"{name}, {whose}"), data.runs(study, variant)
            # of the recommended policy, in its row; other rows have zeros
            model = [sum(int(r[key] or 0) for run in runs for r in run)
                     for key in ("model_success", "model_runs")]
            rows.append(row + [f"{model[0]} of {model[1]}"] if row else missing(f"{name}, {whose}", 11))
    rows.append(["the paper, one policy each", "", "", "", "", "", "", "400 of 400; MC-PILCO fails several",
                 "", "", "alike"])
    text = table(head, rows) + "\n\n"
    for study in ("figure2", "filter", "paper-figure2"):
        for variant in ("mc-pilco4pms", "mc-pilco"):
            text += picture(data, f"{study}-{variant}.png", f"{variant}, {study}: particles, plant")
    return text + "\n" + source(data, "figure2", "filter", "paper-figure2")


def table1(data):
    head = ["", "seeds", "trial 1", "2", "3", "4", "5", "last policy, plant runs", "seeds without a failure",
            "worst seed"]
    quoted = {"MC-PILCO": (0, 14, 78, 94, 100), "Black-DROPS": (0, 4, 30, 68, 86),
              "PILCO": (2, 4, 20, 36, 42)}
    groups = [
        ("MC-PILCO", [("table1", "mc-pilco", "**MC-PILCO**, our settings"),
                      ("paper-table1", "mc-pilco", "MC-PILCO, the paper's settings")]),
        ("Black-DROPS", [("rivals", "black-drops", "Black-DROPS, MC-PILCO's cost"),
                         ("baselines", "black-drops-authors", "Black-DROPS, its authors' cost")]),
        ("PILCO", [("rivals", "pilco", "PILCO, wide start, easier problems first"),
                   ("baselines", "pilco-authors", "PILCO, its authors' start")]),
    ]
    rows = []
    for name, group in groups:
        for study, variant, label in group:
            rows.append(success_row(data, study, variant, label) or missing(label, 10))
        rows.append([f"*{name} in the paper*", "50"] + [f"{p} %" for p in quoted[name]] + ["", "", ""])
    text = table(head, rows) + "\n\n"
    text += picture(data, "table1-cost.svg", "The comparison metric, trial by trial: median and 5-95 %")
    files = source(data, "table1", "rivals", "paper-table1", "baselines")
    return text + "\n" + blackdrops(data) + "\n\n" + files


def metric_at(runs, trial, key):
    """Medians over runs of a trial's cost or metric: of those that succeeded, of all."""
    rows = [r for run in runs for r in run if int(r["trial"]) == trial]
    good = [number(r, key) for r in rows if r["success"] == "1"]
    return statistics.median(good) if good else math.nan, statistics.median(number(r, key) for r in rows)


def blackdrops(data):
    """What Black-DROPS finds under its authors' cost, and what the same network can reach in that cost."""
    ours, theirs = data.runs("rivals", "black-drops"), data.runs("baselines", "black-drops-authors")
    if not ours:
        return ""
    good, _ = metric_at(ours, 5, "metric")
    text = ("Black-DROPS under its authors' cost: the same network of ten neurons, searched by the same "
            f"program under MC-PILCO's cost, comes to a median of {good:.1f} in the authors' cost where "
            "trial 5 succeeds")
    if not theirs:
        return text + ". What the search finds under that cost itself is not run yet (`baselines`)."
    (k, n), (_, found) = solved(theirs, 5), metric_at(theirs, 5, "cost")
    text += f"; under that cost itself the search ends at a median of {found:.1f} on the plant, "
    text += f"and {k} of {n} fifth trials succeed."
    if found > 1.2 * good:
        text += (" So better policies exist, and the search does not find them: the cost is flat but near "
                 "the top and counts whole turns as nothing "
                 "([more](../src/baseline/blackdrops/README.md)).")
    return text


def first_robust(run):
    return next((r for r in run if r["robust"] == "1"), None)


def robust_data(runs):
    """Seconds of data behind each run's first robust policy; infinite where there is none."""
    return [number(r, "data_s") if r else math.inf for r in map(first_robust, runs)]


def limits(runs):
    """Policy trials that met a limit: first ones, later ones; plant runs of recommended policies that did."""
    first = sum(int(r["limit"]) > 0 for run in runs for r in run if int(r["trial"]) == 1)
    later = sum(int(r["limit"]) > 0 for run in runs for r in run if int(r["trial"]) > 1)
    return first, later, sum(final(run)[2] for run in runs)


def furuta(data):
    head = ["kernel", "seeds", "robust policy", "data behind it, median", "range",
            "arm's limit met in first, later trials", "by last policies", "the paper's rig"]
    rows = []
    for study, whose in (("furuta", "our settings"), ("paper-furuta", "the paper's settings")):
        for variant, name, rig in KERNELS:
            runs, label = data.runs(study, variant), f"{name}; {whose}"
            if not runs:
                rows.append(missing(label, 8))
                continue
            seconds, (first, later, by_final) = robust_data(runs), limits(runs)
            known, middle = [s for s in seconds if s < math.inf], statistics.median(seconds)
            rows.append([label, data.seeds(study, variant), f"{len(known)} of {len(runs)}",
                         f"**{middle:.1f} s**" if middle < math.inf else "not found by half of the seeds",
                         f"{min(known):.1f} - {max(known):.1f} s" if known else "-", f"{first}, {later}",
                         f"{by_final} of {sum(final(run)[1] for run in runs)}", rig])
    figure = picture(data, "furuta-first.svg", "seeds that have solved it, trial by trial")
    return table(head, rows) + "\n\n" + figure + "\n" + source(data, "furuta", "paper-furuta")


def ball_cell(runs, trial):
    rows = [r for run in runs for r in run if int(r["trial"]) == trial]
    n = sum(int(r["plant_runs"]) for r in rows)
    mean = sum(number(r, "plant_metric_mean") * int(r["plant_runs"]) for r in rows) / n if n else math.nan
    return {"mean": 1e3 * mean, "most": 1e3 * max((number(r, "plant_metric_max") for r in rows), default=0),
            "left": sum(int(r["plant_limit"]) for r in rows), "n": n,
            "late": n - sum(int(r["plant_success"]) + int(r["plant_limit"]) for r in rows),
            "data": [number(r, "data_s") for r in rows]}


def ballplate(data):
    head = ["", "seeds", "trial", "data behind the policy", "mean", "largest", "left the plate",
            "late"]
    rows = []
    for study, whose in (("ballplate", "our settings"), ("paper-ballplate", "the paper's settings")):
        for variant, name in PLATES:
            runs = data.runs(study, variant)
            if not runs:
                rows.append(missing(f"{name}; {whose}", 8))
            for trial in (1, 2, 3) if runs else ():
                c = ball_cell(runs, trial)
                rows.append([f"{name}; {whose}" if trial == 1 else "", data.seeds(study, variant), str(trial),
                             f"{min(c['data']):.1f} - {max(c['data']):.1f} s", f"{c['mean']:.1f} mm",
                             f"{c['most']:.1f} mm", f"{c['left']} of {c['n']}", f"{c['late']} of {c['n']}"])
    rows.append(["the paper's rig, one policy, ten starts", "", "3", "11.33 s", "9.9 mm", "14.9 mm",
                 "0 of 10", ""])
    text = table(head, rows) + "\n\n"
    for variant, name in PLATES:
        text += picture(data, f"ballplate-{variant}.svg", f"ten runs of a last policy, {name}")
    return text + "\n" + source(data, "ballplate", "paper-ballplate")


def gains(data):
    """Rung by rung on the seeds that both have: the change in seeds solved by trial 3."""
    steps, runs = [], data.files["ladder"].runs
    for (above, _), (rung, label) in zip(RUNGS, RUNGS[1:]):
        both = sorted(set(runs.get(above, {})) & set(runs.get(rung, {})))
        if len(both) >= 10:
            before, after = [solved_by([runs[v][s] for s in both], 3) for v in (above, rung)]
            steps.append((after - before, f"{label} ({before} to {after} of {len(both)})"))
    if not steps:
        return "No two neighbouring rungs have ten seeds in common yet."
    best = [text for gain, text in sorted(steps, key=lambda s: -s[0])[:3] if gain > 0]
    worst = [text for gain, text in steps if gain < 0]
    return ("Largest gains in seeds solved by trial 3: " + ("; ".join(best) or "none") + ". Losses: " +
            ("; ".join(worst) or "none") + ".")


def ladder(data):
    head = ["from the paper's settings down, each with those above", "seeds", "trial 2", "3", "4", "5",
            "last policy, plant runs", "seeds without a failure"]
    rows = []
    if "ladder" not in data.files:
        return "Not run yet: `scripts/results ladder`. Its rungs: " + "; ".join(r[1] for r in RUNGS) + "."
    for variant, label in RUNGS:
        row = success_row(data, "ladder", variant, label)
        rows.append(row[:2] + row[3:9] if row else missing(label, 8))
    figure = picture(data, "ladder-bars.svg", "seeds by the trial that solved it first, rung by rung")
    return table(head, rows) + "\n\n" + gains(data) + "\n\n" + figure + "\n" + source(data, "ladder")


def plain(study, trials):
    """A row per variant under its own name."""
    def region(data):
        head = ["", "seeds"] + [f"trial {t}" for t in range(1, trials + 1)] + ["last policy, plant runs"]
        rows = []
        for variant in data.files[study].runs if study in data.files else []:
            row = success_row(data, study, variant, variant)
            rows.append(row[:2 + trials] + row[7:8])
        return (table(head, rows) + "\n\n" if rows else "") + source(data, study)
    return region


def unseen(data):
    """A row per system of the study: when it was first solved, and how the recommended policy does."""
    if "unseen" not in data.files:
        return source(data, "unseen")
    rows, good, count = [], 0, 0
    for variant in data.files["unseen"].runs:
        runs = data.runs("unseen", variant)
        first = [next((r["trial"] for r in run if r["success"] == "1"), "-") for run in runs]
        finals = [final(run)[:2] for run in runs]
        good += sum(k >= 0.99 * n for k, n in finals)
        count += len(finals)
        rows.append([variant, data.seeds("unseen", variant), ", ".join(first),
                     ", ".join(f"{k} of {n}" for k, n in finals)])
    text = table(["system", "seeds", "first solved in trial", "recommended policy, plant runs"], rows)
    return (f"{text}\n\nOf {count} runs {good} recommend a policy that succeeds in at least 99 % of its "
            f"plant runs.\n\n{source(data, 'unseen')}")


def sign_test(wins, losses):
    """Two-sided chance of so uneven a count, ties left out."""
    n, k = wins + losses, min(wins, losses)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n) if n else 1.0


def rank(run):
    """Smaller is better: trial of the first success, then failures of the recommended policy."""
    first = next((int(r["trial"]) for r in run if r["success"] == "1"), 99)
    ok, n, _ = final(run)
    return first, n - ok


def estimator(data):
    """Automatic against chosen by hand, seed by seed."""
    text, rows = plain("estimator", 4)(data), []
    for name in ("cartpole", "ballplate", "wheel", "furuta") if "estimator" in data.files else ():
        auto, hand = (data.files["estimator"].runs.get(f"{name}-{k}", {}) for k in ("auto", "hand"))
        both = sorted(auto.keys() & hand.keys())
        order = [(rank(auto[s]), rank(hand[s])) for s in both]
        wins, losses = sum(a < h for a, h in order), sum(a > h for a, h in order)
        rows.append([name, str(len(both)), str(wins), str(losses), str(len(both) - wins - losses),
                     f"{sign_test(wins, losses):.2g}"])
    head = ["", "seeds", "auto is better", "worse", "alike", "sign test, two-sided"]
    told = "Seed by seed, by the trial of the first success, then by failures of the recommended policy:\n\n"
    return text + ("\n\n" + told + table(head, rows) if rows else "")


def predictions(data, name):
    """Head of a file of experiments/prediction, and its errors by place and choice; None: it is not there."""
    path = data.folder / f"{name}.csv"
    if not path.exists():
        return None, {}
    lines = path.read_text(encoding="utf-8").splitlines()
    head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    cells = {}
    for r in csv.DictReader(line for line in lines if not line.startswith("#")):
        place = (r["task"], r["seed"], r["trials"], r["steps"], r["state"])
        cells.setdefault(place, {})[r["choice"]] = float(r["error"])
    where = ", ".join(f"{key} {head.get(key, 'unknown')}" for key in ("version", "commit", "seeds"))
    return where, cells


def compared(cells, few, choice, base):
    """Logarithms of error ratios, a mean over states for each (seed, trials) that few admits."""
    logs = {}
    for place, e in cells.items():
        if few(int(place[2])) and choice in e and base in e and min(e[choice], e[base]) > 0:
            logs.setdefault(place[1:3], []).append(math.log(e[choice] / e[base]))
    return [statistics.mean(v) for v in logs.values() if all(map(math.isfinite, v))]


def prediction(data):
    """Errors with the automatic smoother over those with one chosen by hand: geometric means."""
    where, cells = predictions(data, "prediction")
    if not where:
        return "Not run yet: `experiments/prediction`."
    rows = []
    for task in dict.fromkeys(p[0] for p in cells):
        row = [task]
        for steps in ("1", "20"):
            here = {p: e for p, e in cells.items() if p[0] == task and p[3] == steps}
            means = compared(here, lambda trials: True, "auto", "hand")
            share = f"{sum(m < 0 for m in means)} of {len(means)}"
            row += [f"{math.exp(statistics.mean(means)):.2f}", share] if means else ["-", "-"]
        rows.append(row)
    heads = ["task", "one step: error, auto / by hand", "auto is better in", "twenty steps",
             "auto is better in"]
    return (table(heads, rows) +
            f"\n\n- [`prediction.csv`](results/prediction.csv): `experiments/prediction`, {where}")


KERNEL_CHOICES = ("se + linear", "se + mp(2)", "matern52")


def kernels(data):
    """Errors after twenty steps over those of se, from little and from more data, and likelihoods."""
    where, cells = predictions(data, "kernels")
    if not where:
        return "Not run yet: `experiments/prediction STUDY --kernels`."
    rows, every = [], {}
    tasks = list(dict.fromkeys(p[0] for p in cells))
    for task in tasks:
        row = [task]
        far = {p: e for p, e in cells.items() if p[0] == task and p[3] == "20"}
        for choice in KERNEL_CHOICES:
            for few in (lambda trials: trials < 2, lambda trials: trials >= 2):
                means = compared(far, few, choice, "se")
                column = len(row)
                if means:
                    every.setdefault(column, []).append(statistics.mean(means))
                row.append(f"{math.exp(statistics.mean(means)):.2f}" if means else "-")
        for choice in KERNEL_CHOICES:
            gains_of = [e[choice] - e["se"] for p, e in cells.items()
                        if p[0] == task and p[3] == "likelihood" and choice in e and "se" in e]
            column = len(row)
            if gains_of:
                every.setdefault(column, []).append(statistics.mean(gains_of))
            row.append(f"{statistics.mean(gains_of):+.2f}" if gains_of else "-")
        rows.append(row)
    last_error = 2 * len(KERNEL_CHOICES)
    total = [f"{math.exp(statistics.mean(v)):.2f}" if c <= last_error else f"{statistics.mean(v):+.2f}"
             for c, v in sorted(every.items())]
    rows.append(["**all, mean**", *total])
    heads = ["task"] + [f"{c}: {n}" for c in KERNEL_CHOICES for n in ("0, 1 trials", "2 and more")]
    heads += [f"{c}: likelihood" for c in KERNEL_CHOICES]
    return (table(heads, rows) +
            f"\n\n- [`kernels.csv`](results/kernels.csv): `experiments/prediction --kernels`, {where}")


SPEED = [("defaults", "defaults"), ("no-budget", "no budget: the plateau rule alone ends an optimisation"),
         ("all-particles", "all particles from the first step on"),
         ("more-points", "more points in the sparse posterior (tolerance 0.05)"),
         ("double", "double precision")]


def speed(data):
    """Steps, computing of one core and success with one change taken back."""
    head = ["one change taken back", "seeds", "steps a run", "computing a run", "a step", "solved by trial 2",
            "3", "4", "recommended policy, plant runs"]
    rows, times = [], data.times("speed")
    for variant, label in SPEED:
        runs = data.runs("speed", variant)
        if not runs:
            rows.append(missing(label, 9))
            continue
        steps = statistics.mean(sum(int(r["steps"]) for r in run) for run in runs)
        took = times.get(variant, math.nan)
        by = [f"{solved_by(runs, t)} of {len(runs)}" for t in (2, 3, 4)]
        rows.append([label, data.seeds("speed", variant), f"{steps:.0f}", f"{took:.1f} s",
                     f"{1e3 * took / steps:.1f} ms", *by, "{} of {}".format(*last(runs)[:2])])
    return table(head, rows) + "\n\n" + source(data, "speed")


def verdict(good, text, complete):
    return [text, ("yes" if good else "**no**") + ("" if complete else ", so far")]


def aims_figure2(data):
    ours, pairs = data.runs("figure2", "mc-pilco4pms"), []
    if not ours or "filter" not in data.files:
        return []
    through, blind = (data.files["filter"].runs.get(v, {}) for v in ("mc-pilco4pms", "mc-pilco"))
    pairs = [(final(through[s])[0], final(blind[s])[0]) for s in sorted(through.keys() & blind.keys())]
    better, worse = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    chance = sign_test(better, worse)
    n, whole = len(ours), len(ours) >= 50
    perfect, third, second = last(ours)[2], solved_by(ours, 3), solved_by(ours, 2)
    return [["figure 2: every run of every last policy succeeds"] +
            verdict(perfect == n, f"{perfect} of {n} seeds", whole),
            ["figure 2: 80 % of the seeds solved by trial 3"] +
            verdict(third >= 0.8 * n, f"{third} of {n}", whole),
            ["figure 2: half of them in trial 2 (an aim)"] +
            verdict(second >= 0.5 * n, f"{second} of {n}", whole),
            ["figure 2, the paper's observer: MC-PILCO clearly worse on the plant"] +
            verdict(better > worse and chance < 0.05,
                    f"{sum(b for _, b in pairs)} runs against {sum(a for a, _ in pairs)}; worse in {better} "
                    f"of {len(pairs)} seeds, better in {worse} (sign test {chance:.2g})", len(pairs) >= 20)]


def aims_table1(data):
    runs = data.runs("table1", "mc-pilco")
    if not runs:
        return []
    n, counts = len(runs), [solved(runs, t) for t in range(1, 6)]
    shares = [100 * k / m if m else 0 for k, m in counts]
    ok, tried, _, _ = last(runs)
    return [["table 1: at least 0/30/90/98/100 %"] +
            verdict(all(s >= a for s, a in zip(shares, (0, 30, 90, 98, 100))),
                    "/".join(f"{s:.0f}" for s in shares) + f" % of {n} seeds", n >= 50),
            ["table 1: last policies, 19990 of 20000"] +
            verdict(tried > 0 and ok >= 0.9995 * tried, f"{ok} of {tried}", n >= 50)]


def aims_furuta(data):
    rows, medians, after, by_final, fewest = [], [], 0, 0, 20
    for (variant, name, _), aim in zip(KERNELS, (6, 9, 12)):
        runs = data.runs("furuta", variant)
        if not runs:
            return []
        medians.append(statistics.median(robust_data(runs)))
        _, later, by_last = limits(runs)
        after, by_final, fewest = after + later, by_final + by_last, min(fewest, len(runs))
        rows.append([f"Furuta, {name}: from at most {aim} s of data, median"] +
                    verdict(medians[-1] <= aim, f"{medians[-1]:.1f} s, {len(runs)} seeds", len(runs) >= 20))
    rows.append(["Furuta: order of the kernels as in the paper"] +
                verdict(medians[0] < medians[1] < medians[2], ", ".join(f"{m:.1f}" for m in medians) +
                        " s", fewest >= 20))
    rows.append(["Furuta: no limit met after the first trial, none by last policies"] +
                verdict(after == by_final == 0, f"{after} trials, {by_final} runs", fewest >= 20))
    return rows


def aims_ballplate(data):
    rows = []
    for (variant, name), (mean, most) in zip(PLATES, ((2, 5), (5, 10))):
        runs = data.runs("ballplate", variant)
        if not runs:
            return []
        c = ball_cell(runs, 3)
        good = c["mean"] <= mean and c["most"] <= most and c["left"] == 0 and max(c["data"]) <= 11.33
        rows.append([f"ball-and-plate, {name}: mean {mean} mm, largest {most} mm, no start lost, 11.33 s"] +
                    verdict(good, f"{c['mean']:.1f} and {c['most']:.1f} mm, {c['left']} of {c['n']} lost, "
                            f"{c['late']} late, {max(c['data']):.1f} s", len(runs) >= 20))
    return rows


def one_commit(heads):
    """At which commit these files were made, or make the same rows again (scripts/results --verify)."""
    made = [set(h["commit"].split(", ")) for h in heads]
    again = [{h["same at"].split(",")[0]} if "same at" in h else set() for h in heads]
    if len(set.union(*made)) == 1:
        return f"All at commit {made[0].pop()}"
    common = set.intersection(*(a | (m if len(m) == 1 else set()) for m, a in zip(made, again)))
    if not common:
        return "Not measured at one commit yet"
    return (f"The first seeds of every study ran again at {common.pop()} and gave the same rows, digit by "
            "digit")


def aims(data):
    rows = aims_figure2(data) + aims_table1(data) + aims_furuta(data) + aims_ballplate(data)
    used = [n for n in ("figure2", "filter", "table1", "furuta", "ballplate") if n in data.files]
    heads = [data.files[n].head for n in used]
    places = [f"{n}: version {h['version']}, seeds {h['seeds']}" for n, h in zip(used, heads)]
    told = one_commit(heads)
    text = table(["aim, with our settings", "reached", "met"], rows)
    return text + f"\n\n{told} ({'; '.join(places)})." if used else text


def readme(data):
    runs = data.runs("figure2", "mc-pilco4pms")
    if not runs:
        return ""
    n, (ok, tried, _, _) = len(runs), last(runs)
    seeds = data.seeds("figure2", "mc-pilco4pms").strip("*")
    third, fifth = solved_by(runs, 3), solved_by(runs, 5)
    return (f"In [a study](docs/results.md) of {seeds} seeds that cart-pole was solved by trial 3 in {third} "
            f"of {n} runs, by trial 5 in {fifth}; the last policies succeed in {ok} of {tried} further "
            "attempts.")


def sources(data):
    rows = []
    for study in STUDIES:
        found = data.files.get(study.name)
        if found:
            done = ", ".join(f"{v} {len(found.runs[v])}" for v in found.runs)
            rows.append([f"[{study.name}](results/{study.name}.csv)",
                         f"{found.head['version']}, {found.head['commit']}",
                         f"{found.span[0]} to {found.span[1]}", done])
        else:
            rows.append([study.name, "not run yet", f"{study.first} to {study.last}", ""])
    return table(["study", "version, commit", "seeds", "seeds finished of each variant"], rows)


def by_seed(data, study, variants, cell):
    seeds = sorted({s for v in variants for s in data.files[study].runs.get(v, {})})
    rows = [[str(s)] + [cell(data.files[study].runs.get(v, {}).get(s)) for v in variants] for s in seeds]
    return table(["seed", *variants], rows)


def trials_solved(run):
    if not run:
        return "-"
    good = [r["trial"] for r in run if r["success"] == "1"]
    return f"{' '.join(good) or 'none'}; {final(run)[0]} of {final(run)[1]}"


def seed_pages(study):
    """Trials that succeeded, and the last policy's plant runs, seed by seed."""
    def region(data):
        if study not in data.files:
            return f"Not run yet: `scripts/results {study}`."
        return by_seed(data, study, list(data.files[study].runs), trials_solved)
    return region


REGIONS = {"figure2": figure2, "table1": table1, "furuta": furuta, "ballplate": ballplate, "ladder": ladder,
           "ablations": plain("ablations", 3), "estimator": estimator, "aims": aims, "speed": speed,
           "prediction": prediction, "kernels": kernels, "unseen": unseen, "readme": readme,
           "sources": sources}
REGIONS |= {f"{s.name}-seeds": seed_pages(s.name) for s in STUDIES}
