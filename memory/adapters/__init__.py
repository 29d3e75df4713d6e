"""Memories of other projects, each behind the four methods of ours: ``mem0``, ``letta``, ``graphiti``, and ``http`` for
whatever answers a small protocol, in any language. docs/memory-adapters.md is the guide.
"""
