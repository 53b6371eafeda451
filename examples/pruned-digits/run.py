#!/usr/bin/env python3
"""The digit reader of examples/digits with pruned weights: 3 of 32 (16 outputs keep the same inputs) and 2 of 4.

Trains the dense network, writes it as a program with constant weights, prunes and packs them (sparse-prune-nm,
sparse-pack-nm), runs it on all 1,797 scans and prints how many are read right: dense, pruned, and pruned with some more
training of the weights that were kept; then a program that trains with masks (train.mlir). What was kept is read back from the packed program itself, and judged: at most n of
each m, and logits as numpy computes them from the kept weights in f64.
Use: run.py [--hidden=48] [--steps=300] [--target=cpu] [--build=build]   Exit status 1: something is wrong.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "digits"))
import train  # noqa: E402

PATTERNS = {"2:4": "n=2 m=4 vector=1,1", "3:32, vectors of 16": "n=3 m=32 vector=16,1"}


def constant(array):
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : tensor<{"x".join(map(str, array.shape))}xf32>'


def program(weights):
    """examples/digits/digits.mlir with its weights inside."""
    text = (HERE.parent / "digits" / "digits.mlir").read_text()
    hidden = weights[0].shape[1]
    text = text.replace("48", str(hidden))
    begin, end = text.index("func.func @main("), text.index("{\n", text.index("func.func @main("))
    names = ("w1", "b1", "w2", "b2")
    constants = "".join(f"  %{name} = arith.constant {constant(array)}\n" for name, array in zip(names, weights))
    return text[:begin] + "func.func @main(%x: tensor<?x64xf32>) -> tensor<?x10xf32> {\n" + constants + text[end + 2:]


def weights_alone(weights):
    """A program that multiplies both weights by what it is given: the identity gives them back."""
    arguments, body, kinds = [], "", []
    for name, array in (("w1", weights[0]), ("w2", weights[2])):
        k, n = array.shape
        kind, eye = f"tensor<{k}x{n}xf32>", f"tensor<{k}x{k}xf32>"
        arguments.append(f"%eye_{name}: {eye}")
        kinds.append(kind)
        body += (f"  %{name} = arith.constant {constant(array)}\n  %zero_{name} = arith.constant dense<0.0> : {kind}\n"
                 f"  %r_{name} = linalg.matmul ins(%eye_{name}, %{name} : {eye}, {kind}) outs(%zero_{name} : {kind}) -> {kind}\n")
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(kinds)}) {{\n{body}"
            f"  return %r_w1, %r_w2 : {', '.join(kinds)}\n}}\n")


def run(text, passes, inputs, outputs, options, folder):
    (folder / "dense.mlir").write_text(text)
    bin = Path(options.build) / "bin"
    packed = subprocess.run([bin / "tile-opt", folder / "dense.mlir", f"--pass-pipeline=builtin.module(func.func({passes}))"],
                            capture_output=True, text=True)
    if packed.returncode:
        sys.exit(packed.stderr)
    (folder / "packed.mlir").write_text(packed.stdout)
    flags = []
    for i, array in enumerate(inputs):
        np.save(folder / f"in{i}.npy", array)
        flags.append(f"--in={folder / f'in{i}.npy'}")
    done = subprocess.run([bin / "tile-run", folder / "packed.mlir", f"--target={options.target}", *flags,
                           *(f"--out={folder / f'out{i}.npy'}" for i in range(outputs))], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return [np.load(folder / f"out{i}.npy") for i in range(outputs)], packed.stdout.count("sparse.assemble")


def keeps(weights, pattern):
    """At most n of each m inputs of a group of outputs hold something."""
    n, m, lines = (int(pattern.split(key)[1].split(" ")[0].split(",")[0]) for key in ("n=", "m=", "vector="))
    for at in range(0, weights.shape[0], m):
        for line in range(0, weights.shape[1], lines):
            if (weights[at:at + m, line:line + lines] != 0).any(axis=1).sum() > n:
                return False
    return True


def train_on(weights, x, label, steps, rate=0.3):
    """More gradient descent, in which what is zero stays zero."""
    w1, b1, w2, b2 = (array.astype(np.float64) for array in weights)
    kept1, kept2, target = w1 != 0, w2 != 0, np.eye(10)[label]
    for _ in range(steps):
        h = np.maximum(x @ w1 + b1, 0)
        p = np.exp((z := h @ w2 + b2) - z.max(axis=1, keepdims=True))
        dz = (p / p.sum(axis=1, keepdims=True) - target) / len(x)
        dh = (dz @ w2.T) * (h > 0)
        w2 -= rate * (h.T @ dz) * kept2
        b2 -= rate * dz.sum(axis=0)
        w1 -= rate * (x.T @ dh) * kept1
        b1 -= rate * dh.sum(axis=0)
    return [array.astype(np.float32) for array in (w1, b1, w2, b2)]


def two_of_four(w):
    """The two largest of four inputs of each output stay, the first ones of equal ones."""
    windows = w.reshape(w.shape[0] // 4, 4, w.shape[1])
    order, kept = np.argsort(-np.abs(windows), axis=1, kind="stable"), np.zeros(windows.shape, bool)
    np.put_along_axis(kept, order[:, :2], True, 1)
    return (windows * kept).reshape(w.shape)


def train_with_masks(weights, x, target, rounds, rate=0.3):
    """What train.mlir does, in f64: masks of every round's weights, gradients of all weights."""
    w1, b1, w2, b2 = (array.astype(np.float64) for array in weights)
    for _ in range(rounds):
        m1, m2 = two_of_four(w1), two_of_four(w2)
        h = np.maximum(x @ m1 + b1, 0)
        p = np.exp((z := h @ m2 + b2) - z.max(axis=1, keepdims=True))
        dz = (p / p.sum(axis=1, keepdims=True) - target) / len(x)
        dh = (dz @ m2.T) * (h > 0)
        w2, b2 = w2 - rate * (h.T @ dz), b2 - rate * dz.sum(axis=0)
        w1, b1 = w1 - rate * (x.T @ dh), b1 - rate * dh.sum(axis=0)
    return two_of_four(w1), b1, two_of_four(w2), b2


