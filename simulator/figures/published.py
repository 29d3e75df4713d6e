"""What ProAgentBench (arXiv 2602.04482 v2) publishes of its own data, for drawing beside other data, marked as such."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["BURSTINESS", "BURSTINESS_OF_MODELS", "EXPONENT", "INTENTION_COUNTS", "NAME"]

NAME = "published, other data"
BURSTINESS, BURSTINESS_OF_MODELS, EXPONENT = 0.787, 0.166, 1.50
INTENTION_COUNTS: Mapping[str, int] = {  # Table 4
    "Information Lookup": 2535, "Knowledge Q&A": 1475, "Data Analysis": 662, "Coding/Programming": 630,
    "Content Generation": 501, "Advice/Consultation": 378, "Summarization": 342, "Document Editing": 237,
    "Comparison/Evaluation": 157, "Translation": 92, "Creative Design": 84, "Format Conversion": 57,
    "Mathematical Calculation": 29, "Uncategorized": 40, "Functional Testing": 2, "Error Correction": 1,
}  # fmt: skip
