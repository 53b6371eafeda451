"""Every matrix instruction of every GPU's machine file, over every element type that it takes: one product by it, with its
fragments as layouts, and a larger one whose layouts and atom are chosen, on the emulator, which states the instructions
from the vendors' manuals, against the interpreter.

    every_atom.py --build=BUILD [--chips=sm_80,gfx942]

Dense ones also run with their factors exchanged (NAME.swapped). The atoms come from lib/machine; one that comes later is in LATER, with what is said at the op. With --code, each is also
made into code, which ptxas or AMD's linker takes.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

MACHINES = Path(__file__).resolve().parents[3] / "lib" / "machine"
CHIPS = ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]
LATER = re.compile(r"wgmma\..*|tcgen05\..*|mma\.scaled\..*|mfma\.scale\..*")  # mma_async, in partitions; mma_scaled: scaled_products.py
DIRECT = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}


def atoms_of(chip):
    """{name: (M, N, K, [(A, B, C), …], fragments)}, with those of the machine below."""
    atoms = {}
    for line in (MACHINES / f"{chip}.machine").read_text().splitlines():
        key, _, value = line.split("#")[0].partition("=")
        key, value = key.strip(), value.split()
        if key == "base":
            atoms.update(atoms_of(value[0]))
        elif key.startswith("atom.") and not LATER.fullmatch(key[5:]):
            fragments = atoms[key[5:]][4] if key[5:] in atoms else {}
            atoms[key[5:]] = (*map(int, value[0].split("x")), [tuple(t.split(",")) for t in value[1:]], fragments)
        elif key.startswith("fragment.") and key[9:-2] in atoms:
            atoms[key[9:-2]][4][key[-1]] = ", #tile.layout<" + " ".join(value) + ">"
    return atoms


def with_swapped(atoms):
    """With the twin of each dense one, whose factors the instruction takes in the other order."""
    def turned(layout):
        return re.sub(r"d[01]", lambda axis: "d1" if axis[0] == "d0" else "d0", layout)
    twins = {f"{name}.swapped": (n, m, k, [(b, a, c) for a, b, c in types],
                                 {"a": turned(parts["b"]), "b": turned(parts["a"]), "c": turned(parts["c"])})
             for name, (m, n, k, types, parts) in atoms.items() if "e" not in parts}
    return atoms | twins


def operand(name, shape, element, layout):
    """How a factor comes into the kernel: (what memory holds, lines that make the tile)."""
    element = "f32" if element == "tf32" else element  # by precision: the interpreter has no tiles of tf32
    held = {"bf16": "f32", "i4": "i8"}.get(element, element if element in DIRECT else "i8")
    tile = f"tensor<{shape[0]}x{shape[1]}x{{}}{layout}>"
    lines = [f"%{name}_view = tile.view %{name} : memref<{shape[0]}x{shape[1]}x{held}> to !tile.view<{shape[0]}x{shape[1]}x{held}>",
             f"%{name}_held = tile.load %{name}_view[%0, %0] : !tile.view<{shape[0]}x{shape[1]}x{held}> -> {tile.format(held)}"]
    op = {"bf16": "arith.truncf", "i4": "arith.trunci"}.get(element, "arith.bitcast")
    if element != held:
        lines.append(f"%{name}_tile = {op} %{name}_held : {tile.format(held)} to {tile.format(element)}")
    return held, lines, f"%{name}_{'held' if element == held else 'tile'}", tile.format(element)


def program(chip, atom, shape, types, chosen):
    m, n, k, _, fragments = shape
    scale = 2 if chosen else 1
    sparse = "e" in fragments  # a: 2 of 4 of k; e: a byte of places for every 4 of a
    shapes = [(scale * m, scale * k // (1 + sparse)), (scale * k, scale * n), (scale * m, scale * n)]
    shapes += [(scale * m, scale * k // 8)] * sparse
    parts = [operand(name, s, element, "" if chosen else fragments[name]) for name, s, element in zip("abce", shapes, (*types, "i8"))]
    arguments = [f"%{name}: memref<{s[0]}x{s[1]}x{part[0]}>" for name, s, part in zip("abce", shapes, parts)]
    kinds = [argument.split(": ")[1] for argument in arguments]
    view = f"!tile.view<{shapes[2][0]}x{shapes[2][1]}x{types[2]}>"
    lines = [line for part in parts for line in part[1]]
    by = "" if chosen else f' atom "{atom}"'
    by = " precision tf32" + by if types[0] == "tf32" else by
    inputs_first = arguments[:2] + arguments[3:] + arguments[2:3]
    text = [f"tile.kernel @product({', '.join(inputs_first)}) attributes {{machine = #tile.machine<\"{chip}\">, warps = 1 : i32}} {{",
            "%0 = arith.constant 0 : index", *lines,
            f"%d = tile.mma_sparse {parts[0][2]} at {parts[3][2]}, {parts[1][2]}, {parts[2][2]}{by} : {parts[0][3]}, {parts[3][3]}, "
            f"{parts[1][3]} -> {parts[2][3]}" if sparse else
            f"%d = tile.mma {parts[0][2]}, {parts[1][2]}, {parts[2][2]}{by} : {parts[0][3]}, {parts[1][3]} -> {parts[2][3]}",
            f"tile.store %d, %c_view[%0, %0] : {parts[2][3]}, {view}", "tile.return", "}",
            f"func.func @main({', '.join(arguments)}) {{", "%1 = arith.constant 1 : index",
            f"tile.launch @product grid(%1) ins(%a, %b{', %e' * sparse} : {', '.join(kinds[:2] + kinds[3:])}) outs(%c : {kinds[2]})",
            "return", "}"]
    return "\n".join(text) + "\n", shapes, [part[0] for part in parts]


def data(rng, shape, held, element):
    if held == element and held[0] == "f":
        return rng.normal(size=shape).astype(DIRECT[held])
    if held in ("f32", "bf16"):
        return rng.normal(size=shape).astype(np.float32)
    if element[0] == "i":
        bound = 2 ** (int(element[1:]) - 1) if element != "i32" else 1000
        return rng.integers(-bound, bound, shape).astype(DIRECT[held])
    width = int(re.match(r"f(\d+)", element).group(1))
    return (rng.integers(1, 2 ** (width - 2), shape) | rng.integers(0, 2, shape) << (width - 1)).astype(np.int8)  # at most about 2


def places(rng, shape):
    """Two ascending places of four, twice in a byte."""
    pairs = np.sort(np.argsort(rng.random((*shape, 2, 4)), axis=-1)[..., :2], axis=-1)
    return (pairs << np.array([[0, 2], [4, 6]])).sum(axis=(-1, -2)).astype(np.uint8).view(np.int8)


def dense(kept, where):
    """The left factor with its zeros."""
    whole = np.zeros((kept.shape[0], 2 * kept.shape[1]))
    for i in range(kept.shape[1]):
        at = where[:, i // 4].view(np.uint8) >> 2 * (i % 4) & 3
        whole[np.arange(len(kept)), i // 2 * 4 + at] = kept[:, i]
    return whole


def fnuz(bits, element):
    """The values of f8E4M3FNUZ and f8E5M2FNUZ, which the interpreter does not have: no negative zero, no infinities."""
    fraction = 3 if "M3" in element else 2
    bias = 2 ** (6 - fraction)
    bits = bits.astype(np.uint8).astype(np.int64)
    exponent, low = (bits & 127) >> fraction, bits & ((1 << fraction) - 1)
    size = np.where(exponent == 0, low * 2.0 ** (1 - bias - fraction), (1 + low / (1 << fraction)) * 2.0 ** (exponent - bias))
    return np.where(bits == 128, np.nan, np.where(bits & 128, -size, size))


def check(case):
    chip, atom, shape, types, chosen, options = case
    name = f"{chip} {atom} {','.join(types)}{' chosen' * chosen}"
    text, shapes, held = program(chip, atom, shape, types, chosen)
    rng = np.random.default_rng(abs(hash_of(name)))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "program.mlir").write_text(text)
        command = [options.build / "bin" / "tile-run", folder / "program.mlir", f"--target=emulate:{chip}", f"--stats={folder}/stats.json"]
        arrays = [data(rng, s, kind, element) for s, kind, element in zip(shapes, held, types)]
        arrays += [places(rng, s) for s in shapes[3:]]
        for i, array in enumerate(arrays):
            np.save(folder / f"{i}.npy", array)
            command.append(f"--in={folder}/{i}.npy")
        if "FNUZ" in types[0]:
            left = fnuz(arrays[0], types[0])
            left = dense(left, arrays[3]) if len(arrays) > 3 else left
            np.save(folder / "product.npy", (left @ fnuz(arrays[1], types[1]) + arrays[2]).astype(np.float32))
            files = ["0", "1", "product", "3"][:len(arrays)]
            command += [f"--check-against={folder}/{file}.npy" for file in files] + ["--rtol=1e-5", "--atol=1e-5"]
        else:
            command.append("--check-against=interpret")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"{name}: {(done.stdout + done.stderr).strip()[:600]}"
        stats = (folder / "stats.json").read_text()
        counted = json.loads(stats)["kernels"]["product"]["mma_instructions"]
        if counted < 1 or (counted > 1 and not chosen):
            return f"{name}: {counted} instructions, expected {'some' if chosen else 'one'}"
        if options.code:
            form = "--tile-to-cubin" if chip.startswith("sm_") else "--tile-to-hsaco"
            done = subprocess.run([options.build / "bin" / "tile-translate", folder / "program.mlir", form, f"--chip={chip}", "-o", folder / "code"],
                                  capture_output=True, text=True)
            if done.returncode:
                return f"{name}: no code: {done.stderr.strip()[:600]}"
    return None


def hash_of(text):
    value = 0
    for c in text.encode():
        value = (value * 31 + c) % (1 << 32)
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--code", action="store_true")
    parser.add_argument("--sparse", action="store_true", help="those of 2:4 only")
    options = parser.parse_args()
    cases = [(chip, atom, shape, types, chosen, options) for chip in options.chips.split(",")
             for atom, shape in with_swapped(atoms_of(chip)).items() for types in shape[3]
             for chosen in (False, True)[:1 if atom.endswith("swapped") else 2]
             if "e" in shape[4] or not options.sparse]
    with ThreadPoolExecutor(2) as pool:
        wrong = [line for line in pool.map(check, cases) if line]
    print(*wrong, sep="\n")
    print(f"{len(cases)} products, {len(wrong)} wrong")
    return bool(wrong) or not cases


if __name__ == "__main__":
    sys.exit(main())
