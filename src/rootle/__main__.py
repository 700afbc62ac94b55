"""Entry point of `python -m rootle`."""

import os
import sys


def _is_current_folder(path: str) -> bool:
    try:
        return path == os.getcwd()
    except OSError:  # the current folder was deleted
        return False


if __name__ == "__main__":
    # `python -m` adds the current folder to the import path, which worker processes share. The
    # current folder may be an untrusted repository. `python -P -m` does not add it.
    if not sys.flags.safe_path and _is_current_folder(sys.path[0]):
        del sys.path[0]
    from rootle.cli.main import entry

    entry()
