"""talkative_plant.py LOG LINE... - answers as a plant should up to the tenth step, then sends the lines
without end and reads nothing any more. "-": it goes on as it should. LOG gets every line that was heard."""
import os
import sys

LOG, LINES = sys.argv[1], "".join(line + "\n" for line in sys.argv[2:]).encode() * 200


def say(data):
    while data:
        data = data[os.write(1, data):]


def main():
    heard, pending, sample = open(LOG, "a", buffering=1, encoding="utf-8"), b"", 0
    while True:
        more = os.read(0, 65536)
        if not more:
            return
        pending += more
        while b"\n" in pending:
            line, pending = pending.split(b"\n", 1)
            heard.write(line.decode() + "\n")
            word, number = (line.decode().split() + ["0"])[:2]
            sample = 0 if word == "reset" else sample + 1
            if word == "hello":
                say(b"hello 1 rate=50 inputs=u measured=q\n")
            elif word == "stop":
                say(b"stopped %d\n" % int(number))
            elif word != "bye":
                while sample == 10 and sys.argv[2] != "-":
                    say(LINES)
                say(b"data %d %.17g 0.1\n" % (int(number), sample / 50))


try:
    main()
except OSError:
    pass
