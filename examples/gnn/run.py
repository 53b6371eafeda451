#!/usr/bin/env python3
"""A graph attention network on generated graphs, judged by numpy and scipy in f64, and a layer's time beside theirs.

The graphs are those of examples/gcn: R-MAT, one without edges, self loops alone, isolated nodes and edges named twice. --measure
times one layer of one head with 64 features, and one of 8 heads with 8, on an R-MAT graph of 2^16 nodes: medians of thread time.
Use: run.py [--nodes=2708] [--edges=10556] [--features=1433] [--target=cpu] [--build=build] [--isolated] [--measure]
Exit status 1: something is wrong.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gcn"))
from run import graphs, normalized, rmat  # noqa: E402


def attend(graph, h, scores_from, scores_to):
    """A head by numpy and scipy, in h's type."""
    counts = np.diff(graph.indptr)
    kept = np.flatnonzero(counts)  # reduceat has no empty rows
    starts, counts = graph.indptr[:-1][kept], counts[kept]
    scores = np.repeat(scores_from[kept], counts) + scores_to[graph.indices]
    scores = np.maximum(scores, h.dtype.type(0.2) * scores)
    if len(kept):
        scores -= np.repeat(np.maximum.reduceat(scores, starts), counts)
        scores = np.exp(scores)
        scores /= np.repeat(np.add.reduceat(scores, starts), counts)
    return sp.csr_matrix((scores, graph.indices, graph.indptr), shape=graph.shape) @ h


def network(graph, x, w1, from1, to1, w2, from2, to2):
    heads = [attend(graph, h, h @ a, h @ b) for h, a, b in ((x @ w, a, b) for w, a, b in zip(w1, from1, to1))]
    layer1 = np.stack(heads, axis=1)
    hidden = np.where(layer1 > 0, layer1, np.expm1(layer1))
    h = np.einsum("nkf,kfg->ng", hidden, w2)
    return layer1, attend(graph, h, h @ from2, h @ to2)


def weights(rng, features):
    shapes = (8, features, 8), (8, 8), (8, 8), (8, 8, 7), (7,), (7,)
    return [(rng.normal(size=shape) / np.sqrt(shape[-2] if len(shape) == 3 else 1)).astype("f4") for shape in shapes]


