#!/usr/bin/env python3
"""Trains the graph network of gcn.mlir by train.mlir: a teacher network's classes are learned by gradient descent.

The judge: the loss is numpy's in f64, and each slope of the first step is what the f64 loss's finite differences say, along
a random direction of each of the four weights. Then the loss must have fallen to half, on the R-MAT graph.
Use: train.py [--nodes=2708] [--edges=10556] [--features=64] [--steps=60] [--target=cpu] [--build=build]   Exit status 1: wrong.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse
from run import HERE, graphs, normalized

SIZES = ("w1", "b1", "w2", "b2")


def scores(a, x, weights):
    w1, b1, w2, b2 = weights
    return a @ (np.maximum(a @ (x @ w1) + b1, 0) @ w2) + b2


def loss_of(a, x, labels, weights):
    """In f64: the mean of -log softmax of the label's score."""
    weights = [weight.astype(np.float64) for weight in weights]
    s = scores(a.astype(np.float64), x.astype(np.float64), weights)
    s -= s.max(axis=1, keepdims=True)
    return (np.log(np.exp(s).sum(axis=1)) - s[np.arange(len(labels)), labels]).mean()


def draw(rng, features):
    shapes = [(features, 16), (16,), (16, 7), (7,)]
    return [rng.normal(0, 1 / np.sqrt(shape[0]), shape).astype(np.float32) for shape in shapes]


class Step:
    """train.mlir, compiled once for the CPU, or run by tile-run."""

    def __init__(self, options, folder):
        self.folder, tools = folder, Path(options.build) / "bin"
        self.command = [tools / "tile-run", HERE / "train.mlir", f"--target={options.target}"]
        if options.target == "cpu":
            self.call([tools / "tile-translate", HERE / "train.mlir", "--tile-to-program", "-o", folder / "train.so"])
            self.command = [tools / "tile-exec", folder / "train.so"]

    def call(self, command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)

    def __call__(self, rate, weights):
        np.save(self.folder / "rate.npy", np.array([rate], np.float32))
        for name, weight in zip(SIZES, weights):
            np.save(self.folder / f"{name}.npy", weight)
        flags = [f"--in={self.folder / name}" for name in ("a.npz", "x.npy", "labels.npy", "rate.npy", *(f"{name}.npy" for name in SIZES))]
        flags += [f"--out={self.folder / name}.npy" for name in (*SIZES, "loss")]
        self.call([*self.command, *flags])
        return [np.load(self.folder / f"{name}.npy") for name in SIZES], float(np.load(self.folder / "loss.npy"))


def train(nodes, ends, options, folder):
    """How far the first loss and slopes are from numpy's, and the losses."""
    rng, a = np.random.default_rng(3), normalized(nodes, ends)
    x = rng.normal(size=(nodes, options.features)).astype(np.float32)
    labels = scores(a, x, [4 * w for w in draw(rng, options.features)]).argmax(axis=1).astype(np.int32)
    weights, losses, error = draw(rng, options.features), [], 0.0
    scipy.sparse.save_npz(folder / "a.npz", a)
    np.save(folder / "x.npy", x)
    np.save(folder / "labels.npy", labels)
    step = Step(options, folder)
    for number in range(options.steps):
        new, loss = step(options.rate, weights)
        losses.append(loss)
        if number == 0:
            error = abs(loss - loss_of(a, x, labels, weights))
            for i, weight in enumerate(weights):
                along, h = rng.normal(size=weight.shape), 1e-7
                shifted = [[w + side * h * along if i == j else w for j, w in enumerate(weights)] for side in (1, -1)]
                want = (loss_of(a, x, labels, shifted[0]) - loss_of(a, x, labels, shifted[1])) / (2 * h)
                slope = (weight.astype(np.float64) - new[i]) / options.rate
                error = max(error, abs((slope * along).sum() - want) / max(np.abs(slope * along).sum(), 1e-3))
        weights = new
    return error, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("nodes", 2708), ("edges", 10556), ("features", 64), ("steps", 60)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rate", type=float, default=4.0)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    wrong = 0
    for name, (nodes, ends) in graphs(options).items():
        with tempfile.TemporaryDirectory() as folder:
            error, losses = train(nodes, ends, options, Path(folder))
        right = error <= 2e-4 and (name != "R-MAT" or options.steps < 20 or losses[-1] < losses[0] / 2)
        wrong += not right
        print(f"{name}: {nodes} nodes, slopes {error:.1e} from finite differences, loss {losses[0]:.3f} to {losses[-1]:.3f} in {options.steps} steps, {'right' if right else 'WRONG'}")
    return wrong > 0


sys.exit(main())
