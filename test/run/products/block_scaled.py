"""Products by block-scaled weights, as exporters write them in linalg: MXFP8, MXFP6, MXFP4, MXINT8, NVFP4 and groups of i2 to i7. Every
row has all codes in another order, so that each code stands in each place of a word; M 1, 2, 7, 16, 33; ragged last blocks; nan codes and
scales. Against numpy in 64 bits.

Usage: block_scaled.py TILE_RUN TARGET… [--only=TEXT] [--print=FORMAT]    prints a line for each target and format, or a program.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
import float_formats  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "types"))
from narrow_elements import pack  # noqa: E402

ROWS = (1, 2, 7, 16, 33)
N = 24
rng = np.random.default_rng(11)
np.seterr(all="ignore")

# name: element of the weights, its bits, elements of a block, element of the scales, whether a scale of the tensor follows
FORMATS = {
    "mxfp8-e4m3": ("f8E4M3FN", 8, 32, "f8E8M0FNU", False), "mxfp8-e5m2": ("f8E5M2", 8, 32, "f8E8M0FNU", False),
    "mxfp6-e2m3": ("f6E2M3FN", 6, 32, "f8E8M0FNU", False), "mxfp6-e3m2": ("f6E3M2FN", 6, 32, "f8E8M0FNU", False),
    "mxfp4": ("f4E2M1FN", 4, 32, "f8E8M0FNU", False), "mxfp4-exponents": ("f4E2M1FN", 4, 32, "exponents", False),
    "mxint8": ("i8", 8, 32, "f8E8M0FNU", False), "nvfp4": ("f4E2M1FN", 4, 16, "f8E4M3FN", True),
    **{f"int{bits}": (f"i{bits}", bits, 32, "f16", False) for bits in (2, 3, 4, 5, 6, 7)},
}


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def widened(name, element, result):
    """Text that makes %result of f32 from %name."""
    if element == "f32":
        return "", name
    if element == "exponents":  # of e8m0, as exporters without the type write them; 255 would be nan
        return (f"    %{result}i = arith.extui {name} : i8 to i32\n    %{result}h = arith.constant 23 : i32\n"
                f"    %{result}s = arith.shli %{result}i, %{result}h : i32\n    %{result} = arith.bitcast %{result}s : i32 to f32\n"), f"%{result}"
    op = "arith.sitofp" if element.startswith("i") else "arith.extf"
    return f"    %{result} = {op} {name} : {element} to f32\n", f"%{result}"


def program(name, k):
    """x[m, k] of each M by w[n, k] · scale[n, k / block], and by the tensor's scale. A ragged last block is padded and cut off."""
    element, _, block, scale, hasOwn = FORMATS[name]
    held = "i8" if scale == "exponents" else scale
    blocks = -(-k // block)
    whole = blocks * block
    weights, padded, cut = tensor((N, k), element), tensor((N, whole), element), tensor((N, blocks, block), element)
    dense = tensor((N, blocks, block), "f32")
    arguments = [f"%w: {weights}", f"%s: {tensor((N, blocks), held)}"] + (["%t: tensor<f32>"] if hasOwn else [])
    text, source = [], "%w"
    if whole != k:
        zero = f"arith.constant 0 : {element}" if element.startswith("i") else f"arith.constant 0.0 : {element}"
        text += [f"  %zero = {zero}", f"  %padded = tensor.pad %w low[0, 0] high[0, {whole - k}] {{", "  ^bb0(%i: index, %j: index):",
                 f"    tensor.yield %zero : {element}", f"  }} : {weights} to {padded}"]
        source = "%padded"
    one, a = widened("%c", element, "code")
    two, b = widened("%r", scale, "ratio")
    body = one + two + f"    %p = arith.mulf {a}, {b} : f32\n"
    if hasOwn:
        body += "    %q = arith.mulf %p, %own : f32\n"
    maps = "affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, " + ("affine_map<(n, g, k) -> ()>, " if hasOwn else "") + "affine_map<(n, g, k) -> (n, g, k)>"
    ins = f"%cut, %s{', %t' if hasOwn else ''} : {cut}, {tensor((N, blocks), held)}{', tensor<f32>' if hasOwn else ''}"
    text += [f"  %cut = tensor.expand_shape {source} [[0], [1, 2]] output_shape [{N}, {blocks}, {block}] : {padded} into {cut}",
             f"  %e = tensor.empty() : {dense}",
             f"  %d = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]}} ins({ins}) outs(%e : {dense}) {{",
             f"  ^bb0(%c: {element}, %r: {held}, {'%own: f32, ' if hasOwn else ''}%o: f32):", body + f"    linalg.yield %{'q' if hasOwn else 'p'} : f32",
             f"  }} -> {dense}", f"  %joined = tensor.collapse_shape %d [[0], [1, 2]] : {dense} into {tensor((N, whole), 'f32')}"]
    factor = "%joined"
    if whole != k:
        text.append(f"  %f = tensor.extract_slice %joined[0, 0] [{N}, {k}] [1, 1] : {tensor((N, whole), 'f32')} to {tensor((N, k), 'f32')}")
        factor = "%f"
    results = []
    for m in ROWS:
        x, y = tensor((m, k), "f32"), tensor((m, N), "f32")
        arguments.append(f"%x{m}: {x}")
        results.append(y)
        text += [f"  %z{m} = arith.constant dense<0.0> : {y}",
                 f"  %y{m} = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]"
                 f" ins(%x{m}, {factor} : {x}, {tensor((N, k), 'f32')}) outs(%z{m} : {y}) -> {y}"]
    returned = ", ".join(f"%y{m}" for m in ROWS)
    return f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n" + "\n".join(text) + f"\n  return {returned} : {', '.join(results)}\n}}\n"


