"""`python -m rootle`."""

from rootle.cli.main import entry

if __name__ == "__main__":
    entry()
