"""The figures that reports lead with, by protocol, in order."""

from __future__ import annotations

__all__ = ["HEADLINES", "OF_THE_TRUTH"]

HEADLINES = {
    "stream": ("F1_rt", "timely_utility", "timely_utility@ceiling", "unwanted_per_hour", "interruptions_per_hour",
               "scheduled_latency@p95", "P_rt", "R_rt", "F1_seen", "F1_instant", "deadline_attainment@5", "lead_s",
               "S_rt", "restraint", "age_of_information", "coverage"),
    "moments": ("accuracy", "precision", "recall", "F1", "trigger_rate", "intention_accuracy", "semantic_similarity",
                "scheduled_latency@p95"),
    "trajectory": ("S_final", "F1_avg", "FPS_norm", "P", "R", "FPS", "scheduled_latency@p95"),
}  # fmt: skip
OF_THE_TRUTH = ("timely_utility@ceiling",)
"""Of these no run is better than another: they stand beside a figure to say what it could be."""