def examine_training(dense, x, label, options, folder):
    """train.mlir: the program prunes its weights in every round (sparse.prune)."""
    target, count = np.eye(10, dtype=np.float32)[label[:1200]], 1200
    inputs = [x[:count].astype(np.float32), target, *(array.astype(np.float32) for array in dense)]
    text = (HERE / "train.mlir").read_text()
    for rounds in (1, options.steps):  # after many rounds a mask may tip on a rounding
        trained, _ = run(text, "canonicalize", [*inputs, np.array(rounds)], 4, options, folder)
        if not keeps(trained[0], PATTERNS["2:4"]) or not keeps(trained[2], PATTERNS["2:4"]):
            sys.exit("train.mlir: more is kept than 2 of 4")
        if rounds == 1:
            expected = train_with_masks(inputs[2:], inputs[0].astype(np.float64), target, 1)
            error = max(np.abs(seen - want).max() for seen, want in zip(trained, expected))
            if not error <= 1e-5:
                sys.exit(f"train.mlir: one round is {error:.1e} from numpy")
    print(f"2:4, masks of every round: read right {read_right(train.reference(x, *trained), label)}")


def read_right(logits, label):
    return f"{np.mean(logits.argmax(axis=1) == label):.4f}"


def examine(name, pattern, dense, x, label, options, folder):
    both = f"sparse-prune-nm{{{pattern}}},sparse-pack-nm"
    eyes = [np.eye(array.shape[0], dtype=np.float32) for array in (dense[0], dense[2])]
    (w1, w2), _ = run(weights_alone(dense), both, eyes, 2, options, folder)
    pruned = [w1, dense[1], w2, dense[3]]
    if not keeps(w1, pattern) or not keeps(w2, pattern):
        sys.exit(f"{name}: more is kept than the pattern says")
    (logits,), packed = run(program(dense), both, [x], 1, options, folder)
    tuned = train_on(pruned, x[:1200].astype(np.float64), label[:1200], options.steps)
    # Weights that fit are packed without pruning; ones that do not would be refused.
    (after,), again = run(program(tuned), f"sparse-pack-nm{{{pattern}}}", [x], 1, options, folder)
    errors = [np.abs(seen - train.reference(x, *weights)).max() for seen, weights in ((logits, pruned), (after, tuned))]
    if packed != 2 or again != 2 or not max(errors) <= 1e-4:
        sys.exit(f"{name}: {packed} and {again} products packed, {max(errors):.1e} from numpy")
    kept = (np.count_nonzero(w1) + np.count_nonzero(w2)) / (w1.size + w2.size)
    print(f"{name}: {kept:.1%} of the weights, read right {read_right(logits, label)}, trained on {read_right(after, label)},"
          f" {max(errors):.1e} from numpy")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    x, label = train.images()
    dense = train.train(hidden=options.hidden)
    print(f"dense: read right {read_right(train.reference(x, *dense), label)}")
    for name, pattern in PATTERNS.items():
        with tempfile.TemporaryDirectory() as folder:
            examine(name, pattern, dense, x, label, options, Path(folder))
    if options.hidden == 48:  # the sizes of train.mlir
        with tempfile.TemporaryDirectory() as folder:
            examine_training(dense, x, label, options, Path(folder))


main()
