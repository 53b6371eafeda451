#!/usr/bin/env python3
"""Two layers of a graph convolutional network on generated graphs, judged by scipy in f64.

The graphs, all from seeds: R-MAT (a = 0.57, b = c = 0.19) as large as Cora, one without edges, one of self loops alone, one
with isolated nodes and edges named twice. Features are normal, weights drawn.
Use: run.py [--nodes=2708] [--edges=10556] [--features=1433] [--target=cpu] [--build=build]   Exit status 1: something is wrong.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

HERE = Path(__file__).resolve().parent


def rmat(nodes, edges, seed=1):
    """Ends of drawn edges, 2 × edges."""
    rng, levels = np.random.default_rng(seed), int(np.ceil(np.log2(max(nodes, 2))))
    ends = np.zeros((2, edges), np.int64)
    for _ in range(levels):
        quarter = rng.choice(4, edges, p=[0.57, 0.19, 0.19, 0.05])
        ends = 2 * ends + np.stack([quarter // 2, quarter % 2])
    return ends % nodes


def normalized(nodes, ends):
    """Â of the graph, undirected: edges named twice count once, every node has a self loop."""
    a = scipy.sparse.coo_matrix((np.ones(ends.shape[1]), ends), shape=(nodes, nodes)).tocsr()
    a = ((a + a.T + scipy.sparse.identity(nodes)) != 0).astype(np.float64)
    scale = scipy.sparse.diags(1 / np.sqrt(np.asarray(a.sum(axis=1)).ravel()))
    a = (scale @ a @ scale).tocsr().astype(np.float32)
    a.sort_indices()
    return a


def graphs(options):
    loops = np.arange(5)
    return {
        "R-MAT": (options.nodes, rmat(options.nodes, options.edges)),
        "no edges": (7, np.zeros((2, 0), np.int64)),
        "self loops": (5, np.stack([loops, loops])),
        "isolated nodes, edges named twice": (9, np.array([[0, 0, 3, 1], [1, 1, 4, 0]])),
    }


def run(nodes, ends, options, folder):
    """How far the compiled scores are from scipy's, relatively to the largest."""
    rng, a = np.random.default_rng(2), normalized(nodes, ends)
    x = rng.normal(size=(nodes, options.features)).astype(np.float32)
    w1, b1 = rng.normal(0, 0.05, (options.features, 16)).astype(np.float32), rng.normal(size=16).astype(np.float32)
    w2, b2 = rng.normal(size=(16, 7)).astype(np.float32), rng.normal(size=7).astype(np.float32)
    scipy.sparse.save_npz(folder / "a.npz", a)
    flags = [f"--in={folder / 'a.npz'}"]
    for i, array in enumerate((x, w1, b1, w2, b2)):
        np.save(folder / f"{i}.npy", array)
        flags.append(f"--in={folder / f'{i}.npy'}")
    done = subprocess.run([Path(options.build) / "bin" / "tile-run", HERE / "gcn.mlir", f"--target={options.target}", *flags,
                           f"--out={folder / 'scores.npy'}"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    a, x, w1, b1, w2, b2 = (part.astype(np.float64) for part in (a, x, w1, b1, w2, b2))
    want = a @ (np.maximum(a @ (x @ w1) + b1, 0) @ w2) + b2
    return np.abs(np.load(folder / "scores.npy") - want).max() / np.abs(want).max(), a.nnz


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2708)
    parser.add_argument("--edges", type=int, default=10556)
    parser.add_argument("--features", type=int, default=1433)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    wrong = 0
    for name, (nodes, ends) in graphs(options).items():
        with tempfile.TemporaryDirectory() as folder:
            error, entries = run(nodes, ends, options, Path(folder))
        right = error <= 1e-5
        wrong += not right
        print(f"{name}: {nodes} nodes, {entries} entries, {error:.1e} from scipy, {'right' if right else 'WRONG'}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
