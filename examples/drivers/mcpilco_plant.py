"""mcpilco_plant.py - the plant's end of the line protocol (docs/plant-protocol.md), standard library only.

Write a class with these members and call serve(it):

    rate      = 30                              # Hz
    inputs    = ["u:N"]                         # name or name:unit
    measured  = ["p:m", "theta:rad"]            # what your sensors give; leave it out when truth is enough
    truth     = ["p:m", "dp:m/s", ...]          # a simulation may tell its state; without measured, mcpilco
                                                # adds the sensors
    def reset(self, x0, seed, trial, run): ...  # -> values: measured, then truth
    def step(self, u): ...                      # hold u for one period -> values, or
                                                # (values, "why the trial ends")
    def stop(self, u): ...                      # end of trial: apply the safe input u

The program then answers on its standard input and output, or with --tcp PORT or --udp PORT on this machine's
loopback.
"""
import argparse
import select
import socket
import sys
import time

VERSION = 1


class Session:
    """Turns one line into its answer; knows nothing about wires."""

    def __init__(self, plant):
        self.plant = plant
        self.seq, self.last, self.u = 0, "", []
        self.running, self.watchdog, self.heard = False, 0.0, 0.0

    def values(self, outcome):
        reason = None
        if isinstance(outcome, tuple):
            outcome, reason = outcome
        numbers = " ".join(repr(float(v)) for v in outcome)  # repr gives back the same bits
        self.running = reason is None
        word = "data" if reason is None else "end"
        return f"{word} {self.seq} {self.time!r} {numbers}" + ("" if reason is None else f" {reason}")

    def hello(self, words):
        p = self.plant
        if words[1:2] != [str(VERSION)]:
            return f"error this plant speaks version {VERSION} of the protocol"
        for w in words[2:]:
            if w.startswith("watchdog="):
                self.watchdog = float(w[9:])
        self.seq, self.running = 0, False
        lists = [("inputs", p.inputs), ("measured", getattr(p, "measured", [])),
                 ("truth", getattr(p, "truth", []))]
        words = [f"hello {VERSION} rate={float(p.rate)!r} acks=apply"]
        return " ".join(words + [f"{k}={','.join(v)}" for k, v in lists if v])

    def advance(self):
        if not self.running:
            return "error no trial is running: reset first"
        self.sample += 1
        self.time = self.sample * (1.0 / self.plant.rate)
        return self.values(self.plant.step(self.u))

    def answer(self, line):
        """Returns the answer, "" for none, or None when the session is over."""
        words = line.split()
        self.heard = time.monotonic()
        if not words:
            return ""
        if words[0] == "bye":
            self.halt()
            return None
        if words[0] == "hello":
            return self.hello(words)
        try:
            seq = int(words[1])
            if seq < self.seq:
                return ""
            if seq == self.seq:
                return self.last  # asked again: the same answer, and nothing moves
            self.seq = seq
            self.last = self.act(words[0], words[2:])
        except (ValueError, IndexError) as e:
            self.running = False
            self.last = f"error cannot read \"{line[:60]}\": {e}"
        return self.last

    def act(self, word, rest):
        n = len(self.plant.inputs)
        if word in ("step", "apply", "stop"):
            self.u = [float(v) for v in rest]
            if len(self.u) != n or any(v - v != 0 for v in self.u):
                self.running = False
                return "error expected one finite number for each input"
        if word == "reset":
            self.sample, self.time = 0, 0.0
            start, seeds = [float(v) for v in rest[3:]], [int(v) for v in rest[:3]]
            return self.values(self.plant.reset(start, *seeds))
        if word in ("step", "read"):
            return self.advance()
        if word == "apply":
            apply = getattr(self.plant, "apply", None)
            if apply:
                apply(self.u)
            return f"applied {self.seq}"
        if word == "stop":
            self.running = False
            self.plant.stop(self.u)
            return f"stopped {self.seq}"
        return "error expected hello, reset, step, apply, read, stop or bye"

    def halt(self):
        """The other end is gone or silent in the middle of a trial: zero input."""
        if self.running:
            self.running = False
            self.plant.stop([0.0] * len(self.plant.inputs))

    def silent(self):
        if self.running and self.watchdog > 0 and time.monotonic() - self.heard > self.watchdog:
            self.halt()


def serve_stream(session, read_fd, write):
    """Until bye, or until the other end is gone: then the plant is halted, whatever was going on."""
    try:
        answer_stream(session, read_fd, write)
    except OSError:
        pass
    finally:
        session.halt()


def answer_stream(session, read_fd, write):
    pending = b""
    while True:
        ready, _, _ = select.select([read_fd], [], [], 0.05)
        if not ready:
            session.silent()
            continue
        data = read_fd.recv(65536) if isinstance(read_fd, socket.socket) else read_fd.read1(65536)
        if not data:
            return
        pending += data
        while b"\n" in pending:
            line, pending = pending.split(b"\n", 1)
            answer = session.answer(line.decode("ascii", "replace"))
            if answer is None:
                return
            if answer:
                write((answer + "\n").encode())


def serve_udp(session, sock):
    while True:
        ready, _, _ = select.select([sock], [], [], 0.05)
        if not ready:
            session.silent()
            continue
        data, peer = sock.recvfrom(65536)
        for line in data.decode("ascii", "replace").splitlines():
            answer = session.answer(line)
            if answer:
                sock.sendto((answer + "\n").encode(), peer)


def serve(plant, argv=None):
    parser = argparse.ArgumentParser(description="a plant for mcpilco")
    parser.add_argument("--tcp", type=int, metavar="PORT",
                        help="answer on this TCP port of the loopback address; 0: any")
    parser.add_argument("--udp", type=int, metavar="PORT", help="answer on this UDP port")
    options = parser.parse_args(argv)
    if options.udp is not None:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", options.udp))
        print("listening on 127.0.0.1:%d" % sock.getsockname()[1], flush=True)
        serve_udp(Session(plant), sock)
    elif options.tcp is not None:
        listener = socket.create_server(("127.0.0.1", options.tcp))
        print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
        while True:
            sock, _ = listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            serve_stream(Session(plant), sock, sock.sendall)
            sock.close()
    else:
        def write(data):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        serve_stream(Session(plant), sys.stdin.buffer, write)
