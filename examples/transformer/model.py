"""Seeded weights for transformer.mlir and the same block in numpy, float64."""
import math

import numpy as np

WIDTH, HEADS, BATCH, TOKENS = 256, 8, 2, 128


def arguments(seed=11):
    """x and the parameters, in the order of @main."""
    random = np.random.default_rng(seed)

    def weight(*shape):
        return random.normal(0, 1 / math.sqrt(shape[0]), shape).astype(np.float32)

    def vector(n, mean=0.0):
        return (mean + 0.1 * random.normal(size=n)).astype(np.float32)

    w = WIDTH
    x = random.normal(size=(BATCH, TOKENS, w)).astype(np.float32)
    attention = [a for _ in range(4) for a in (weight(w, w), vector(w))]
    return [x, vector(w, 1.0), vector(w), *attention, vector(w, 1.0), vector(w),
            weight(w, 4 * w), vector(4 * w), weight(4 * w, w), vector(w)]


def norm(x, gamma, beta):
    d = x - x.mean(axis=-1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + 1e-5) * gamma + beta


def attention(x, wq, bq, wk, bk, wv, bv, wo, bo):
    def heads(a):
        return a.reshape(BATCH, TOKENS, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

    q, k, v = heads(x @ wq + bq), heads(x @ wk + bk), heads(x @ wv + bv)
    s = q @ k.transpose(0, 1, 3, 2) / math.sqrt(WIDTH // HEADS)
    s = np.where(np.tri(TOKENS, dtype=bool), s, -1e30)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return (p @ v).transpose(0, 2, 1, 3).reshape(BATCH, TOKENS, WIDTH) @ wo + bo


def reference(x, gamma1, beta1, wq, bq, wk, bk, wv, bv, wo, bo, gamma2, beta2, w1, b1, w2, b2):
    args = [a.astype(np.float64) for a in (x, gamma1, beta1, wq, bq, wk, bk, wv, bv, wo, bo, gamma2, beta2,
                                           w1, b1, w2, b2)]
    x, gamma1, beta1, wq, bq, wk, bk, wv, bv, wo, bo, gamma2, beta2, w1, b1, w2, b2 = args
    y = x + attention(norm(x, gamma1, beta1), wq, bq, wk, bk, wv, bv, wo, bo)
    a = norm(y, gamma2, beta2) @ w1 + b1
    gelu = 0.5 * a * (1 + np.vectorize(math.erf)(a / math.sqrt(2)))
    return y + gelu @ w2 + b2


def flops():
    """Multiplies and adds of the matrix products (two per multiply-add)."""
    rows, w = BATCH * TOKENS, WIDTH
    return 2 * rows * w * w * 4 + 2 * 2 * BATCH * TOKENS * TOKENS * w + 2 * 2 * rows * w * 4 * w
