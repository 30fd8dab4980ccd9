#!/usr/bin/env bash
# Names, titles, units and labels with any characters in them, through everything that prints them.
set -eu
. "$SOURCE/tests/plant/common.sh"
for odd in '\e]0;x\a' '\x7f' '\u0085' '\u202e' '\r'; do
    printf 'name: "a%s"\nrate: 20\n' "$odd" > odd.yaml
    "$MCPILCO" check odd.yaml > out 2> err && fail "$odd in a name is taken"
    grep -q '^mcpilco check: odd.yaml:1:8: found the control character U+' err || fail "$odd: $(cat -v err)"
done
echo "ok   control characters are refused"
"$PYTHON" "$SOURCE/tests/attack/texts.py" "$MCPILCO" "$WORK" --count 6
