"""Kernels of tile.mma_scaled: pairs of element types, blocks of 16 and 32, scales that leave the range of f32 two by two, nan and negative scales,
odd sizes and tiles. Against numpy in 64 bits.

Usage: scaled_products.py TILE_RUN TARGET…    prints a line for each target and program, for GPUs with the instructions of 64 x 512 x 512.
       scaled_products.py --print=NAME        prints a program.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
import float_formats  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "types"))
from narrow_elements import pack  # noqa: E402

PAIR = "f32"
WIDTH = {"f16": 16, "f8E4M3FN": 8, "f8E5M2": 8, "f6E2M3FN": 6, "f6E3M2FN": 6, "f4E2M1FN": 4}
POWER, SHORT = "f8E8M0FNU", "f8E4M3FN"
# the sizes M, N, K; those of a tile; the left elements and scales; the right ones; the block
PROGRAMS = {
    "mxfp8": ((64, 64, 128), (64, 64, 64), "f8E4M3FN", POWER, "f8E4M3FN", POWER, 32),
    "mxfp8-mixed": ((32, 32, 128), (32, 32, 128), "f8E4M3FN", POWER, "f8E5M2", POWER, 32),
    "mxfp6": ((32, 32, 128), (32, 32, 128), "f6E2M3FN", POWER, "f6E3M2FN", POWER, 32),
    "mxfp4": ((64, 64, 128), (64, 64, 64), "f4E2M1FN", POWER, "f4E2M1FN", POWER, 32),
    "nvfp4": ((32, 32, 128), (32, 32, 64), "f4E2M1FN", SHORT, "f4E2M1FN", SHORT, 16),
    "both-scales": ((32, 32, 64), (32, 32, 64), "f4E2M1FN", SHORT, "f8E4M3FN", POWER, 32),
    "halves": ((32, 32, 64), (32, 32, 64), "f16", PAIR, "f16", PAIR, 32),  # as tile-assign-layouts leaves them; two numbers are a scale
    "odd": ((11, 41, 96), (5, 20, 32), "f8E5M2", POWER, "f8E4M3FN", POWER, 32),
}
# 64 x 512 x 512, whose addresses are known: of a kernel that nothing else launches, or as the kernel says itself
LARGE = ((64, 512, 512), (64, 64, 64), "f8E4M3FN", POWER, "f8E4M3FN", POWER, 32)
SAYING = ("private", "assumed")
PROGRAMS.update({f"large-{how}": LARGE for how in SAYING})
rng = np.random.default_rng(5)
np.seterr(all="ignore")


def kernel(sizes, tiles, a, sa, b, sb, block, how=""):
    (m, n, k), (tm, tn, tk) = sizes, tiles
    left, right = (block // (2 if t == PAIR else 1) for t in (sa, sb))
    shapes = [(m, k, a), (m, k // left, sa), (k, n, b), (k // right, n, sb)]
    parts = [(tm, tk, a), (tm, tk // left, sa), (tk, tn, b), (tk // right, tn, sb)]
    memory, tensors = [f"memref<{r}x{c}x{t}>" for r, c, t in shapes], [f"tensor<{r}x{c}x{t}>" for r, c, t in shapes]
    views, held = [f"!tile.view<{r}x{c}x{t}>" for r, c, t in parts], [f"tensor<{r}x{c}x{t}>" for r, c, t in parts]
    sums, out = f"tensor<{tm}x{tn}xf32>", f"!tile.view<{tm}x{tn}xf32>"
    lines = [f"tile.kernel {'private ' * (how == 'private')}@product({', '.join(f'%m{i}: {t}' for i, t in enumerate(memory))}, "
             f"%c: memref<{m}x{n}xf32>) {{", "  %i = tile.program_id 0", "  %j = tile.program_id 1", "  %c0 = arith.constant 0 : index", "  %c1 = arith.constant 1 : index"]
    if how == "assumed":
        lines += [f"  %a{i} = tile.assume %m{i} align 16 : {memory[i]}" for i in range(4)]
        lines += [f"  %to = tile.assume %c align 16 : memref<{m}x{n}xf32>"]
        lines[1:3] = [f"  %p{d} = tile.program_id {d}\n  %{x} = tile.assume %p{d} range [0, {-(-size // tile) - 1}] : index"
                      for d, x, size, tile in ((0, "i", m, tm), (1, "j", n, tn))]
    lines += [f"  %v{i} = tile.view %{'a' if how == 'assumed' else 'm'}{i} : {memory[i]} to {views[i]}" for i in range(4)]
    lines += [f"  %out = tile.view %{'to' if how == 'assumed' else 'c'} : memref<{m}x{n}xf32> to {out}", f"  %nk = tile.num_tiles %v0 dim 1 : {views[0]}",
              f"  %z = arith.constant dense<0.0> : {sums}",
              f"  %r = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %z) -> ({sums}) {{"]
    lines += [f"    %t{i} = tile.load %v{i}[{'%i, %k' if i < 2 else '%k, %j'}] : {views[i]} -> {held[i]}" for i in range(4)]
    lines += [f"    %d = tile.mma_scaled %t0 scale %t1, %t2 scale %t3, %s block {block} : {', '.join(held)} -> {sums}",
              f"    scf.yield %d : {sums}", "  }", f"  tile.store %r, %out[%i, %j] : {sums}, {out}", "  tile.return", "}"]
    result = f"tensor<{m}x{n}xf32>"
    arguments = ", ".join(f"%m{i}: {t}" for i, t in enumerate(tensors))
    return "\n".join(lines + [
        f"func.func @main({arguments}) -> {result} {{", f"  %gm = arith.constant {-(-m // tm)} : index", f"  %gn = arith.constant {-(-n // tn)} : index",
        f"  %e = tensor.empty() : {result}", f"  %r = tile.launch @product grid(%gm, %gn) ins(%m0, %m1, %m2, %m3 : {', '.join(tensors)}) "
        f"outs(%e : {result}) -> {result}", f"  return %r : {result}", "}"])


def text(name):
    how = name.split("-")[-1]
    return kernel(*PROGRAMS[name], how if how in SAYING else "")


def elements(shape, element):
    """All finite codes, in another order in each row."""
    if element == "f16":
        halves = rng.normal(size=shape).astype(np.float16)
        return halves, halves.astype(np.float64)
    values = float_formats.decode(element)
    finite = np.flatnonzero(np.isfinite(values))
    codes = np.stack([np.resize(rng.permutation(finite), shape[1]) for _ in range(shape[0])])
    return (codes.astype("u1") if WIDTH[element] == 8 else pack(codes, WIDTH[element])), values[codes]


def scales(sizes, left, right, blocks):
    """Of each block: powers near both ends, whose product is near 1; nan for the last row and the first column."""
    m, n, _ = sizes
    if left == PAIR:
        powers = 2.0**np.repeat(rng.integers(-60, 60, blocks), 2)
        pairs = [(rng.normal(size=(m, 2 * blocks)) * powers).astype(np.float32), (rng.normal(size=(2 * blocks, n)) / powers[:, None]).astype(np.float32)]
        wide = [p.astype(np.float64) for p in pairs]
        return pairs, [wide[0][:, ::2] * wide[0][:, 1::2], wide[1][::2] * wide[1][1::2]]
    powers = rng.choice([1, 2, 64, 127, 190, 252, 253], blocks) if left == right == POWER else np.full(blocks, 120)
    codes = [(powers + rng.integers(-1, 2, (m, blocks))) if left == POWER else rng.integers(1, 127, (m, blocks)),
             (254 - powers[:, None] + rng.integers(-1, 2, (blocks, n))) if right == POWER else rng.integers(1, 127, (blocks, n))]
    for held, side in zip((left, right), codes, strict=True):
        side[-1, 0] = 255 if held == POWER else 127
        if held == SHORT:
            side += 128 * rng.integers(0, 2, side.shape)
    return [c.astype("u1") for c in codes], [float_formats.decode(t)[c] for t, c in zip((left, right), codes, strict=True)]


def check(tool, target, folder, name):
    sizes, tiles, a, sa, b, sb, block = PROGRAMS[name]
    (m, n, k), blocks = sizes, sizes[2] // block
    left, x = elements((m, k), a)
    right, w = elements((k, n), b)
    held, (row, column) = scales(sizes, sa, sb, blocks)
    (folder / "p.mlir").write_text(text(name))
    np.savez(folder / "in.npz", **{f"x{i}": v for i, v in enumerate((left, held[0], right, held[1]))})
    done = subprocess.run([tool, folder / "p.mlir", f"--target={target}", f"--in={folder}/in.npz", f"--out={folder}/out.npy",
                           f"--stats={folder}/s.json"], capture_output=True, text=True)
    if done.returncode:
        return f"failed: {done.stderr[:1000]}"
    y = np.load(folder / "out.npy").astype(np.float64)
    x, w = x * np.repeat(row, block, 1), w * np.repeat(column, block, 0)
    expected, size = x @ w, abs(x) @ abs(w)
    right = (np.isnan(y) & np.isnan(expected)) | (abs(y - expected) <= 2e-6 * size)
    if not right.all():
        at = tuple(map(int, np.argwhere(~right)[0]))
        return f"wrong at {at}: {y[at]}, expected {expected[at]}"
    stats = json.loads((folder / "s.json").read_text())
    counted = f", {stats['instructions'] / 1e6:.1f} million instructions" if name.startswith("large") and "instructions" in stats else ""
    return "right, by an instruction" + counted if stats.get("mma_flops", 0) else "right"


def main():
    if sys.argv[1].startswith("--print="):
        print(text(sys.argv[1].split("=")[1]))
        return
    wrong = count = 0
    with tempfile.TemporaryDirectory() as temporary:
        for target in sys.argv[2:]:
            for name in PROGRAMS:
                outcome = check(sys.argv[1], target, Path(temporary), name)
                count, wrong = count + 1, wrong + (not outcome.startswith("right"))
                print(f"{target} {name}: {outcome}", flush=True)
    print(f"{count} programs, {wrong} wrong")


if __name__ == "__main__":
    main()
