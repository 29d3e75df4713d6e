"""Scripts that make the recorded scenarios: real applications on an X display of their own, our recorder, and truth.

Each module holds one script with what it shows of needs side by side; ``desk``, ``hands`` and ``web`` are what the
scripts play on, ``take`` makes a scenario's files of it. ``python -m scenarios.record NAME|all``.
"""
