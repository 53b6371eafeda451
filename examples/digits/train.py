"""Trains the digit reader of digits.mlir on scikit-learn's 1,797 scans with plain numpy: seeded, a few seconds."""
import numpy as np
from sklearn.datasets import load_digits


def images():
    """All scans as float32 rows of 64 pixels in 0…1, and their labels."""
    digits = load_digits()
    return (digits.data / 16.0).astype(np.float32), digits.target


def train(hidden=48, steps=600, rate=0.5, seed=7):
    """Returns w1 [64, hidden], b1, w2 [hidden, 10], b2, trained on the first 1,200 scans by gradient descent."""
    x, label = images()
    x, label = x[:1200].astype(np.float64), label[:1200]
    random = np.random.default_rng(seed)
    w1, b1 = random.normal(0, 0.15, (64, hidden)), np.zeros(hidden)
    w2, b2 = random.normal(0, 0.15, (hidden, 10)), np.zeros(10)
    target = np.eye(10)[label]
    for _ in range(steps):
        h = np.maximum(x @ w1 + b1, 0)
        z = h @ w2 + b2
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        dz = (p - target) / len(x)
        dh = (dz @ w2.T) * (h > 0)
        w2 -= rate * (h.T @ dz)
        b2 -= rate * dz.sum(axis=0)
        w1 -= rate * (x.T @ dh)
        b1 -= rate * dh.sum(axis=0)
    return [a.astype(np.float32) for a in (w1, b1, w2, b2)]


def reference(x, w1, b1, w2, b2):
    """The same network in numpy, float64."""
    x, w1, b1, w2, b2 = (a.astype(np.float64) for a in (x, w1, b1, w2, b2))
    return np.maximum(x @ w1 + b1, 0) @ w2 + b2
