#!/usr/bin/env bash
# Every file and function that docs/method.md names for an element of the paper exists: a function stands in
# the file named before it in the same row.
set -eu
cd "$SOURCE"
fail() { echo "FAIL: $*"; bad=1; }
bad=0 files=0 functions=0
while IFS= read -r row; do
    file=
    while IFS= read -r word; do
        case $word in
            */*.c|*/*.h|*/*.yaml)
                file=$word files=$((files + 1))
                [ -f "$file" ] || { fail "docs/method.md: $file is not there"; file=; } ;;
            [a-z]*_[a-z]*|place_*|fill|sample|starts|difference|kalman|failures)
                case $word in noise_floor|lengthscale_floor) continue ;; esac
                [ -n "$file" ] || continue
                functions=$((functions + 1))
                grep -qE "^[a-z].*[ *]$word\(" "$file" || fail "docs/method.md: no function $word in $file" ;;
        esac
    done < <(grep -oE '`[^`]+`' <<< "$row" | tr -d '`')
done < <(sed -n '/^## The paper, element by element/,/^## /p' docs/method.md | grep '^|')
[ $files -ge 20 ] && [ $functions -ge 25 ] || fail "only $files files and $functions functions were looked up"
echo "$files files, $functions functions"
exit $bad
