"""schema_check.py SCHEMA FILE.. - task files by the schema. A file without a first line "# expect: message"
must pass; one with it must be refused where the message is about one key alone."""
import json
import re
import sys
from os.path import basename

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """YAML 1.2's numbers and words, as editors read them: 3e-3 is a number, yes a word."""


Loader.yaml_implicit_resolvers = {k: [] for k in yaml.SafeLoader.yaml_implicit_resolvers}
for tag, pattern, first in (
        ("tag:yaml.org,2002:bool", r"^(true|false)$", "tf"),
        ("tag:yaml.org,2002:int", r"^[-+]?[0-9]+$", "-+0123456789"),
        ("tag:yaml.org,2002:float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$",
         "-+.0123456789"),
        ("tag:yaml.org,2002:null", r"^(~|null|)$", ["~", "n", ""])):
    Loader.add_implicit_resolver(tag, re.compile(pattern), first)


# What a table says about one key, a schema can say too; what sections say about each other it cannot.
TELLABLE = re.compile(r"unknown key|is missing in|expected no such key|expected one of [a-z]|yes or no"
                      r"|a whole number from|expected a number in|expected a text|expected one kind")
# names, which may be constants, and what is inside an expression
BEYOND = {"name-start.yaml", "number-expression-range.yaml", "range-infinite.yaml", "type-number.yaml",
          "word-kernel.yaml", "yaml-empty.yaml"}


def broken(validator, file):
    try:
        return [e.message for e in validator.iter_errors(yaml.load(open(file, encoding="utf-8"), Loader))]
    except (yaml.YAMLError, ValueError) as e:
        return [str(e)]


def main(schema_file, *files):
    schema = json.load(open(schema_file))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failed, refused = 0, 0
    for file in files:
        found = broken(validator, file)
        expected = re.match(r"# expect: (.*)", open(file, encoding="utf-8", errors="replace").readline())
        if basename(file) in BEYOND:
            continue
        if expected is None and found:
            failed += 1
            print(f"FAIL: {file}: the schema refuses it: {found[0][:300]}")
        elif expected is not None and not found and TELLABLE.search(expected.group(1)):
            failed += 1
            print(f"FAIL: {file}: the schema takes it, the program does not: {expected.group(1)}")
        refused += bool(found)
    print(f"{refused} of {len(files)} files refused")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
