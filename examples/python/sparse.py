"""relu(a @ b + bias) for a matrix `a` in CSR format. python3 examples/python/sparse.py [TARGET…]"""
import numpy as np
from harness import run

import tessera as ts


@ts.kernel
def csr_matmul(starts: ts.Array[ts.i32, None], columns: ts.Array[ts.i32, "Z"], values: ts.Array[ts.f32, "Z"],
               b: ts.Array[ts.f32, "K", "N"], bias: ts.Array[ts.f32, "N"], c: ts.Array[ts.f32, "M", "N"], W: ts.Constant = 24):
    i, j = ts.program_id(0), ts.program_id(1)
    total = ts.load(bias, j, W)
    for p in range(starts[i], starts[i + 1]):
        total += values[p] * ts.load(b[columns[p]], j, W)
    ts.store(c[i], j, ts.maximum(total, 0))


def case(rng, m=21, k=30, n=50):
    a = rng.standard_normal((m, k), dtype="f4") * (rng.random((m, k)) < 0.2)
    b, bias = rng.standard_normal((k, n), dtype="f4"), rng.standard_normal(n, dtype="f4")
    starts, columns = np.append(0, (a != 0).sum(1).cumsum()).astype("i4"), a.nonzero()[1].astype("i4")
    arrays = starts, columns, a[a != 0], b, bias, np.zeros((m, n), "f4")
    return csr_matmul[m, -(-n // 24)], arrays, {5: np.maximum(a @ b + bias, 0)}


if __name__ == "__main__":
    run(case)
