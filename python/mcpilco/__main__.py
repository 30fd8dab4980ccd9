"""python3 -m mcpilco: the command, for where it is not on the PATH."""
import os
import sys

from ._runs import command


def main() -> None:
    path = command()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
