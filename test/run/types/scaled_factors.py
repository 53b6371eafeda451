"""Products both of whose factors are block-scaled floats, in linalg as exporters write them: dequantized to f32 or bf16, then multiplied.
Against numpy in 64 bits; on GPUs one kernel of matrix instructions that reads the codes. Odd sizes, all finite codes, nan codes, nan and
negative scales, scales whose elements f32 has at both ends.

Usage: scaled_factors.py TILE_RUN TARGET…    prints a line for each target and program, for GPUs with the instructions of 64 x 512 x 512.
       scaled_factors.py --print=NAME        prints a program.
       scaled_factors.py --draw=SEED:COUNT TILE_RUN TARGET…   draws formats and sizes.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "kernels"))
from scaled_products import POWER, SHORT, WIDTH, elements, float_formats  # noqa: E402

rng = np.random.default_rng(17)
np.seterr(all="ignore")

# sizes M, N, K; the left elements and scales; the right ones; the block; what elements are dequantized to; whether GPUs scale sums
PROGRAMS = {
    "mxfp8": ((33, 40, 96), "f8E4M3FN", POWER, "f8E4M3FN", POWER, 32, "f32", True),
    "mxfp8-bf16": ((16, 64, 128), "f8E5M2", POWER, "f8E4M3FN", POWER, 32, "bf16", True),
    "mxfp4": ((64, 72, 160), "f4E2M1FN", POWER, "f4E2M1FN", POWER, 32, "f32", True),
    "mxfp8-mxfp4": ((2, 17, 64), "f8E4M3FN", POWER, "f4E2M1FN", POWER, 32, "bf16", True),
    "nvfp4": ((31, 48, 80), "f4E2M1FN", SHORT, "f4E2M1FN", SHORT, 16, "f32", True),
    "mxfp8-short": ((16, 32, 64), "f8E4M3FN", SHORT, "f8E4M3FN", POWER, 32, "f32", False),  # sums of f8 are rounded: no scale leaves them
    "mxfp6": ((7, 33, 64), "f6E2M3FN", POWER, "f6E3M2FN", POWER, 32, "f32", True),  # elements lie in two bytes
    "mxfp8-mxfp6": ((33, 40, 96), "f8E4M3FN", POWER, "f6E2M3FN", POWER, 32, "bf16", True),
    "nvfp4-tensor": ((31, 48, 80), "f4E2M1FN", SHORT, "f4E2M1FN", SHORT, 16, "f32", True),  # a number for each tensor may multiply sums
    "nvfp4-tensor-inside": ((31, 48, 80), "f4E2M1FN", SHORT, "f4E2M1FN", SHORT, 16, "f32", False),  # it rounds each element
    "large": ((64, 512, 512), "f8E4M3FN", POWER, "f8E4M3FN", POWER, 32, "f32", True),
    "large-nvfp4-tensor": ((64, 512, 512), "f4E2M1FN", SHORT, "f4E2M1FN", SHORT, 16, "f32", True),
    "large-mxfp6": ((64, 512, 512), "f6E3M2FN", POWER, "f6E2M3FN", POWER, 32, "f32", True),
}


TENSOR = np.float32(0.0123), np.float32(-3.21)


def program(name):
    sizes, a, sa, b, sb, block, wide, _ = PROGRAMS[name]
    m, n, k = sizes
    more, reassoc = ", tensor_scale = f32" * ("tensor" in name), " reassoc" * name.endswith("tensor")
    x, w, c, xs, ws = (f"tensor<{s}>" for s in (f"{m}x{k}x{wide}", f"{n}x{k}x{wide}", f"{m}x{n}xf32", f"{m}x{k}x{wide}, #a", f"{n}x{k}x{wide}, #b"))
    return f"""#a = #tile.quantized<codes = {a}, group = [1, {block}], scale = {sa}{more}>
