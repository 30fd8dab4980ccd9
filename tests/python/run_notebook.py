"""run_notebook.py FILE - runs the code cells of a notebook one after the other in one name space, shows
the last value
of each as a notebook would, and leaves `_` and all names to the caller's checks (run_notebook.run)."""
import ast
import json
import sys


def run(path):
    names = {"__name__": "__main__"}
    shown = []
    with open(path, encoding="utf-8") as f:
        cells = json.load(f)["cells"]
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path, "eval"), names)
            show = getattr(value, "_repr_html_", None)
            shown.append(show() if show else repr(value))
    return names, shown


if __name__ == "__main__":
    print("\n".join(run(sys.argv[1])[1]))
