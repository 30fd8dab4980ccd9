#!/usr/bin/env python3
"""ros2_plant.py - a robot behind ROS 2 topics as a plant for mcpilco.

    ros2_plant.py --rate 50 --joint hinge --inputs u:N.m --measured theta:rad [--command /effort/commands]

Measurements come from sensor_msgs/JointState (--states, its positions, joints in the order of --joint),
commands go out as std_msgs/Float64MultiArray (--command). mcpilco keeps the protocol: plant: {exec: [...]}.
The driver keeps time: a step is answered one period after the one before, with the newest positions; when
they are older than --stale periods the trial ends. Silence of mcpilco in a trial, a lost pipe and the end of
the program publish zero (mcpilco_plant.py watches)."""
import argparse
import sys
import threading
import time

import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mcpilco_plant import serve


class RosPlant:
    def __init__(self, o):
        self.rate, self.inputs, self.measured = o.rate, o.inputs.split(","), o.measured.split(",")
        self.joints, self.stale = o.joint.split(","), o.stale / o.rate
        if len(self.joints) != len(self.measured):
            sys.exit("ros2_plant.py: --joint and --measured must name as many")
        self.positions, self.heard, self.lock = None, 0.0, threading.Lock()
        rclpy.init()
        self.node = rclpy.create_node("mcpilco_plant")
        self.publisher = self.node.create_publisher(Float64MultiArray, o.command, 1)
        self.subscription = self.node.create_subscription(JointState, o.states, self.on_state, 1)
        self.spinner = threading.Thread(target=rclpy.spin, args=(self.node,), daemon=True)
        self.spinner.start()

    def on_state(self, message):
        places = {name: i for i, name in enumerate(message.name)}
        if all(j in places for j in self.joints):
            with self.lock:
                self.positions = [float(message.position[places[j]]) for j in self.joints]
                self.heard = time.monotonic()

    def send(self, u):
        self.publisher.publish(Float64MultiArray(data=[float(v) for v in u]))

    def sample(self):
        with self.lock:
            positions, age = self.positions, time.monotonic() - self.heard
        if positions is None:
            raise ValueError("no JointState names all of " + ", ".join(self.joints))
        return positions if age <= self.stale else (positions, f"the last JointState is {age:.3f} s old")

    def reset(self, x0, seed, trial, run):
        self.send([0.0] * len(self.inputs))
        for _ in range(100):  # the robot starts where it is, once somebody tells where that is
            if self.positions is not None and time.monotonic() - self.heard <= self.stale:
                break
            time.sleep(0.01)
        self.tick = time.monotonic()
        return self.sample()

    def step(self, u):
        self.send(u)
        self.tick += 1.0 / self.rate
        time.sleep(max(self.tick - time.monotonic(), 0.0))
        return self.sample()

    def stop(self, u):
        self.send(u)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--joint", required=True, help="names in JointState, separated by commas")
    parser.add_argument("--inputs", required=True, help="name:unit, separated by commas")
    parser.add_argument("--measured", required=True, help="name:unit, separated by commas")
    parser.add_argument("--states", default="/joint_states")
    parser.add_argument("--command", default="/effort_controller/commands")
    parser.add_argument("--stale", type=float, default=3.0, help="periods")
    options, rest = parser.parse_known_args(argv)
    plant = RosPlant(options)
    try:
        serve(plant, rest)
    finally:
        plant.stop([0.0] * len(plant.inputs))
        rclpy.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
