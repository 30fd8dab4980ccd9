#!/usr/bin/env bash
# The version stands in include/mcpilco/version.h; what cannot read it from there says the same.
set -eu
cd "$SOURCE"
fail() { echo "FAIL $*"; exit 1; }
version=$(sed -nE 's/^#define MCP_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' include/mcpilco/version.h |
    paste -s -d .)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "version.h says \"$version\""
same() { # where, what it says
  [ "$2" = "$version" ] || fail "$1 says \"$2\", version.h $version"
  echo "ok   $1"
}
same "the command" "$("$MCPILCO" --version | awk '{ print $2 }')"
same CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
same debian/changelog "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)"
same CHANGELOG.md "$(sed -n 's|^## \([0-9][0-9.]*\).*|\1|p' CHANGELOG.md | head -n 1)"
if /usr/bin/python3 -c 'import setuptools, wheel' 2> /dev/null; then
  same setup.py "$(MCPILCO_WHEEL_BUILD=$WORK/wheel /usr/bin/python3 setup.py --version 2> /dev/null)"
fi
