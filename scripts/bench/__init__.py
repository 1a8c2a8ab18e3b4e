"""The benchmark: what tokpos costs beside the cheapest thing possible and beside other libraries.

    python -m scripts.bench [--row NAME ...] [--check] [--keep] [--json FILE]

`rows_*.py` hold what is measured, one function a row; `measure.py` how; `peers.py` how other
libraries are called; `growth.py` the curves against S, V and H.
"""
