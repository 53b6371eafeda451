"""Causal attention in one pass over the keys (FlashAttention). python3 examples/python/attention.py [TARGET…]"""
import math

import numpy as np
from harness import run

import tessera as ts


@ts.kernel
def attention(q: ts.Array[ts.f32, "H", "N", "D"], k: ts.Array[ts.f32, "H", "N", "D"], v: ts.Array[ts.f32, "H", "N", "D"],
              o: ts.Array[ts.f32, "H", "N", "D"], D: ts.Constant, BM: ts.Constant = 32, BN: ts.Constant = 32):
    i, h = ts.program_id(0), ts.program_id(1)
    query = ts.load(q[h], (i, 0), (BM, D)) * (1 / math.sqrt(D))
    rows = i * BM + ts.arange(BM)
    top, total, out = ts.full(BM, -math.inf), ts.zeros(BM), ts.zeros((BM, D))
    for j in range(ts.cdiv((i + 1) * BM, BN)):  # no key comes after the tile's last query
        scores = query @ ts.load(k[h].T, (0, j), (D, BN))
        scores = ts.where(rows[:, None] >= j * BN + ts.arange(BN), scores, -math.inf)
        higher = ts.maximum(top, ts.max(scores, axis=1))
        shrink, p = ts.exp(top - higher), ts.exp(scores - higher[:, None])
        total = total * shrink + ts.sum(p, axis=1)
        out = ts.mma(p, ts.load(v[h], (j, 0), (BN, D)), out * shrink[:, None])
        top = higher
    ts.store(o[h], (i, 0), out / total[:, None])


def case(rng, h=2, n=75, d=16):
    q, k, v = rng.standard_normal((3, h, n, d), dtype="f4")
    scores = np.where(np.tri(n, dtype=bool), q @ k.transpose(0, 2, 1) / math.sqrt(d), -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return attention[-(-n // 32), h], (q, k, v, np.zeros_like(q)), {3: e / e.sum(-1, keepdims=True) @ v}, {"D": d}


if __name__ == "__main__":
    run(case, atol=1e-5)
