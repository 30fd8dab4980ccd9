#!/usr/bin/env python3
"""can_plant.py - motor boards on a CAN bus (Linux SocketCAN, standard library only) as a plant for mcpilco.

    can_plant.py --bus can0 --node 1 --rate 100 --inputs u:A --measured theta:rad --scale 1000 --counts 4096

The frames of the board, to be changed to those of yours (8 bytes, little-endian):
    0x200 + node   to the board     int16 command (1/scale), uint8 enable, uint8 counter
    0x180 + node   from the board   int32 encoder counts, int16 current, uint8 counter, uint8 fault
A command is answered by a frame with the same counter. A board that hears nothing must switch off by itself.
Several boards: --node 1,2 with as many inputs and channels. Silence of mcpilco in a trial, a lost pipe and
the end of the program send enable = 0 (mcpilco_plant.py watches)."""
import argparse
import contextlib
import math
import socket
import struct
import sys
import time

from mcpilco_plant import serve

FRAME = struct.Struct("=IB3x8s")  # SocketCAN's struct can_frame: identifier, length, data


class CanBus:
    def __init__(self, name):
        self.socket = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
        self.socket.bind((name,))

    def send(self, identifier, data):
        self.socket.send(FRAME.pack(identifier, len(data), data))

    def receive(self, seconds):
        self.socket.settimeout(max(seconds, 1e-3))
        try:
            identifier, length, data = FRAME.unpack(self.socket.recv(FRAME.size))
            return identifier & 0x7FF, data[:length]
        except socket.timeout:
            return 0, b""


class CanPlant:
    def __init__(self, bus, o):
        self.bus, self.rate, self.scale, self.counts, self.counter = bus, o.rate, o.scale, o.counts, 0
        self.inputs, self.measured = o.inputs.split(","), o.measured.split(",")
        self.nodes = [int(n) for n in o.node.split(",")]

    def exchange(self, u, enable):
        """One command to every board; returns their angles."""
        self.counter = (self.counter + 1) % 256
        for node, value in zip(self.nodes, u):
            command = min(max(round(value * self.scale), -32768), 32767)
            self.bus.send(0x200 + node, struct.pack("<hBB4x", command, enable, self.counter))
        angles, until = {}, time.monotonic() + 0.5 / self.rate
        while len(angles) < len(self.nodes) and time.monotonic() < until:
            identifier, data = self.bus.receive(until - time.monotonic())
            node = identifier - 0x180
            if node not in self.nodes or len(data) != 8:
                continue
            counts, _, counter, fault = struct.unpack("<ihBB", data)
            if fault:
                raise ValueError(f"board {node} reports fault {fault}")
            angles.update({node: 2.0 * math.pi * counts / self.counts} if counter == self.counter else {})
        if len(angles) < len(self.nodes):
            raise ValueError(f"no answer from board {min(n for n in self.nodes if n not in angles)}")
        return [angles[n] for n in self.nodes]

    def reset(self, x0, seed, trial, run):
        self.tick = time.monotonic()
        return self.exchange([0.0] * len(self.nodes), 1)

    def step(self, u):
        self.exchange(u, 1)
        self.tick += 1.0 / self.rate
        time.sleep(max(self.tick - time.monotonic(), 0.0))
        return self.exchange(u, 1)  # the angle at the end of the period

    def stop(self, u):
        with contextlib.suppress(ValueError):  # a board that is gone cannot be told; the others were
            self.exchange(u, 1 if any(u) else 0)


def main(argv, open_bus=CanBus):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bus", default="can0")
    for name, kind in (("--node", str), ("--inputs", str), ("--measured", str), ("--rate", float)):
        parser.add_argument(name, type=kind, required=True)
    for name, standard in (("--scale", 1000.0), ("--counts", 4096.0)):
        parser.add_argument(name, type=float, default=standard)
    options, rest = parser.parse_known_args(argv)
    plant = CanPlant(open_bus(options.bus), options)
    try:
        serve(plant, rest)
    finally:
        plant.stop([0.0] * len(plant.nodes))


if __name__ == "__main__":
    main(sys.argv[1:])
