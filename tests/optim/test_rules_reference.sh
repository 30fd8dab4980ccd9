#!/usr/bin/env bash
# The reference numbers in test_rules.c are those that rules_reference.py computes.
set -eu
here=$SOURCE/tests/optim
[ -x /usr/bin/python3 ] || { echo "skipped: no python3"; exit 77; }
bad=0 count=0
while read -r line; do
    number=${line##* }
    count=$((count + 1))
    grep -qF -e "$number" "$here/test_rules.c" ||
        { echo "FAIL test_rules.c has another number for: $line"; bad=1; }
done < <(/usr/bin/python3 "$here/rules_reference.py")
[ "$count" -eq 17 ] || { echo "FAIL rules_reference.py prints $count numbers, not 17"; bad=1; }
exit $bad
