"""Tensors with the encoding #tile.quantized as arguments and results: every key, groups along each axis, ragged groups; elements and
products against numpy.

Usage: quantized.py TILE_RUN TARGET…    prints a line for each target and encoding.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))
import float_formats  # noqa: E402
from narrow_elements import pack  # noqa: E402

NF4 = np.array([-1, -.6961928, -.52507305, -.3949175, -.28444138, -.18477343, -.09105004, 0, .0795803, .1609302, .2461123,
                .33791524, .44070983, .562617, .72295684, 1], "f4")
rng = np.random.default_rng(21)
np.seterr(all="ignore")
M = 3

# codes, group, scale, what follows, elements, shape
CASES = [
    ("i4", (1, 32), "f32", "", "f32", (24, 96)), ("ui4", (1, 32), "f16", ", zero = ui4", "f32", (24, 96)),
    ("i4", (1, 32), "f16", ", zero = i4", "f16", (24, 80)), ("ui4", (4, 16), "bf16", ", zero = f16", "f32", (22, 40)),
    ("ui2", (0, 0), "f32", ", zero = f32, zero_after_scale", "f32", (17, 33)), ("i8", (1, 0), "f32", "", "f64", (24, 32)),
    ("ui8", (1, 32), "f32", ", zero = ui8", "f32", (24, 64)), ("i3", (1, 16), "f16", "", "f32", (24, 48)),
    ("ui4", (1, 32), "f32", ", table = f32", "f32", (24, 64)), ("ui1", (1, 32), "f16", ", zero = f16", "f32", (24, 64)),
    ("f4E2M1FN", (1, 16), "f8E4M3FN", ", tensor_scale = f32", "f32", (24, 64)), ("f4E2M1FN", (1, 32), "f8E8M0FNU", "", "f32", (24, 80)),
    ("f6E2M3FN", (1, 32), "f8E8M0FNU", "", "f32", (24, 64)), ("f8E5M2", (32, 1), "f8E8M0FNU", "", "f32", (40, 24)),
    ("f8E4M3FN", (1, 32), "f8E8M0FNU", "", "bf16", (24, 64)), ("ui4", (1, 32), "f16", ", zero = ui4, order = i32", "f32", (24, 80)),
    ("i8", (16, 1), "f32", ", order = i32", "f32", (40, 24)),
]
STORED = {"f32": np.float32, "f16": np.float16, "f64": np.float64}


def draw(name, shape):
    """An array as it is stored, and its numbers."""
    if name in ("f32", "f16"):
        array = (rng.random(shape) * 2 - .7).astype(STORED[name])
        return array, array.astype(np.float64)
    if name == "bf16":
        bits = ((rng.random(shape) * 2 - .7).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if name.startswith("f"):
        values = float_formats.decode(name)
        low, high = (121, 133) if name == "f8E8M0FNU" else (0, len(values))
        codes = rng.integers(low, high, shape)
        codes = np.where(np.isfinite(values[codes]), codes, low)
        bits = int(name[1])
        return codes.astype(np.uint8) if bits == 8 else pack(codes, bits), values[codes]
    bits = int(name.lstrip("ui"))
    codes = rng.permutation(1 << bits)[np.add.outer(np.arange(shape[0]), np.arange(shape[1])) % (1 << bits)]  # each code at each place
    numbers = codes if name.startswith("u") else np.where(codes >> (bits - 1), codes - (1 << bits), codes)
    stored = codes.astype(bool) if bits == 1 else codes.astype(np.uint8).view(np.int8) if bits == 8 else pack(codes, bits)
    return stored, numbers.astype(np.float64)


def rounded(x, name):
    """To the nearest number, ties to even."""
    if name != "bf16":
        return x.astype(STORED[name]).astype(np.float64)
    bits = x.astype(np.float32).view(np.uint32)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def spread(groups, group, shape, order):
    for axis, (g, size) in enumerate(zip(group, shape, strict=True)):
        ordered = order is not None and g > 1 and g < size
        groups = groups.take(order, axis) if ordered else np.repeat(groups, g or size, axis).take(np.arange(size), axis)
    return groups


def case(codes, group, scale, more, element, shape):
    """The program, its arguments, and the elements."""
    grid = tuple(-(-size // g) if g else 1 for size, g in zip(shape, group, strict=True))
    arrays, arithmetic = [], "f64" if element == "f64" else "f32"
    stored, x = draw(codes, shape)
    arrays.append(stored)
    stored, ratio = draw(scale, grid)
    arrays.append(stored)
    zero = next((part.split(" = ")[1] for part in more.split(", ") if part.startswith("zero =")), None)
    if zero:
        stored, offset = draw(zero, grid)
        arrays.append(stored)
    if "tensor_scale" in more:
        arrays.append(np.array(.375, np.float32))
    if "table" in more:
        arrays.append(NF4)
        x = NF4.astype(np.float64)[x.astype(int)]
    order = None
    if "order" in more:
        axis = next(axis for axis, g in enumerate(group) if 1 < g < shape[axis])
        order = rng.integers(0, grid[axis], shape[axis]).astype(np.int32)
        arrays.append(order)
    if zero and "after" not in more:
        x = rounded(x - spread(offset, group, shape, order), arithmetic)
    x = rounded(x * spread(ratio, group, shape, order), arithmetic)
    if "after" in more:
        x = rounded(x - spread(offset, group, shape, order), arithmetic)
    if "tensor_scale" in more:
        x = rounded(x * .375, arithmetic)
    x = rounded(x, element)
    n, k = shape
    size = f"{n}x{k}x{element}"
    wide = "f64" if element == "f64" else "f32"
    widen = f"%v = arith.extf %e : {element} to {wide}\n" if element not in ("f32", "f64") else ""
    text = f"""#q = #tile.quantized<codes = {codes}, group = [{group[0]}, {group[1]}], scale = {scale}{more}>
