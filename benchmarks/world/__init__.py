"""Public libraries of differential privacy, unmodified, and what liptest says of them.

``python -m benchmarks.world`` makes an environment for each pinned version (uv), runs every row in
it in a process of its own, keeps the answers in ``results.jsonl`` and writes
``docs/scoreboard.md``. What is there already is not run again.
"""
