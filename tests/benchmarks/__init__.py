"""Costs, measured and printed; nothing here fails on a slow machine. Run as ``python -m tests.benchmarks.<name>``."""