func.func @main(%x: tensor<{M}x{k}x{wide}>, %w: tensor<{size}, #q>) -> (tensor<{size}>, tensor<{M}x{n}x{wide}>, tensor<{size}, #q>) {{
  %d = tile.dequantize %w : tensor<{size}, #q> -> tensor<{size}>
  %i = arith.constant dense<0.0> : tensor<{M}x{n}x{wide}>
  %again = tile.dequantize %w : tensor<{size}, #q> -> tensor<{size}>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %again : tensor<{M}x{k}x{wide}>, tensor<{size}>) outs(%i : tensor<{M}x{n}x{wide}>) {{
  ^bb0(%a: {wide}, %e: {element}, %o: {wide}):
    {widen}
    %p = arith.mulf %a, {'%v' if widen else '%e'} : {wide}
    %s = arith.addf %o, %p : {wide}
    linalg.yield %s : {wide}
  }} -> tensor<{M}x{n}x{wide}>
  return %d, %y, %w : tensor<{size}>, tensor<{M}x{n}x{wide}>, tensor<{size}, #q>
}}
"""
    return text, arrays, x


def check(tool, target, folder, number):
    text, arrays, elements = case(*CASES[number])
    rows = rng.normal(size=(M, elements.shape[1])).astype(np.float64 if CASES[number][4] == "f64" else np.float32)
    (folder / "p.mlir").write_text(text)
    np.savez(folder / "in.npz", **{f"x{i:02}": a for i, a in enumerate([rows, *arrays])})
    done = subprocess.run([tool, folder / "p.mlir", f"--target={target}", f"--in={folder}/in.npz", f"--out={folder}/out.npz"],
                          capture_output=True, text=True)
    if done.returncode:
        return f"failed: {done.stderr[:2000]}"
    with np.load(folder / "out.npz") as out:
        dense, product, *parts = (out[f"result{i}"] for i in range(len(out.files)))
    if CASES[number][4] == "bf16":
        dense = (dense.astype(np.uint32) << 16).view(np.float32)
    if not np.array_equal(dense.astype(np.float64), elements):
        at = tuple(map(int, np.argwhere(dense.astype(np.float64) != elements)[0]))
        return f"wrong at {at}: {dense[at]}, expected {elements[at]}"
    expected, size = rows.astype(np.float64) @ elements.T, np.abs(rows).astype(np.float64) @ np.abs(elements).T
    if not (np.abs(product - expected) <= 2e-6 * size).all():
        return "wrong product"
    same = all(np.array_equal(a.view(np.uint8) if a.ndim else a, b.view(np.uint8) if b.ndim else b)
               for a, b in zip(arrays, parts, strict=True))
    return "right" if same else "wrong parts"


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        for target in sys.argv[2:]:
            for number, (codes, group, scale, more, element, _) in enumerate(CASES):
                outcome = check(sys.argv[1], target, Path(temporary), number)
                wrong += outcome != "right"
                print(f"{target} {codes} {list(group)} {scale}{more} as {element}: {outcome}", flush=True)
    print(f"{len(CASES) * len(sys.argv[2:])} programs, {wrong} wrong")


if __name__ == "__main__":
    main()
