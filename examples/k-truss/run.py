#!/usr/bin/env python3
"""k-trusses and triangles of graphs, compiled, judged by closed forms and by scipy, and their time beside scipy's.

Closed forms: a complete graph of n nodes is an n-truss with n over 3 triangles; a cycle of more than 3 nodes and a grid
have no 3-truss; of two complete graphs of 5 that an edge joins, that edge goes. Then R-MAT graphs from seeds, beside a loop of
scipy's `(a @ a).multiply(a)`: the same edges, after as many rounds, and again none less.

Use: run.py [--scale=13] [--k=3] [--repeat=15] [--bar=0] [--target=cpu] [--build=build]
Other targets are judged, not measured. Exit status 1: something is wrong, or scipy's time is less than `bar` times ours.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent


def undirected(rows, columns, nodes):
    """Each edge in both directions and once, no loops; values are 1."""
    away = rows != columns
    pairs = (np.concatenate([rows[away], columns[away]]), np.concatenate([columns[away], rows[away]]))
    graph = sp.coo_array((np.ones(len(pairs[0]), "f4"), pairs), shape=(nodes, nodes)).tocsr()
    graph.data[:] = 1
    graph.sort_indices()
    return graph


def complete(nodes):
    return undirected(*np.nonzero(np.ones((nodes, nodes))), nodes)


def cycle(nodes):
    return undirected(np.arange(nodes), (np.arange(nodes) + 1) % nodes, nodes)


def grid(side):
    at = np.arange(side * side).reshape(side, side)
    return undirected(np.concatenate([at[1:].ravel(), at[:, 1:].ravel()]), np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()]), side * side)


def barbell():
    ends = sp.block_diag([complete(5), complete(5)]).tocoo()
    return undirected(np.append(ends.row, 4), np.append(ends.col, 5), 10)


def rmat(scale, seed, factor=8):
    random, nodes = np.random.default_rng(seed), 1 << scale
    rows = columns = np.zeros(factor * nodes, np.int64)
    for _ in range(scale):
        quarter = np.digitize(random.random(len(rows)), np.cumsum([.57, .19, .19]))
        rows, columns = 2 * rows + (quarter >= 2), 2 * columns + quarter % 2
    return undirected(rows, columns, nodes)


def by_scipy(graph, k):
    """The truss, and how many rounds it took."""
    rounds = 0
    while True:
        support = (graph @ graph).multiply(graph).tocsr()
        support.data *= support.data >= k - 2
        support.eliminate_zeros()
        support.data[:] = 1
        rounds += 1
        if support.nnz == graph.nnz:
            return support, rounds
        graph = support


class Compiled:
    def __init__(self, build, target, folder):
        self.build, self.folder, self.target = Path(build) / "bin", Path(folder), target
        for name in ("k_truss", "triangles") if target == "cpu" else ():
            subprocess.run([self.build / "tile-translate", HERE / f"{name}.mlir", "--tile-to-program", "-o", self.folder / f"{name}.so"], check=True)

    def __call__(self, name, graph, *more, repeat=1):
        """The results, and the least time of a call in seconds."""
        command = [self.build / "tile-exec", self.folder / f"{name}.so", "--threads=1"] if self.target == "cpu" else [
            self.build / "tile-run", HERE / f"{name}.mlir", f"--target={self.target}"]
        sp.save_npz(self.folder / "graph.npz", graph)
        command.append(f"--in={self.folder / 'graph.npz'}")
        for i, value in enumerate(more):
            np.save(self.folder / f"{i}.npy", np.float32(value))
            command.append(f"--in={self.folder / f'{i}.npy'}")
        results = [self.folder / "truss.npz", self.folder / "rounds.npy"] if name == "k_truss" else [self.folder / "count.npy"]
        subprocess.run([*command, *(f"--out={file}" for file in results), f"--repeat={repeat}", f"--stats={self.folder / 'stats.json'}"], check=True)
        loaded = [sp.load_npz(file) if file.suffix == ".npz" else np.load(file) for file in results]
        return *loaded, json.loads((self.folder / "stats.json").read_text()).get("time_ms_min", 0) / 1e3

    def truss(self, graph, k, repeat=1):
        return self("k_truss", graph, k - 2, repeat=repeat)

    def triangles(self, graph):
        return float(self("triangles", graph)[0])


def same(a, b):
    return a.shape == b.shape and a.nnz == b.nnz and (a != b).nnz == 0


def expect(what, holds):
    if not holds:
        sys.exit(f"{what}: wrong")


def closed_forms(compiled, nodes):
    for n in (3, nodes):
        graph = complete(n)
        expect(f"triangles of K{n}", compiled.triangles(graph) == math.comb(n, 3))
        expect(f"{n}-truss of K{n}", same(compiled.truss(graph, n)[0], graph))
        expect(f"{n + 1}-truss of K{n}", compiled.truss(graph, n + 1)[0].nnz == 0)
    for name, graph in (("cycle", cycle(9)), ("grid", grid(4)), ("no edges", sp.csr_array((5, 5), dtype="f4"))):
        expect(f"3-truss of a {name}", compiled.truss(graph, 3)[0].nnz == 0 and compiled.triangles(graph) == 0)
    bells = sp.block_diag([complete(5), complete(5)]).tocsr().astype("f4")
    expect("3-truss of a barbell", same(compiled.truss(barbell(), 3)[0], bells))
    print("closed forms: right")


def drawn(compiled, scale, k):
    graph = rmat(scale, 1)
    want, rounds = by_scipy(graph, k)
    truss, seen, _ = compiled.truss(graph, k)
    expect(f"{k}-truss of R-MAT 2^{scale}", same(truss, want) and int(seen) == rounds and same(truss, truss.T.tocsr()))
    expect("its truss again", same(compiled.truss(truss, k)[0], truss))
    expect("its triangles", compiled.triangles(graph) == (graph @ graph).multiply(graph).sum() / 6)
    print(f"R-MAT 2^{scale}: {graph.nnz // 2} edges, {compiled.triangles(graph):.0f} triangles, {truss.nnz // 2} edges in the {k}-truss, {rounds} rounds")


def measure(compiled, options):
    graph, times = rmat(options.scale, 1), []
    for _ in range(3):
        start = time.perf_counter()
        by_scipy(graph, options.k)
        times.append(time.perf_counter() - start)
    ours = compiled.truss(graph, options.k, options.repeat)[2]
    print(f"{options.k}-truss: {ours * 1e3:.1f} ms, {graph.nnz / 2 / ours:.3g} edges/s; scipy {min(times) * 1e3:.1f} ms: {min(times) / ours:.1f} times")
    return min(times) / ours >= options.bar


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("scale", 13), ("k", 3), ("repeat", 15)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--bar", type=float, default=0)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--build", default=HERE.parents[1] / "build")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compiled = Compiled(options.build, options.target, folder)
        closed_forms(compiled, 7 if options.target != "cpu" else 40)
        drawn(compiled, options.scale, options.k)
        return 0 if options.target != "cpu" or measure(compiled, options) else 1


if __name__ == "__main__":
    sys.exit(main())
