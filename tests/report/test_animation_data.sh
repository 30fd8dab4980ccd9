#!/usr/bin/env bash
# The animation's data is JSON, whatever a task writes on its drawing: quotes, entities, the end of a script.
set -eu
[ -x /usr/bin/python3 ] || { echo "skipped: no python3"; exit 77; }
rm -rf "$WORK"; mkdir -p "$WORK"; cd "$WORK"
label='say "a" & <b> \ </script> ä'
cat > drawn.yaml <<END
$(sed '/^draw:/,$d' "$SOURCE/tasks/pendulum.yaml")
draw:
  - text: {label: '$label', x: 0, y: sin(theta), color: 'a"b'}
END
"$MCPILCO" learn drawn.yaml --seed 1 --trials 1 --out run --quiet \
    --set optimise.particles=8 --set optimise.steps_first=2
"$MCPILCO" report run > /dev/null
/usr/bin/python3 - "$label" <<'END'
import html.parser
import json
import sys


class Data(html.parser.HTMLParser):
    text = None

    def handle_starttag(self, tag, attributes):
        if ("id", "animation-data") in attributes:
            self.text = ""

    def handle_data(self, data):
        if self.text == "":
            self.text = data


page = Data()
page.feed(open("run/report.html", encoding="utf-8").read())
shape = json.loads(page.text)["shapes"][0]
assert shape["text"] == sys.argv[1], f"FAIL the label became {shape['text']!r}"
assert shape["colour"] == 'a"b', f"FAIL the colour became {shape['colour']!r}"
print("ok   labels and colours arrive as they were written")
END
