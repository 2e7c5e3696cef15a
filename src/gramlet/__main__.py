"""``python -m gramlet``: the same as the command ``gramlet``."""

import sys

from gramlet.cli import main

if __name__ == "__main__":
    sys.exit(main())
