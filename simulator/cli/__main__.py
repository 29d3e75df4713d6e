"""``python -m simulator.cli``: the command where no script is installed."""

from simulator.cli import main

if __name__ == "__main__":
    main()