#b = #tile.quantized<codes = {b}, group = [1, {block}], scale = {sb}{more}>
func.func @main(%a: {xs}, %b: {ws}) -> {c} {{
  %x = tile.dequantize %a{reassoc} : {xs} -> {x}
  %w = tile.dequantize %b{reassoc} : {ws} -> {w}
  %zero = arith.constant dense<0.0> : {c}
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : {x}, {w}) outs(%zero : {c}) -> {c}
  return %y : {c}
}}
"""


def scales(sizes, left, right, block):
    """Of each block: powers near both ends of what f32 and bf16 hold the elements of, whose product is near 1; f8E4M3FN of both signs; a nan
    for the last row and the last column."""
    m, n, k = sizes
    powers = rng.choice([20, 64, 127, 190, 234], k // block) if left == right == POWER else np.full(k // block, 127)
    codes = []
    for rows, element, near in ((m, left, powers), (n, right, 254 - powers)):
        shape = (rows, k // block)
        side = near + rng.integers(-1, 2, shape) if element == POWER else rng.integers(0, 127, shape) + 128 * rng.integers(0, 2, shape)
        side[-1, 0] = 255 if element == POWER else 127
        codes.append(side.astype("u1"))
    return codes, [float_formats.decode(t)[c] for t, c in zip((left, right), codes, strict=True)]


def draw(seed, count):
    """Formats, sizes and blocks; on GPUs any kernel may compute them."""
    chosen = np.random.default_rng(seed)
    programs = {}
    for i in range(count):
        left, right = (POWER, POWER) if chosen.random() < .7 else chosen.choice([POWER, SHORT], 2)
        block = int(chosen.choice([16, 32]))
        a, b = chosen.choice(["f8E4M3FN", "f8E5M2", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"], 2, p=[.3, .2, .3, .1, .1])
        sizes = (int(chosen.integers(1, 80)), int(chosen.integers(1, 140)), block * int(chosen.integers(1, 12)))
        programs[f"{seed}.{i}"] = (sizes, str(a), str(left), str(b), str(right), block, str(chosen.choice(["f32", "bf16"])), None)
    return programs


def check(tool, target, folder, name):
    sizes, a, sa, b, sb, block, _, scalesSums = PROGRAMS[name]
    (m, n, k), isLarge = sizes, name.startswith("large")
    left, x = elements((m, k), a)
    right, w = elements((n, k), b)
    if WIDTH[a] == 8:
        left[0, 1], x[0, 1] = 127, np.nan
    held, (row, column) = scales(sizes, sa, sb, block)
    (folder / "p.mlir").write_text(program(name))
    parts = [left, held[0], right, held[1]]
    if "tensor" in name:
        parts = [left, held[0], TENSOR[0], right, held[1], TENSOR[1]]
        x, w = x * TENSOR[0].astype(np.float64), w * TENSOR[1].astype(np.float64)
    np.savez(folder / "in.npz", **{f"x{i}": v for i, v in enumerate(parts)})
    done = subprocess.run([tool, folder / "p.mlir", f"--target={target}", f"--in={folder}/in.npz", f"--out={folder}/out.npy",
                           f"--stats={folder}/s.json"], capture_output=True, text=True)
    if done.returncode:
        return f"failed: {done.stderr[:1000]}"
    y = np.load(folder / "out.npy").astype(np.float64)
    x, w = x * np.repeat(row, block, 1), w * np.repeat(column, block, 1)
    expected, size = x @ w.T, abs(x) @ abs(w).T
    right = (np.isnan(y) & np.isnan(expected)) | (y == expected) | (abs(y - expected) <= 4e-6 * size)
    if not right.all():
        at = tuple(map(int, np.argwhere(~right)[0]))
        return f"wrong at {at}: {y[at]}, expected {expected[at]}, of {PROGRAMS[name]}"
    if scalesSums is None:
        return "right"
    if not target.startswith("emulate"):
        return "right"
    stats = json.loads((folder / "s.json").read_text())
    kernel = next((s for kind, s in stats["kernels"].items() if kind.startswith("scaled_product")), None)
    if bool(kernel) != scalesSums:
        return f"wrong: kernels {list(stats['kernels'])}"
    if not kernel:
        return "right, by other kernels"
    if len(stats["kernels"]) > 1 + ("tensor" in name) or kernel["global_bytes_written"] != m * n * 4 or kernel["mma_flops"] < 2 * m * n * k:
        return f"wrong: kernels {list(stats['kernels'])}, {kernel['global_bytes_written']} bytes written, {kernel['mma_flops']} operations"
    return "right, by codes" + (f", {kernel['instructions'] / 1e6:.1f} million instructions" if isLarge else "")


def main():
    if sys.argv[1].startswith("--print="):
        print(program(sys.argv[1].split("=")[1]))
        return
    if sys.argv[1].startswith("--draw="):
        drawn = draw(*map(int, sys.argv.pop(1).split("=")[1].split(":")))
        PROGRAMS.clear()
        PROGRAMS.update(drawn)
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
