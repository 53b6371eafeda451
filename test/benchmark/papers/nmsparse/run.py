"""nmSPARSE's table (Lin et al., MLSys 2023) on generated weights: n of each 32 neighbours along the sum are kept.
./dev reproduce nmsparse [--size=small|medium|paper] [--only=REGEX] [--sparse=FLAGS] [--dense=FLAGS] [--chips=sm_80,gfx942]
                         [--peer-python=FILE] [--json=FILE]

Patterns: EW (each line has its own places), VW4, VW32 and VW64 (so many lines share places), BW4x4 (lines share places, and 4
neighbours are kept together). 16, 8 and 3 of 32 are kept (BW4x4: 16, 8 and 4, in whole blocks). `small` and `medium` take one shape
for m = 1 and one for many rows, `paper` the 8 shapes of the paper's M1 to M8 and, for m = 256, of M9 to M16.

`sparse` is our product of the stored weights, `dense` our product of the dense ones, by flags of tile-run. The paper measures an
A100: up to 5.2 times as fast as the best of its peers with m = 1, and 6.0 with more rows; the paper's column repeats these figures.
The emulator counts a small shape of each pattern: conflicts of shared memory have to be 0, also where places are random.
Exits 1 if a result of ours is wrong or has a conflict.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sparsity import Table, np  # noqa: E402
import scipy.sparse  # noqa: E402

PATTERNS = {"EW": (1, 1), "VW4": (4, 1), "VW32": (32, 1), "VW64": (64, 1), "BW4x4": (4, 4)}
PAPER = ((1024, 1024), (2048, 2048), (4096, 4096), (8192, 8192), (1024, 4096), (4096, 1024), (5120, 20480), (20480, 5120))  # k, n
SHAPES = ([(1, 128, 128), (16, 128, 128)], [(1, 4096, 4096), (256, 4096, 4096)], [(m, *shape) for m in (1, 256) for shape in PAPER])


def weights(rng, n, k, kept, lines, together):
    """Components, and the dense matrix of n lines."""
    free = np.tile(np.arange(32 // together, dtype="i1"), (n // lines, k // 32, 1))
    places = np.sort(rng.permuted(free, axis=2)[:, :, :kept // together], axis=2)
    values = rng.uniform(-1, 1, (n // lines, k // 32, kept, lines)).astype("f4")
    at = (np.arange(k // 32)[:, None, None] * 32 + places[..., None] * together + np.arange(together)).reshape(n // lines, -1, 1)
    dense = np.zeros((n // lines, k, lines), "f4")
    np.put_along_axis(dense, at.astype("i8"), values.reshape(n // lines, -1, lines), axis=1)
    return places, values, np.ascontiguousarray(dense.transpose(0, 2, 1).reshape(n, k))


def programs(m, n, k, kept, lines, together, places, values):
    """The product of stored weights, and of dense ones: y[n, m] = w[n, k] x[k, m]; of m = 1 vectors."""
    x, y = (f"tensor<{k}xf32>", f"tensor<{n}xf32>") if m == 1 else (f"tensor<{k}x{m}xf32>", f"tensor<{n}x{m}xf32>")
    w, stored = f"tensor<{n}x{k}xf32>", f"tensor<{n}x{k}xf32, #sparse.nm<n = {kept}, m = 32, vector = [{lines}, {together}]>>"
    p, v = f"tensor<{'x'.join(map(str, places.shape))}xi8>", f"tensor<{'x'.join(map(str, values.shape))}xf32>"
    start = f"""  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {y}
  %f = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}"""
    sparse = f"""func.func @main(%p: {p}, %v: {v}, %x: {x}) -> {y} {{
{start}
  %w = sparse.assemble(%p, %v) : {p}, {v} -> {stored}
  %r = sparse.{'spmv' if m == 1 else 'spmm'} %w, %x, %f : {stored}, {x}, {y}
  return %r : {y}
}}
"""
    dense = f"""func.func @main(%w: {w}, %x: {x}) -> {y} {{
{start}
  %r = linalg.{'matvec' if m == 1 else 'matmul'} ins(%w, %x : {w}, {x}) outs(%f : {y}) -> {y}
  return %r : {y}
}}
"""
    return {"sparse": sparse, "dense": dense}


def case(m, k, n, pattern, kept):
    lines, together = PATTERNS[pattern]
    kept = max(4, kept) if together == 4 else kept
    rng = np.random.default_rng(7)
    places, values, dense = weights(rng, n, k, kept, lines, together)
    x = rng.uniform(-1, 1, (k, m)).astype("f4")[:, 0 if m == 1 else slice(None)]
    x = np.ascontiguousarray(x)
    text = programs(m, n, k, kept, lines, together, places, values)
    exact, terms = dense.astype("f8") @ x, abs(dense).astype("f8") @ abs(x)
    return kept, text, {"sparse": [places, values, x], "dense": [dense, x]}, exact, terms


def main():
    table = Table("nmsparse", __doc__, {"sparse": "", "dense": ""})
    for m, k, n in SHAPES[table.size]:
        table.head(f"m = {m}, {k} x {n} weights, f32")
        for pattern in PATTERNS:
            for kept in (16, 8, 3):
                name = f"{pattern}, {m}x{k}x{n}, {kept}:32"
                if not re.search(table.options.only, name):
                    continue
                kept, text, arrays, exact, terms = case(m, k, n, pattern, kept)
                w, x = arrays["dense"]
                csr = scipy.sparse.csr_matrix(w)
                peers = {"openblas": lambda: w @ x, "scipy": lambda: csr @ x, "torch": ([w, x], "x[0] @ x[1]")}
                table.cpu(f"{pattern}, {kept}:32", text, arrays, exact, terms, peers, "5.2" if m == 1 else "6.0")
    m, k, n = (16, 64, 64) if table.size == 0 else (64, 256, 256)
    if table.chips:
        table.head_counted(f"m = {m}, {k} x {n} weights, f32, 8:32")
    for chip in table.chips:
        for pattern in PATTERNS:
            if re.search(table.options.only, f"{pattern}, counts"):
                _, text, arrays, exact, terms = case(m, k, n, pattern, 8)
                table.counted(f"{pattern}, 8:32", text, arrays, exact, terms, chip)
                table.wrong += table.rows[-1]["counts"]["sparse"]["conflicts"] > 0
    return table.end()


if __name__ == "__main__":
    sys.exit(main())
