#!/usr/bin/env bash
# Numbers become text, and text numbers, in math/number.c alone: nothing else follows the program's locale.
set -eu
[ -x /usr/bin/python3 ] || { echo "skipped: no python3"; exit 77; }
cd "$SOURCE"
/usr/bin/python3 - <<'END'
import pathlib
import re
import sys

ONLY = "src/math/number.c"
# what reads or prints by the locale whatever it is given
NEVER = r"\b(strto(d|f|ld)(_l)?|atof|v(s|sn|f|d)?printf|setlocale|localeconv|newlocale|uselocale)\s*\("
JANSSON = r"\bjson_(load|dump)\w*\s*\("  # reads and prints reals by itself
PRINTERS = r"\b(?:s|sn|f|d)?printf\s*\(|\b[fs]?scanf\s*\("
REAL = re.compile(r"%[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?[lL]?[aAeEfFgG]")


def call(code, start):
    """The text of the call whose bracket opens before start."""
    depth, quoted = 1, False
    for i in range(start, len(code)):
        c = code[i]
        if quoted:
            quoted = c != '"' or code[i - 1] == "\\"
        elif c == '"':
            quoted = True
        else:
            depth += (c == "(") - (c == ")")
        if depth == 0:
            return code[start:i]
    return code[start:]


bad = []
for path in sorted(p for d in ("src", "include", "apps") for p in pathlib.Path(d).rglob("*.[ch]")):
    name, command = str(path), str(path).startswith("apps/")
    if name == ONLY:
        continue
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), path.read_text(), flags=re.S)
    line = lambda at: code.count("\n", 0, at) + 1
    for m in re.finditer(NEVER, code):
        if not (command and m.group(1) == "vfprintf"):
            bad.append(f"{name}:{line(m.start())}: {m.group(1)}; use math/number.h")
    for m in re.finditer(JANSSON, code):
        if name != "src/io/json.c":
            bad.append(f"{name}:{line(m.start())}: {m.group().rstrip('(')}; use io/json.h")
    # the command speaks to its user in the plain locale, which it never leaves
    for m in () if command else re.finditer(PRINTERS, code):
        texts = re.findall(r'"(?:\\.|[^"\\])*"', call(code, m.end()))
        if any(REAL.search(text.replace("%%", "")) for text in texts):
            bad.append(f"{name}:{line(m.start())}: a real through {m.group().rstrip('( ')}; use mcp_print")
print("\n".join(f"FAIL {b}" for b in bad) or "ok   one printer, one reader")
sys.exit(1 if bad else 0)
END