def run(nodes, ends, options, folder):
    """How far the compiled layers are from scipy's, relatively to the largest."""
    rng, graph = np.random.default_rng(2), normalized(nodes, ends)
    if options.isolated:  # normalized adds self loops
        graph = sp.csr_matrix((np.ones(ends.shape[1], "f4"), ends), shape=(nodes, nodes))
        graph.sum_duplicates()
    arrays = [rng.normal(size=(nodes, options.features)).astype("f4"), *weights(rng, options.features)]
    sp.save_npz(folder / "graph.npz", graph)
    flags = [f"--in={folder / 'graph.npz'}"]
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
        flags.append(f"--in={folder / f'{i}.npy'}")
    done = subprocess.run([Path(options.build) / "bin" / "tile-run", HERE / "gat.mlir", f"--target={options.target}", *flags,
                           f"--out={folder / 'layer1.npy'}", f"--out={folder / 'layer2.npy'}"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    want = network(graph.astype("f8"), *(array.astype("f8") for array in arrays))
    seen = [np.load(folder / f"layer{i}.npy") for i in (1, 2)]
    return max(np.abs(s - w).max() / max(np.abs(w).max(), 1e-30) if w.any() else np.abs(s).max() for s, w in zip(seen, want)), graph.nnz


def layer(heads, features):
    """The program of one layer, heads side by side: the loop over heads is one kernel."""
    graph, h, s = "tensor<?x?xf32, #sparse.csr>", f"tensor<?x{heads}x{features}xf32>", f"tensor<?x{heads}xf32>"
    part, end = f"tensor<?x{features}xf32>", "tensor<?x1xf32>"
    return f"""func.func @main(%graph: {graph}, %h: {h}, %s: {s}, %d: {s}) -> {h} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %heads = arith.constant {heads} : index
  %zero = arith.constant 0.0 : f32
  %slope = arith.constant 0.2 : f32
  %n = tensor.dim %h, %c0 : {h}
  %o = tensor.empty(%n) : {h}
  %z = linalg.fill ins(%zero : f32) outs(%o : {h}) -> {h}
  %r = scf.for %k = %c0 to %heads step %c1 iter_args(%out = %z) -> ({h}) {{
    %values = tensor.extract_slice %h[0, %k, 0] [%n, 1, {features}] [1, 1, 1] : {h} to {part}
    %from = tensor.extract_slice %s[0, %k] [%n, 1] [1, 1] : {s} to {end}
    %to = tensor.extract_slice %d[0, %k] [%n, 1] [1, 1] : {s} to {end}
    %e = sparse.sddmm %from, %to transpose, %graph over max_plus : {end}, {end}, {graph}
    %l = sparse.map %e : {graph} {{
    ^bb0(%v: f32, %i: index, %j: index):
      %scaled = arith.mulf %v, %slope : f32
      %isOver = arith.cmpf ogt, %v, %zero : f32
      %a = arith.select %isOver, %v, %scaled : f32
      sparse.yield %a : f32
    }}
    %w = sparse.softmax %l along 1 : {graph}
    %init = tensor.extract_slice %out[0, %k, 0] [%n, 1, {features}] [1, 1, 1] : {h} to {part}
    %sum = sparse.spmm %w, %values, %init : {graph}, {part}, {part}
    %next = tensor.insert_slice %sum into %out[0, %k, 0] [%n, 1, {features}] [1, 1, 1] : {part} into {h}
    scf.yield %next : {h}
  }}
  return %r : {h}
}}
"""


def measure(options, folder):
    sys.path.insert(0, str(Path(options.build) / "python"))
    import tessera_runtime
    tessera_runtime.set_threads(1)
    nodes = 1 << options.scale
    ends = rmat(nodes, 12 * nodes)
    graph = sp.csr_matrix((np.ones(ends.shape[1], "f4"), ends), shape=(nodes, nodes))
    graph.sum_duplicates()
    rng = np.random.default_rng(2)
    for heads, features in ((1, 64), (8, 8)):
        (folder / "layer.mlir").write_text(layer(heads, features))
        subprocess.run([Path(options.build) / "bin" / "tile-translate", folder / "layer.mlir", "--tile-to-program", "-o", folder / f"{heads}.so"], check=True)
        ours = tessera_runtime.load(folder / f"{heads}.so")
        h, s, d = (rng.normal(size=shape).astype("f4") for shape in ((nodes, heads, features), (nodes, heads), (nodes, heads)))
        apart = [[np.ascontiguousarray(array[:, k]) for array in (h, s, d)] for k in range(heads)]  # as scipy takes them
        calls = lambda: ours(graph, h, s, d), lambda: [attend(graph, *head) for head in apart]
        error = np.abs(calls[0]() - np.stack(calls[1](), axis=1)).max()
        times = [[], []]
        for _ in range(options.repeat):
            for call, own in zip(calls, times):
                start = time.thread_time()
                call()
                own.append(time.thread_time() - start)
        mine, theirs = (np.median(own) * 1e3 for own in times)
        print(f"{heads} x {features}: {graph.nnz} entries, {mine:.2f} ms, numpy and scipy {theirs:.2f} ms: {theirs / mine:.2f} times, {error:.1e} apart")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("nodes", 2708), ("edges", 10556), ("features", 1433), ("scale", 16), ("repeat", 15)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--isolated", action="store_true", help="no self loops: nodes without edges give zeros")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--build", default=str(HERE.parent.parent / "build"))
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.measure:
            return measure(options, Path(folder))
        for name, (nodes, ends) in graphs(options).items():
            error, entries = run(nodes, ends, options, Path(folder))
            right = error <= 2e-5
            wrong += not right
            print(f"{name}: {nodes} nodes, {entries} entries, {error:.1e} from scipy, {'right' if right else 'WRONG'}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
