"""What Suma costs beside others, measured in one run on one machine: `make bench` (architecture.md 18).

The machine is noisy, so contenders take turns, repetition by repetition, on the same PostgreSQL, and only ratios count.
Rows that we lose are printed like the others.
"""
