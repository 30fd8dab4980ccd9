"""How far learning is: a line in the terminal, a bar in a notebook, nothing where nobody looks."""
import html
import math
import sys
import time
from typing import Any, Optional, TextIO


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    kernel = shell.get_ipython() if shell else None
    return kernel is not None and type(kernel).__name__ == "ZMQInteractiveShell"


def _words(phase: str, p: Any, trials: int) -> str:
    where = f"exploration {p.trial}" if phase == "explore" else f"trial {p.trial} of {trials}"
    cost = f", cost {p.cost:.3g}" if phase == "optimise" and math.isfinite(p.cost) else ""
    steps = f" {p.step}/{p.steps}" if p.steps > 1 else ""
    return f"{where}: {phase}{steps}{cost}"


class Progress:
    """Shows at most ten times a second."""

    def __init__(self, trials: int, out: Optional[TextIO] = None):
        self.trials, self.out = trials, out or sys.stderr
        self.notebook, self.live = _in_notebook(), self.out.isatty()
        self.shown, self.display, self.width = 0.0, None, 0
        if self.notebook:
            from IPython.display import HTML, display

            self._html = HTML
            self.display = display(HTML(""), display_id=True)

    def show(self, phase: str, p: Any) -> None:
        now = time.monotonic()
        if now - self.shown < 0.1 or not (self.notebook or self.live):
            return
        self.shown = now
        share = p.step / p.steps if p.steps > 0 else 0.0
        text = _words(phase, p, self.trials)
        if self.notebook:
            self.display.update(
                self._html(
                    f'<progress value="{share:.3f}" max="1" style="width:16em"></progress> '
                    f"{html.escape(text)}"
                )
            )
        else:
            bar = "#" * int(20 * share)
            self._line(f"[{bar:<20}] {text}")

    def _line(self, text: str) -> None:
        self.out.write("\r" + text + " " * max(self.width - len(text), 0))
        self.out.flush()
        self.width = len(text)

    def trial(self, text: str) -> None:
        """One line that stays."""
        if self.notebook:
            print(text)
            return
        if self.live:
            self._line(text)
            self.width = 0
            self.out.write("\n")
        else:
            self.out.write(text + "\n")
        self.out.flush()

    def close(self) -> None:
        if self.notebook:
            self.display.update(self._html(""))
        elif self.live and self.width:
            self._line("")
            self.out.write("\r")
            self.out.flush()
