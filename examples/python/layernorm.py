"""Layer normalization and its gradients. python3 examples/python/layernorm.py [TARGET…]"""
import numpy as np
from harness import run

import tessera as ts

EPSILON = 1e-5


@ts.kernel
def forward(x: ts.Array[ts.f32, "M", "N"], w: ts.Array[ts.f32, "N"], b: ts.Array[ts.f32, "N"], y: ts.Array[ts.f32, "M", "N"],
            mean: ts.Array[ts.f32, "M"], scale: ts.Array[ts.f32, "M"], W: ts.Constant):
    i, count = ts.program_id(0), ts.f32(x.shape[1])
    v = ts.load(x, (i, 0), (1, W))
    middle = ts.sum(v, axis=1) / count
    d = ts.where(ts.in_bounds(x, (i, 0), (1, W)), v - middle[:, None], 0)  # padding is no distance from the mean
    r = ts.rsqrt(ts.sum(d * d, axis=1) / count + EPSILON)
    ts.store(y, (i, 0), d * r[:, None] * ts.load(w, 0, W) + ts.load(b, 0, W))
    ts.store(mean, i, middle)
    ts.store(scale, i, r)


@ts.kernel
def backward(x: ts.Array[ts.f32, "M", "N"], w: ts.Array[ts.f32, "N"], dy: ts.Array[ts.f32, "M", "N"], mean: ts.Array[ts.f32, "M"],
             scale: ts.Array[ts.f32, "M"], dx: ts.Array[ts.f32, "M", "N"], dw: ts.Array[ts.f32, "N"], db: ts.Array[ts.f32, "N"],
             W: ts.Constant):
    i, count = ts.program_id(0), ts.f32(x.shape[1])
    g, r = ts.load(dy, (i, 0), (1, W)), scale[i]
    h = ts.where(ts.in_bounds(x, (i, 0), (1, W)), (ts.load(x, (i, 0), (1, W)) - mean[i]) * r, 0)
    wg = g * ts.load(w, 0, W)
    along = (ts.sum(wg * h, axis=1, keepdims=True) * h + ts.sum(wg, axis=1, keepdims=True)) / count
    ts.store(dx, (i, 0), (wg - along) * r)
    ts.store(dw, 0, ts.sum(g * h, axis=0), combine="add")  # rows add up in any order
    ts.store(db, 0, ts.sum(g, axis=0), combine="add")


def normalized(x):
    mean = x.mean(1)
    r = 1 / np.sqrt(((x - mean[:, None])**2).mean(1) + EPSILON)
    return mean, r, (x - mean[:, None]) * r[:, None]


def case(rng, m=19, n=60):
    x, (w, b) = rng.standard_normal((m, n), dtype="f4"), rng.standard_normal((2, n), dtype="f4")
    mean, r, h = normalized(x)
    outs = np.zeros((m, n), "f4"), np.zeros(m, "f4"), np.zeros(m, "f4")
    return forward[m], (x, w, b, *outs), {3: h * w + b, 4: mean, 5: r}, {"W": 64}


def case_backward(rng, m=19, n=60):
    (x, dy), w = rng.standard_normal((2, m, n), dtype="f4"), rng.standard_normal(n, dtype="f4")
    mean, r, h = normalized(x)
    wg = dy * w
    dx = r[:, None] * (wg - wg.mean(1, keepdims=True) - h * (wg * h).mean(1, keepdims=True))
    outs = np.zeros((m, n), "f4"), np.zeros(n, "f4"), np.zeros(n, "f4")
    return backward[m], (x, w, dy, mean, r, *outs), {5: dx, 6: (dy * h).sum(0), 7: dy.sum(0)}, {"W": 64}


if __name__ == "__main__":
    run(case)
    run(case_backward)
