"""relu(a @ b + bias) for a sparse matrix `a` in CSR format. python3 examples/python/sparse.py [TARGET…]"""
import numpy as np
from harness import run
from scipy.sparse import csr_array

import tessera as ts


@ts.kernel
def csr_matmul(a: ts.Sparse[ts.f32, "csr", "M", "K"], b: ts.Array[ts.f32, "K", "N"], bias: ts.Array[ts.f32, "N"],
               c: ts.Array[ts.f32, "M", "N"], W: ts.Constant = 24):
    i, j = ts.program_id(0), ts.program_id(1)
    total = ts.load(bias, j, W)
    for p in range(a.positions[i], a.positions[i + 1]):
        total += a.values[p] * ts.load(b[a.coordinates[p]], j, W)
    ts.store(c[i], j, ts.maximum(total, 0))


def case(rng, m=21, k=30, n=50):
    a = csr_array(rng.standard_normal((m, k), dtype="f4") * (rng.random((m, k)) < 0.2))
    b, bias = rng.standard_normal((k, n), dtype="f4"), rng.standard_normal(n, dtype="f4")
    arrays = a, b, bias, np.zeros((m, n), "f4")
    return csr_matmul[m, -(-n // 24)], arrays, {3: np.maximum(a @ b + bias, 0)}


if __name__ == "__main__":
    run(case)
