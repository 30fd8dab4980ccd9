"""Tasks: from a file, from text or from a dict, with overrides."""
import ctypes
import json
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from ._binding import ArgumentError, call, lib, take_text, texts

# begins with a letter, a digit, a sign or a bracket and holds nothing that YAML would read as its own
_PLAIN = re.compile(r"^[A-Za-z0-9_.+(\-](?!.*(: | #|:$|\s$))[^\n]*$")
_IN_FLOW = re.compile(r"^[A-Za-z0-9_.+(\-][^,\[\]{}:#\n\"']*$")


def _scalar(value: Any, plain: "re.Pattern[str]") -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        text = str(value)
        return text if plain.match(text) and not text.startswith("- ") else json.dumps(text)
    raise ArgumentError(f"found {value!r} in a task, expected numbers, texts, lists and mappings")


def _flow(value: Any) -> str:
    """In one line, as after --set."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist") and getattr(value, "ndim", 0):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    return _scalar(value, _IN_FLOW)


def _block(value: Mapping, indent: int = 0) -> str:
    lines = []
    for key, item in value.items():
        head = " " * indent + f"{key}:"
        if isinstance(item, Mapping) and item:
            lines.append(head + "\n" + _block(item, indent + 2).rstrip("\n"))
        elif isinstance(item, (list, tuple)) or hasattr(item, "tolist") or isinstance(item, Mapping):
            lines.append(f"{head} {_flow(item)}")
        else:
            lines.append(f"{head} {_scalar(item, _PLAIN)}")
    return "\n".join(lines) + "\n"


def _overrides(given: Mapping, before: str = "") -> List[str]:
    """{"optimise": {"particles": 100}} and {"optimise.particles": 100} -> ["optimise.particles=100"]."""
    out: List[str] = []
    for key, value in given.items():
        name = before + str(key).replace("__", ".")
        if isinstance(value, Mapping) and value and not before:
            out += _overrides(value, name + ".")
        elif isinstance(value, str):
            out.append(f"{name}={value}")
        else:
            out.append(f"{name}={_flow(value)}")
    return out


class Task:
    """A robot, what is measured, how it is observed, what is wanted.

    >>> task = mcpilco.Task("cartpole.yaml", optimise={"particles": 100}, observer__lowpass=0.3)
    >>> task = mcpilco.Task({"name": "spring", "rate": 50, ...})        # the same keys as a dict
    >>> task = mcpilco.Task.parse("name: spring\\nrate: 50\\n...")

    A mistake raises TaskError with file, line and what to write instead. A dict without a plant expects one
    from learn(plant=...).
    """

    def __init__(
        self,
        source: Union[str, "os.PathLike[str]", Mapping[str, Any]],
        set: Optional[Mapping[str, Any]] = None,
        **overrides: Any,
    ):
        self.overrides: List[str] = _overrides({**(set or {}), **overrides})
        if isinstance(source, Mapping):
            whole = {**source}
            whole.setdefault("plant", {"callback": True})
            self._read("task", _block(whole))
        else:
            self._read(os.fspath(source), None)

    @classmethod
    def parse(cls, text: str, name: str = "task.yaml", **overrides: Any) -> "Task":
        """From YAML text; name stands for the file in messages and as base of relative paths."""
        task = cls.__new__(cls)
        task.overrides = _overrides(overrides)
        task._read(name, text)
        return task

    def _read(self, name: str, text: Optional[str]) -> None:
        self._handle = ctypes.c_void_p()
        self.file = name
        count, items = len(self.overrides), texts(self.overrides)
        if text is None:
            call("mcp_task_load", ctypes.byref(self._handle), os.fsencode(name), items, count)
        else:
            call(
                "mcp_task_parse", ctypes.byref(self._handle), os.fsencode(name), text.encode(), items, count
            )
        address = ctypes.c_void_p()
        call("mcp_task_dump", self._handle, ctypes.byref(address))
        #: every setting with its value, defaults included
        self.settings: Dict[str, Any] = json.loads(take_text(address))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.mcp_task_free(self._handle)
            self._handle = None

    @property
    def name(self) -> str:
        return self.settings["name"]

    @property
    def title(self) -> str:
        return self.settings.get("title", self.name)

    @property
    def rate(self) -> float:
        """Samples per second."""
        return self.settings["rate"]

    @property
    def steps(self) -> int:
        """Control steps of a trial."""
        return round(self.settings["trial"] * self.rate)

    @property
    def trials(self) -> int:
        """Policy trials that the task asks for."""
        return int(self.settings["trials"])

    @property
    def states(self) -> List[str]:
        return list(self.settings["state"])

    @property
    def inputs(self) -> List[str]:
        return list(self.settings["inputs"])

    @property
    def measured(self) -> List[str]:
        return list(self.settings["measured"])

    @property
    def limits(self) -> List[float]:
        """The largest magnitude of each input."""
        return [max(abs(low), abs(high)) for low, high in self.ranges]

    @property
    def ranges(self) -> List[Tuple[float, float]]:
        """The lowest and the highest value of each input."""
        limits = [row["limit"] for row in self.settings["inputs"].values()]
        return [tuple(v) if isinstance(v, list) else (-v, v) for v in limits]

    @property
    def angles(self) -> List[int]:
        """Indices of the states that are angles."""
        rows = self.settings["state"]
        return [i for i, n in enumerate(rows) if isinstance(rows, dict) and rows[n].get("angle")]

    def __repr__(self) -> str:
        return (
            f"<mcpilco.Task {self.name}: states {', '.join(self.states)}; measured "
            f"{', '.join(self.measured)}; inputs {', '.join(self.inputs)}; {self.rate:g} Hz>"
        )


def find(name: str) -> Path:
    """The path of a task that is installed with mcpilco, e.g. find("cartpole.yaml")."""
    here = Path(__file__).resolve().parent
    for folder in (
        here / "tasks",
        here.parents[1] / "tasks",
        Path("/usr/share/mcpilco/tasks"),
        Path("/usr/local/share/mcpilco/tasks"),
    ):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(
        f"{name} is not among the installed tasks; give the path of your own file to Task"
    )
