"""Products of vector-wise N:M and of blocks with columns, narrower than their sums, against numpy: every answer is exact.

Use: sparse_gathered.py TILE_OPT TILE_RUN [--seed=N]. Each case is compiled for this CPU, and lowered for a machine with dot
instructions and for one without, the kernels then interpreted. Units beyond the matrix hold inf where the type has one: they
take no part.
"""
import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

ATOMS = ', "atom.vpdpbusd" = "1x16x4 i8,i8,i32", "atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32"'
# rows, inner, columns, lines, together, n, m, element, sum
CASES = [(32, 96, 40, 32, 1, 3, 32, "i8", "i32"), (7, 37, 16, 4, 1, 3, 8, "i8", "i32"), (33, 600, 65, 8, 4, 16, 32, "i8", "i32"),
         (64, 1040, 17, 64, 1, 8, 8, "i8", "i32"), (16, 0, 16, 16, 1, 1, 4, "i8", "i32"), (9, 13, 33, 4, 2, 4, 8, "i16", "i32"), (9, 13, 33, 8, 1, 2, 4, "i8", "i64"),
         (40, 70, 31, 16, 1, 3, 32, "f16", "f32"), (12, 90, 18, 4, 4, 8, 16, "bf16", "f32"), (8, 300, 16, 8, 1, 5, 8, "f32", "f64")]
# rows, inner, columns, lines, together of blocks, element, sum
BLOCKS = [(70, 90, 33, 32, 32, "i8", "i32"), (9, 13, 16, 4, 1, "i8", "i32"), (64, 900, 40, 8, 16, "i8", "i32"), (33, 40, 18, 16, 3, "bf16", "f32"), (8, 7, 20, 4, 4, "f16", "f32")]
KINDS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def draw(rng, kind, *shape):
    if kind == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    x = rng.integers(-8, 9, shape)
    return (x.astype("f4").view("u4") >> 16).astype("u2") if kind == "bf16" else x.astype(KINDS[kind])


def wide(x):
    return (x.astype("u4") << 16).view("f4").astype("f8") if x.dtype == np.uint16 else x.astype("f8")


def case(rng, rows, inner, columns, lines, together, n, m, kind, total):
    """The program's text, its arrays and what it gives."""
    groups, windows, units = -(-rows // lines), -(-inner // m), n // together
    places = np.sort(rng.permuted(np.tile(np.arange(m // together), (groups, windows, 1)), axis=2)[:, :, :units], axis=2).astype("i1")
    values, b, start = draw(rng, kind, groups, windows, n, lines), draw(rng, kind, inner, columns), draw(rng, total, rows, columns)
    at = (np.arange(windows)[:, None, None] * m + places[..., None] * together + np.arange(together)).reshape(groups, windows * n)
    flat, dense = values.reshape(groups, windows * n, lines), np.zeros((groups * lines, windows * m))
    for g in range(groups):
        dense[g * lines:(g + 1) * lines, at[g]] = wide(flat[g]).T
        if kind in ("f16", "f32"):
            flat[g][at[g] >= inner] = np.inf
    parts = [f"tensor<{groups}x{windows}x{units}xi8>", f"tensor<{groups}x{windows}x{n}x{lines}x{kind}>"]
    a, x, y = f"tensor<{rows}x{inner}x{kind}, #sparse.nm<n = {n}, m = {m}, vector = [{lines}, {together}]>>", f"tensor<{inner}x{columns}x{kind}>", f"tensor<{rows}x{columns}x{total}>"
    text = f"""func.func @main(%p: {parts[0]}, %v: {parts[1]}, %x: {x}, %y: {y}) -> {y} {{
  %a = sparse.assemble(%p, %v) : {parts[0]}, {parts[1]} -> {a}
  %r = sparse.spmm %a, %x, %y : {a}, {x}, {y}
  return %r : {y}
}}"""
    return text, [places, values, b, start], (dense[:rows, :inner] @ wide(b) + wide(start)).astype(KINDS[total])


def blocks(rng, rows, inner, columns, lines, together, kind, total):
    """The same of blocks: a third of them, the second row of blocks empty."""
    pattern = rng.random((-(-rows // lines), -(-inner // together))) < 0.4
    pattern[1:2] = False
    positions, places = np.concatenate([[0], np.cumsum(pattern.sum(axis=1))]).astype("i4"), np.nonzero(pattern)[1].astype("i4")
    values, b, start = draw(rng, kind, len(places), lines, together), draw(rng, kind, inner, columns), draw(rng, total, rows, columns)
    dense = np.zeros((pattern.shape[0], lines, pattern.shape[1], together))
    dense[np.nonzero(pattern)[0], :, places] = wide(values)
    dense = dense.reshape(pattern.shape[0] * lines, -1)[:rows, :inner]
    parts = [f"tensor<{len(positions)}xi32>", f"tensor<{len(places)}xi32>", f"tensor<{len(places)}x{lines}x{together}x{kind}>"]
    a, x, y = f"tensor<{rows}x{inner}x{kind}, #sparse.bsr<block = [{lines}, {together}]>>", f"tensor<{inner}x{columns}x{kind}>", f"tensor<{rows}x{columns}x{total}>"
    text = f"""func.func @main(%p: {parts[0]}, %c: {parts[1]}, %v: {parts[2]}, %x: {x}, %y: {y}) -> {y} {{
  %a = sparse.assemble(%p, %c, %v) : {', '.join(parts)} -> {a}
  %r = sparse.spmm %a, %x, %y : {a}, {x}, {y}
  return %r : {y}
}}"""
    return text, [positions, places, values, b, start], (dense @ wide(b) + wide(start)).astype(KINDS[total])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tile_opt")
    parser.add_argument("tile_run")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, wrong, runs = np.random.default_rng(options.seed), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for sizes in CASES + BLOCKS:
            text, arrays, expected = (case if sizes in CASES else blocks)(rng, *sizes)
            flags = [f"--out={folder / 'out.npy'}"]
            for i, array in enumerate(arrays):
                np.save(folder / f"{i}.npy", array)
                flags.append(f"--in={folder / f'{i}.npy'}")
            forms = {"cpu": text}
            for form, atoms in (("dots", ATOMS), ("none", "")):
                module = f'module attributes {{tile.machine = #tile.machine<"x86-64-v4"{atoms}>}} {{\n{text}\n}}'
                forms[form] = subprocess.run([options.tile_opt, "--convert-sparse-to-tile"], input=module, capture_output=True, text=True, check=True).stdout
                if ('atom "vpdpbusd"' in forms[form]) != (form == "dots" and sizes[-2:] == ("i8", "i32")) or "@spmm_gathered" not in forms[form]:
                    wrong += 1
                    print(f"{sizes} is not lowered as {form} wants it")
            for form, program in forms.items():
                (folder / "p.mlir").write_text(program)
                target = "cpu" if form == "cpu" else "interpret"
                subprocess.run([options.tile_run, folder / "p.mlir", f"--target={target}", *flags], check=True)
                runs += 1
                if not np.array_equal(np.load(folder / "out.npy"), expected):
                    wrong += 1
                    print(f"{sizes} is wrong: {form}")
    print(f"{runs} runs, {wrong} wrong")


main()
