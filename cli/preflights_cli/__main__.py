"""`python -m preflights_cli`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, by `-m`: nothing of a repository is imported

from preflights_cli.main import main

main()
