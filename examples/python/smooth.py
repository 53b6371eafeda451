"""Smooths each row: tiles of 5 x 15 that overlap, and slices of them. python3 examples/python/smooth.py [TARGET…]

No size here is a power of two, and parts of a tile are taken by slices.
"""
import numpy as np
from harness import run

import tessera as ts


@ts.kernel
def smooth(x: ts.Array[ts.f32, "M", None], y: ts.Array[ts.f32, "M", "N"]):
    i, j = ts.program_id(0), ts.program_id(1)
    v = ts.load(x, (i, j), (5, 15), step=(5, 13))  # 13 columns, and one more on both sides
    ts.store(y, (i, j), (v[:, :-2] + 2 * v[:, 1:-1] + v[:, 2:]) / 4)


def case(rng, m=23, n=101):
    x = rng.standard_normal((m, n + 2), dtype="f4")
    right = (x[:, :-2] + 2 * x[:, 1:-1] + x[:, 2:]) / 4
    return smooth[-(-m // 5), -(-n // 13)], (x, np.zeros((m, n), "f4")), {1: right}


if __name__ == "__main__":
    run(case)
