#!/usr/bin/env bash
# The tasks of the paper say every setting that could change what the algorithm does: a new rule of ours, or a
# new default, must not find its way into them unnoticed. Who adds a setting decides here what the paper has.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$SOURCE"
/usr/bin/python3 -c 'import yaml' 2> /dev/null || { echo "skipped: needs python3-yaml"; exit 77; }
"$MCPILCO" help task --schema > "$WORK/schema.json"
/usr/bin/python3 - "$WORK/schema.json" tasks/paper/*.yaml <<'END'
import json
import sys
import yaml

schema = json.load(open(sys.argv[1], encoding="utf-8"))
# what other stop rules and other algorithms take, what a task is about, and how fast it is computed
FREE = {"optimise": {"start_particles", "patience", "evaluate_every", "evaluate_particles", "gain",
                     "success_margin", "evaluations", "starts", "generations", "rollouts", "block"},
        "model": {"velocities", "changes", "known", "features", "kernel", "prior_mean", "evaluations_max",
                  "tolerance", "points_max"}}


def properties(node):
    """All keys that a part of the schema allows, wherever it nests them; not those of its own parts."""
    if isinstance(node, list):
        return {k: v for part in node for k, v in properties(part).items()}
    if not isinstance(node, dict):
        return {}
    nested = [v for k, v in node.items() if k != "properties"]
    return properties(nested) | node.get("properties", {})


def keys(section):
    return set(properties(properties(schema)[section]))


bad = 0
for path in sys.argv[2:]:
    task = yaml.safe_load(open(path, encoding="utf-8"))
    head = open(path, encoding="utf-8").read().split("name:")[0]
    if "section" not in head and "appendix" not in head:
        print(f"FAIL: {path}: its head names no section of the paper")
        bad = 1
    for section, free in FREE.items():
        known = keys(section)
        if len(known) < 15 or not free <= known:
            print(f"FAIL: the schema has for {section} {sorted(known)}, not {sorted(free - known)}")
            bad = 1
        for key in sorted(known - free - set(task[section])):
            print(f"FAIL: {path} does not say {section}.{key}: what does the paper have?")
            bad = 1
sys.exit(bad)
END
echo ok
