"""hostile_plant.py - a mass on a spring at the end of any wire, writes down what it is told and misbehaves.

    hostile_plant.py LOG [--wire exec|tcp|udp|serial:DEVICE] [--do WHAT@STEP] [--seed S]
                     [--slow SECONDS] [--lose N]

LOG gets one line per event: "pid N", "reset", "step N u", "apply N u", "stop u", "bye", "closed", "watchdog"
(nothing was heard for the agreed time: the plant stopped itself). WHAT is a name in ACTS, or "random": acts
drawn from the seed.
"""
import argparse
import os
import random
import select
import signal
import socket
import sys
import time
import tty

RATE = 50.0


class Closed(Exception):
    pass


class Wire:
    """Lines of bytes over whatever carries them."""

    def __init__(self, kind):
        self.kind, self.peer, self.pending = kind, None, b""
        if kind in ("tcp", "udp"):
            stream = socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM
            self.door = socket.socket(socket.AF_INET, stream)
            self.door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.door.bind(("127.0.0.1", 0))
            if kind == "tcp":
                self.door.listen(4)
            print("listening on 127.0.0.1:%d" % self.door.getsockname()[1], flush=True)
        self.open()

    def open(self):
        self.pending = b""
        if self.kind == "exec":
            self.fd, self.out = 0, 1
        elif self.kind == "tcp":
            self.sock, _ = self.door.accept()
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.fd = self.out = self.sock.fileno()
        elif self.kind == "udp":
            self.fd = self.out = self.door.fileno()
        else:
            self.fd = self.out = os.open(self.kind[7:], os.O_RDWR | os.O_NOCTTY)
            tty.setraw(self.fd)

    def close(self):
        if self.kind == "tcp":
            self.sock.close()
        elif self.kind == "exec":
            os.close(0)
            os.close(1)

    def read(self, seconds):
        """Bytes, b"" when the time is over; raises Closed."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return b""
        try:
            if self.kind == "udp":
                data, self.peer = self.door.recvfrom(65536)
                return data
            data = os.read(self.fd, 65536)
        except OSError as e:
            raise Closed from e
        if not data:
            raise Closed
        return data

    def write(self, data):
        try:
            if self.kind == "udp":
                self.door.sendto(data[:60000], self.peer)
            else:
                while data:
                    data = data[os.write(self.out, data):]
        except OSError as e:
            raise Closed from e


def answer(p, text):
    p.wire.write(text.encode() + b"\n")


def values(p, q=None, extra=""):
    return "data %d %.17g %s %.17g%s" % (p.number, p.time, "%.17g" % p.q if q is None else q, p.v, extra)


def garbage(p):
    p.wire.write(bytes(p.random.randrange(256) for _ in range(p.random.randrange(1, 400))) + b"\n")


def leave(p):
    p.wire.close()
    raise Closed


def die(p):
    os.kill(os.getpid(), signal.SIGKILL)


def silence(p):
    p.silent = True


def deaf(p):
    time.sleep(3)


def flood(p):
    for _ in range(200):
        answer(p, "data 1 0 0 0")
    answer(p, values(p))


def byte_by_byte(p):
    for c in (values(p) + "\n").encode() if p.wire.kind != "udp" else ():
        p.wire.write(bytes([c]))
    if p.wire.kind == "udp":
        answer(p, values(p))


ACTS = {
    "nothing": lambda p: answer(p, values(p)),
    "silence": silence,
    "deaf": deaf,
    "wait": lambda p: (answer(p, "wait 60 homing"), silence(p)),
    "wait_nan": lambda p: (answer(p, "wait nan"), silence(p)),
    "wait_huge": lambda p: (answer(p, "wait 1e300"), silence(p)),
    "wait_negative": lambda p: (answer(p, "wait -1"), silence(p)),
    "nan": lambda p: answer(p, values(p, "nan")),
    "infinite": lambda p: answer(p, values(p, "-inf")),
    "huge": lambda p: answer(p, values(p, p.random.choice(["1e308", "-1e308", "1e200", "1e30", "1e9"]))),
    "hex": lambda p: answer(p, values(p, "0x1p3")),
    "word": lambda p: answer(p, values(p, "up")),
    "empty": lambda p: answer(p, ""),
    "short": lambda p: answer(p, "data %d %.17g" % (p.number, p.time)),
    "surplus": lambda p: answer(p, values(p, extra=" 1 2 3")),
    "future": lambda p: answer(p, "data %d %.17g 0 0" % (p.number + 7, p.time)),
    "late": lambda p: answer(p, "data %d %.17g 0 0" % (max(p.number - 1, 0), p.time)),
    "overflow": lambda p: answer(p, "data 99999999999999999999999 %.17g 0 0" % p.time),
    "negative": lambda p: answer(p, "data -%d %.17g 0 0" % (p.number, p.time)),
    "jump": lambda p: answer(p, "data %d %.17g %.17g %.17g" % (p.number, p.time + 10, p.q, p.v)),
    "back": lambda p: answer(p, "data %d -1 %.17g %.17g" % (p.number, p.q, p.v)),
    "hello": lambda p: answer(p, "hello 1 rate=50 inputs=u truth=q,v"),
    "stopped": lambda p: answer(p, "stopped %d" % p.number),
    "error": lambda p: answer(p, "error the motor is hot"),
    "escape": lambda p: answer(p, "error \x1b]0;owned\x07\x1b[2J \x9b31m \u202e"),
    "format": lambda p: answer(p, "error %s%n%s%999999d"),
    "end": lambda p: answer(p, "end %d %.17g %.17g %.17g end switch" % (p.number, p.time, p.q, p.v)),
    "end_escape": lambda p: answer(p, "end %d %.17g %.17g %.17g \x1b[31m<script>alert(1)</script>" %
                                   (p.number, p.time, p.q, p.v)),
    "twice": lambda p: (answer(p, values(p)), answer(p, values(p))),
    "parts": byte_by_byte,
    "garbage": garbage,
    "nul": lambda p: p.wire.write(b"data \0\0\0\n"),
    "endless": lambda p: p.wire.write(b"data " + b"9" * 70000),
    "flood": flood,
    "leave": leave,
    "die": die,
}


class Plant:
    def __init__(self, options):
        self.log = open(options.log, "a", buffering=1, encoding="utf-8")
        self.note("pid %d" % os.getpid())
        self.random = random.Random(options.seed)
        self.what, _, at = options.do.partition("@")
        self.at, self.slow, self.lose = int(at or 20), options.slow, options.lose
        self.running = self.silent = False
        self.number = self.steps = self.sample = 0
        self.watchdog, self.heard, self.u = 1.0, time.monotonic(), 0.0
        self.wire = Wire(options.wire)

    def note(self, text):
        self.log.write(text + "\n")

    def act(self):
        """The answer to a question that wants a sample."""
        name = "nothing"
        if self.what == "random":
            if self.random.random() < 0.02:
                name = self.random.choice([n for n in ACTS if n not in ("die", "deaf")])
        elif self.steps == self.at:
            name = self.what
        if not self.silent:
            ACTS[name](self)

    def line(self, text):
        words = text.split()
        self.heard = time.monotonic()
        if not words:
            return
        if words[0] == "hello":
            for w in words:
                if w.startswith("watchdog="):
                    self.watchdog = float(w[9:])
            self.number, self.silent = 0, False
            answer(self, "hello 1 rate=%.17g acks=apply inputs=u truth=q,v" % RATE)
        elif words[0] == "bye":
            self.note("bye")
            self.running = False
        elif int(words[1]) > self.number:
            self.number = int(words[1])
            self.command(words)

    def command(self, words):
        if words[0] == "apply" and self.lose and (self.steps + 1) % self.lose == 0:
            self.note("lost %d %s" % (self.steps + 1, words[2]))
            return
        if words[0] == "reset":
            self.note("reset")
            self.running, self.sample, self.time = True, 0, 0.0
            self.q, self.v = (float(x) for x in words[5:7])
            self.act()
            return
        if words[0] != "read":
            self.u = float(words[2])
            self.note("%s %s" % (words[0], words[2]) if words[0] == "stop" else
                      "%s %d %s" % (words[0], self.steps + 1, words[2]))
        if words[0] == "apply":
            answer(self, "applied %d" % self.number)
        if words[0] == "stop":
            self.running = False
            if not self.silent:
                answer(self, "stopped %d" % self.number)
        elif words[0] in ("step", "read"):
            self.steps, self.sample = self.steps + 1, self.sample + 1
            self.time = self.sample / RATE
            time.sleep(self.slow)
            for _ in range(10):
                self.v += 0.002 * (self.u - 4 * self.q - 0.1 * self.v)
                self.q += 0.002 * self.v
            self.act()

    def serve(self):
        while True:
            data = self.wire.read(0.02)
            if not data and self.running and time.monotonic() - self.heard > self.watchdog:
                self.note("watchdog")
                self.running = False
            self.wire.pending += data
            while b"\n" in self.wire.pending:
                line, self.wire.pending = self.wire.pending.split(b"\n", 1)
                self.line(line.decode("utf-8", "replace"))

    def run(self):
        while True:
            try:
                self.serve()
            except Closed:
                self.note("closed" if not self.running else "closed: stopped itself")
                self.running = self.silent = False
            if self.wire.kind != "tcp":
                return
            self.wire.open()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--wire", default="exec")
    parser.add_argument("--do", default="nothing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--lose", type=int, default=0, help="every N-th apply does not arrive")
    Plant(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
