"""rclpy.py - stands in for ROS 2's Python client: one process, topics by name, and a pendulum that
listens to the effort topic and publishes its joint's state at 200 Hz of its own clock. What was published is
written to the file in $ROS_LOG, a line a message."""
import math
import os
import threading
import time

from sensor_msgs.msg import JointState

_log = open(os.environ["ROS_LOG"], "a", buffering=1)
_listeners, _running = {}, threading.Event()


class _Publisher:
    def __init__(self, topic):
        self.topic = topic

    def publish(self, message):
        _log.write(f"{self.topic} {message.data}\n")
        for heard in _listeners.get(self.topic, []):
            heard(message)


class _Node:
    def create_publisher(self, kind, topic, depth):
        return _Publisher(topic)

    def create_subscription(self, kind, topic, heard, depth):
        _listeners.setdefault(topic, []).append(heard)
        return heard


def init():
    _running.set()


def shutdown():
    _running.clear()
    _log.write("shutdown\n")


def create_node(name):
    return _Node()


def spin(node):
    torque, theta, omega = [0.0], 0.02, 0.0
    _listeners.setdefault("/effort_controller/commands", []).append(
        lambda m: torque.__setitem__(0, m.data[0]))
    mute = float(os.environ.get("ROS_MUTE_AFTER", "inf")) + time.monotonic()
    while _running.is_set():
        for _ in range(5):
            omega += 1e-3 * (torque[0] - 0.02 * omega - 4.905 * math.sin(theta)) / 0.25
            theta += 1e-3 * omega
        if time.monotonic() < mute:
            for heard in _listeners.get("/joint_states", []):
                heard(JointState(["wheel", "hinge"], [0.0, theta]))
        time.sleep(0.005)
