#!/usr/bin/env bash
# The documentation site builds without a dead link or a page that no menu names, and has its search.
set -eu
rm -rf "$WORK"; mkdir -p "$WORK"
command -v mkdocs > /dev/null || { echo "skipped: needs mkdocs"; exit 77; }
fail() { echo "FAIL: $*"; exit 1; }
"$SOURCE/scripts/docs-site" "$WORK/site" > "$WORK/log" 2>&1 || { cat "$WORK/log"; fail "the site"; }
for page in index task-file real-rigs changelog; do
    [ -s "$WORK/site/$page.html" ] || fail "no page $page"
done
grep -q swing-up "$WORK/site/search/search_index.json" || fail "nothing to search"
! grep -rqE '(src|href)="https?://[^"]*\.(js|css)' "$WORK/site" --include=*.html || fail "it asks other hosts"
echo ok
