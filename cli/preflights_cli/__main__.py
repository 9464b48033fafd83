"""`python -m preflights_cli`."""

from preflights_cli.main import main

main()
