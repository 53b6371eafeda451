"""Softmax of each row, read once. python3 examples/python/softmax.py [TARGET…]"""
import numpy as np
from harness import run

import tessera as ts


@ts.kernel
def softmax(x: ts.Array[ts.f32, "M", "N"], y: ts.Array[ts.f32, "M", "N"], W: ts.Constant):
    i = ts.program_id(0)
    v = ts.load(x, (i, 0), (1, W), pad="neg_inf")  # exp(-inf) adds nothing
    e = ts.exp(v - ts.max(v, axis=1, keepdims=True))
    ts.store(y, (i, 0), e / ts.sum(e, axis=1, keepdims=True))


def case(rng, m=37, n=433):
    x = rng.standard_normal((m, n), dtype="f4")
    e = np.exp(x - x.max(1, keepdims=True))
    return softmax[m], (x, np.zeros_like(x)), {1: e / e.sum(1, keepdims=True)}, {"W": n}


if __name__ == "__main__":
    run(case)
