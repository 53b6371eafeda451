"""Products whose left factor a mask makes zero that is known only when the program runs (PIT, SOSP 2023), beside OpenBLAS on the
dense matrix. `format`: a #sparse.mask of 32 × 1 tiles; `tiles`: a select by such a mask; `elements`: a select by a mask with an
element for each; `both`: beside the tiles, it shows a hundredth of the elements outside. `zero`: the share of the 32 × 1 tiles that
are hidden; of `random` of the elements, which leaves few tiles empty.
Behind each row stands what our program chose when it saw the mask: by tiles, by entries or densely."""
import json
import math
import subprocess

import numpy as np

LINES = 32
# How a program multiplied, by a kernel that it launched.
WAYS = {("spmm_csr", "spmm_named"): "by both", ("spmm_csr",): "by entries", ("spmm_named",): "by tiles", (): "densely"}


class masked:
    """C[m,n] = A[m,k] B[k,n], A shown where the mask says."""

    @staticmethod
    def mask_shape(m, k, form):
        return (m, k) if form in ("elements", "random", "both") else (m // LINES, k)

    @staticmethod
    def program(m, n, k, form, zero):
        rows, columns = masked.mask_shape(m, k, form)
        mask, a, b, c = f"tensor<{rows}x{columns}xi1>", f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
        stored = f"tensor<{m}x{k}xf32, #sparse.mask<tile = [{LINES}, 1]>>"
        line = "i" if rows == m else f"i floordiv {LINES}"
        product = f"""  %s = sparse.assemble(%m, %a) : {mask}, {a} -> {stored}
  %r = sparse.spmm %s, %b, %f : {stored}, {b}, {c}""" if form == "format" else f"""  %e = tensor.empty() : {a}
  %s = linalg.generic {{indexing_maps = [affine_map<(i, k) -> ({line}, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>],
      iterator_types = ["parallel", "parallel"]}} ins(%m, %a : {mask}, {a}) outs(%e : {a}) {{
  ^bb0(%p: i1, %v: f32, %o: f32):
    %q = arith.select %p, %v, %zero : f32
    linalg.yield %q : f32
  }} -> {a}
  %r = linalg.matmul ins(%s, %b : {a}, {b}) outs(%f : {c}) -> {c}"""
        return f"""func.func @main(%m: {mask}, %a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %out = tensor.empty() : {c}
  %f = linalg.fill ins(%zero : f32) outs(%out : {c}) -> {c}
{product}
  return %r : {c}
}}
"""

    @staticmethod
    def way(tile_exec, program, arrays, folder):
        """What the program chose for these arrays."""
        command = [tile_exec, program, "--threads=1", f"--stats={folder / 'stats.json'}"]
        for i, array in enumerate(arrays):
            np.save(folder / f"way{i}.npy", array)
            command.append(f"--in={folder / f'way{i}.npy'}")
        subprocess.run(command, check=True, capture_output=True)
        kernels = json.loads((folder / "stats.json").read_text())["kernels"]
        return WAYS[tuple(name for name in ("spmm_csr", "spmm_named") if any(kernel.startswith(name) and counts["launches"] for kernel, counts in kernels.items()))]

    peer_program = staticmethod(lambda **arguments: None)

    @staticmethod
    def arrays(random, m, n, k, form, zero):
        if form == "random":
            mask = random.random((m, k)) >= zero
        else:
            mask = np.repeat(random.random((m // LINES, k)) >= zero, LINES if form in ("elements", "both") else 1, 0)
            if form == "both":
                mask |= random.random((m, k)) < .01
        a, b = (random.uniform(-1, 1, shape).astype("f4") for shape in ((m, k), (k, n)))
        if form == "format":  # the format's values are zero where the mask is false
            a *= np.repeat(mask, LINES, 0)
        return [mask, a, b]

    @staticmethod
    def dense(arrays, **arguments):
        mask, a, b = arrays
        return [a * np.repeat(mask, a.shape[0] // mask.shape[0], 0), b]

    @staticmethod
    def exact(arrays, **arguments):
        a, b = (x.astype("f8") for x in masked.dense(arrays, **arguments))
        return a @ b, 2 * math.sqrt(a.shape[1]) * (abs(a) @ abs(b))

    @staticmethod
    def work(m, n, k, form, zero):
        return 2 * m * n * k * (1 - zero), 4 * (m * k + k * n + m * n) + math.prod(masked.mask_shape(m, k, form))

    @staticmethod
    def torch(torch, x, **arguments):
        return None


SIZES = dict(m=4096, n=256, k=4096)
TABLE = [("gemm", SIZES)] + [("masked", dict(**SIZES, form=form, zero=zero))
                             for form in ("format", "tiles", "elements") for zero in (.0, .5, .8, .9, .95)] + [
    ("masked", dict(**SIZES, form="both", zero=zero)) for zero in (.8, .9, .95)] + [
    ("masked", dict(**SIZES, form="random", zero=zero)) for zero in (.5, .8, .9, .99)]
TINY = [("masked", dict(m=64, n=64, k=40, form=form, zero=zero))
        for form, zero in (("format", .7), ("tiles", .7), ("elements", .7), ("elements", 0.), ("random", .5), ("both", .8))]
