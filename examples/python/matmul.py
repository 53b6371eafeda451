"""relu(a @ b + bias), summed in f32. python3 examples/python/matmul.py [TARGET…]"""
import numpy as np
from harness import run

import tessera as ts


@ts.func
def relu(x):
    return ts.maximum(x, 0)


@ts.kernel
def matmul(a: ts.Array[ts.f16, "M", "K"], b: ts.Array[ts.f16, "K", "N"], bias: ts.Array[ts.f32, "N"], c: ts.Array[ts.f32, "M", "N"],
           BM: ts.Constant = 32, BN: ts.Constant = 32, BK: ts.Constant = 16):
    i, j = ts.program_id(0), ts.program_id(1)
    total = ts.zeros((BM, BN))
    for k in range(ts.cdiv(a.shape[1], BK)):
        total = ts.mma(ts.load(a, (i, k), (BM, BK)), ts.load(b, (k, j), (BK, BN)), total)
    ts.store(c, (i, j), relu(total + ts.load(bias, j, BN)))


def case(rng, m=70, n=50, k=45):
    a, b = rng.standard_normal((m, k)).astype("f2"), rng.standard_normal((k, n)).astype("f2")
    bias = rng.standard_normal(n, dtype="f4")
    right = np.maximum(a.astype("f4") @ b.astype("f4") + bias, 0)
    return matmul[-(-m // 32), -(-n // 32)], (a, b, bias, np.zeros((m, n), "f4")), {3: right}


if __name__ == "__main__":
    run(case, atol=1e-4)
