"""``python -m simulator.cli``: the command where no script is installed."""

from simulator.cli import main

main()
