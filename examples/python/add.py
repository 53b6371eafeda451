"""Adds two vectors. python3 examples/python/add.py [TARGET…]"""
import numpy as np
from harness import run

import tessera as ts


@ts.kernel
def add(x: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "N"], z: ts.Array[ts.f32, "N"], BLOCK: ts.Constant = 256):
    i = ts.program_id(0)
    ts.store(z, i, ts.load(x, i, BLOCK) + ts.load(y, i, BLOCK))  # what lies outside is neither read nor written


def case(rng, n=1000):
    x, y = (rng.standard_normal(n, dtype="f4") for _ in range(2))
    return add[-(-n // 256)], (x, y, np.zeros(n, "f4")), {2: x + y}


if __name__ == "__main__":
    run(case)
