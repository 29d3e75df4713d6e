"""Scores from stored run logs and the truth, never from agents: whether help was right, and whether it came in time."""
