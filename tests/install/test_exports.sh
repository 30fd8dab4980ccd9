#!/usr/bin/env bash
# What libmcpilco.so exports is what the public headers declare is what cmake/exports.txt lists; every
# declaration says from which threads it may be called.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
export LC_ALL=C
fail() { echo "FAIL $*"; exit 1; }
list=$SOURCE/cmake/exports.txt

"$SOURCE/scripts/exports" > declared.txt
diff "$list" declared.txt || fail "list (<), headers (>): scripts/exports > cmake/exports.txt"
echo "ok   the list is that of the public headers"

nm -D --defined-only "$BUILD/libmcpilco.so" | awk '{ print $3 }' | sort > exported.txt
diff "$list" exported.txt || fail "libmcpilco.so (>) and cmake/exports.txt (<) differ"
echo "ok   the library exports the $(wc -l < "$list") functions of the list"

awk '/^MCP_API/ { text = ""; open = 1 } open { text = text " " $0 } open && /;/ { open = 0
       if (text !~ /MCP_(ANY_THREAD|READS|ONE_THREAD);/) { print FILENAME ": " text; bad = 1 } }
     END { exit bad }' \
  "$SOURCE"/include/mcpilco/*.h || fail "a declaration without MCP_ANY_THREAD, MCP_READS or MCP_ONE_THREAD"
echo "ok   every declaration names its threads"