def apart(text):
    """Repeats the conversion for each product: a conversion that several read is made once, and they read what it makes."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("  %z"))
    head, conversion, products, tail = lines[0], lines[1:first], lines[first:-3], lines[-3:]
    names = sorted({line.split(" =")[0].strip() for line in conversion if line.startswith("  %")}, key=len, reverse=True)
    out = [head]
    for i in range(0, len(products), 2):
        for line in conversion + products[i:i + 2]:
            for name in names:
                line = line.replace(f"{name} ", f"{name}_{i} ").replace(f"{name},", f"{name}_{i},").replace(f"{name}[", f"{name}_{i}[")
            out.append(line)
    return "\n".join(out + tail)


def numbers(element):
    if element.startswith("i"):
        bits = int(element[1:])
        codes = np.arange(1 << bits)
        return np.where(codes >> (bits - 1), codes - (1 << bits), codes).astype(np.float64)
    return float_formats.decode(element)


def data(name, k):
    element, bits, block, scale, hasOwn = FORMATS[name]
    blocks, values = -(-k // block), numbers(element)
    finite = np.flatnonzero(np.isfinite(values))
    codes = np.stack([np.resize(rng.permutation(finite), k) for _ in range(N)])
    codes[0, :] = np.resize(rng.permutation(len(values)), k)  # nan and infinities too
    if scale == "f16":
        held = (rng.random((N, blocks)) * 2 - .7).astype(np.float16)
        ratio = held.astype(np.float64)
    else:
        low, high = (120, 134) if scale != "f8E4M3FN" else (40, 80)
        held = rng.integers(low, high, (N, blocks)).astype(np.uint8)
        held[1, 0] = 255 if scale == "f8E8M0FNU" else 127 if scale == "f8E4M3FN" else held[1, 0]
        ratio = float_formats.decode("f8E8M0FNU" if scale == "exponents" else scale)[held]
        held = held.view(np.int8) if scale == "exponents" else held
    own = [np.float32(.375)] if hasOwn else []
    weights = values[codes] * np.repeat(ratio, block, 1)[:, :k] * (own[0] if own else 1)
    stored = codes.astype(np.uint8) if bits == 8 else pack(codes, bits)
    stored = stored.view(np.int8) if element == "i8" else stored
    rows = [rng.normal(size=(m, k)).astype(np.float32) for m in ROWS]
    return [stored, held, *own, *rows], weights, rows


def check(tool, target, folder, name, k):
    arrays, weights, rows = data(name, k)
    (folder / "p.mlir").write_text(apart(program(name, k)))
    np.savez(folder / "in.npz", **{f"x{i:02}": a for i, a in enumerate(arrays)})
    done = subprocess.run([tool, folder / "p.mlir", f"--target={target}", f"--in={folder}/in.npz", f"--out={folder}/out.npz"],
                          capture_output=True, text=True)
    if done.returncode:
        return f"failed: {done.stderr[:2000]}"
    with np.load(folder / "out.npz") as out:
        seen = [out[f"result{i}"].astype(np.float64) for i in range(len(ROWS))]
    for m, x, y in zip(ROWS, rows, seen, strict=True):
        expected, size = x.astype(np.float64) @ weights.T, np.abs(x.astype(np.float64)) @ np.abs(weights).T
        right = (np.isnan(y) & np.isnan(expected)) | (y == expected) | (np.abs(y - expected) <= 2e-6 * size)
        if not right.all():
            at = tuple(map(int, np.argwhere(~right)[0]))
            return f"wrong: M = {m} at {at}: {y[at]}, expected {expected[at]}"
    return "right"


def main():
    tool, targets = sys.argv[1], [a for a in sys.argv[2:] if not a.startswith("--")]
    only = [a.split("=")[1] for a in sys.argv if a.startswith("--only=")]
    printed = [a.split("=")[1] for a in sys.argv if a.startswith("--print=")]
    if printed:
        print(apart(program(printed[0], 64)))
        return
    wrong = count = 0
    with tempfile.TemporaryDirectory() as temporary:
        for target in targets:
            for name in FORMATS:
                if only and only[0] not in name:
                    continue
                for k in (64, 80):
                    outcome = check(tool, target, Path(temporary), name, k)
                    count, wrong = count + 1, wrong + (outcome != "right")
                    print(f"{target} {name} {k}: {outcome}", flush=True)
    print(f"{count} programs, {wrong} wrong")


if __name__ == "__main__":
    main()
