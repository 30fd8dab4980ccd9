#!/usr/bin/env bash
# Documentation that can be checked: links resolve, verbs exist and are in the manual page, the commands of
# the quick start run.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$SOURCE"
fail() { echo "FAIL: $*"; bad=1; }
bad=0
for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/results/*.md; do
    dir=$(dirname "$page")
    while read -r link; do
        case $link in http*|mailto:*|'#'*) continue ;; esac
        [ -e "$dir/${link%%#*}" ] || fail "$page: link to $link, which is not there"
    done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//; s/ .*//')
done

verbs=$("$MCPILCO" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')
[ -n "$verbs" ] || fail "no verbs in --help"
for verb in $verbs; do
    grep -qE "^\.BI \"?$verb\b" docs/mcpilco.1 || fail "docs/mcpilco.1 does not tell about $verb"
    "$MCPILCO" $verb --help > "$WORK/help.txt" 2>&1 || fail "mcpilco $verb --help exits non-zero"
    [ "$(wc -l < "$WORK/help.txt")" -ge 2 ] || fail "mcpilco $verb --help teaches nothing"
done
# every verb that a page shows in a command line exists
for verb in $(grep -rhoE '(^|[ `])(build/)?mcpilco [a-z]+' README.md docs/*.md | awk '{print $NF}' |
    sort -u); do
    case " $(echo $verbs) help " in *" $verb "*) ;; *)
        grep -rqE "(build/mcpilco|^    mcpilco|^ +mcpilco) $verb( |$)" README.md docs/*.md &&
            fail "a page runs mcpilco $verb, which does not exist" ;;
    esac
done
man -l --warnings docs/mcpilco.1 > /dev/null 2> "$WORK/man.txt" || true
[ ! -s "$WORK/man.txt" ] || grep -q 'command not found\|No manual' "$WORK/man.txt" ||
    fail "docs/mcpilco.1: $(head -1 "$WORK/man.txt")"

scripts/api-doc "$WORK/c-api.md"
cmp -s "$WORK/c-api.md" docs/c-api.md ||
    fail "docs/c-api.md differs from the headers; renew it by scripts/api-doc"

# the quick start, made small
cd "$WORK"
small="--set optimise.particles=24 --set optimise.steps=10 --set optimise.steps_first=10 --trials 1 --quiet"
"$MCPILCO" check "$SOURCE/tasks/pendulum.yaml" > /dev/null || fail check
"$MCPILCO" learn "$SOURCE/tasks/pendulum.yaml" --seed 2 --out runs/cp2 $small || fail learn
"$MCPILCO" show runs/cp2 > /dev/null || fail show
"$MCPILCO" evaluate runs/cp2 --runs 5 > /dev/null || fail evaluate
"$MCPILCO" report runs/cp2 > /dev/null || fail report
[ $bad = 0 ] && echo ok
exit $bad
