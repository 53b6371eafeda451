"""Chains of random layouts on the emulator: whatever the conversions between them do, the tile stays what it is.

Layouts with any steps, copies and odd factors; half of the steps stay within warps, so registers, turns and shuffles get
their share. Use: conversions.py BUILD CHIP WARP_WIDTH.
"""
import os
import random
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
from kernel_harness import EmulatedKernels  # noqa: E402

BUILD, CHIP, WIDTH = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(17)
LANES, WARPS = WIDTH.bit_length() - 1, 1
SHAPES = {"f32": (32, 64), "f16": (64, 48), "i8": (16, 128), "f64": (8, 96), "i1": (32, 32), "bf16": (40, 64)}


def vector(step):
    return "+".join(f"d{axis}*{value}" for axis, value in step) if step else "_"


def covering(shape):
    """Steps of one coordinate bit each, and copies, dealt to lanes, warps and registers."""
    steps = [((axis, 1 << bit),) for axis, size in enumerate(shape) for bit in range((size & -size).bit_length() - 1)]
    steps += [()] * max(rng.randrange(3), LANES + WARPS - len(steps))
    rng.shuffle(steps)
    return steps


def within(steps):
    """Registers and lanes dealt anew; some steps get another one added, of another axis."""
    kept, mixed = steps[LANES:LANES + WARPS], steps[:LANES] + steps[LANES + WARPS:]
    rng.shuffle(mixed)
    for _ in range(2):
        i, j = rng.randrange(len(mixed)), rng.randrange(len(mixed))
        if i != j and len(mixed[i]) == 1 and len(mixed[j]) == 1 and mixed[i][0][0] != mixed[j][0][0]:
            mixed[i] = mixed[i] + mixed[j]
    return mixed[:LANES] + kept + mixed[LANES:]


def text(steps, shape):
    modes = {"lane": steps[:LANES], "warp": steps[LANES:LANES + WARPS], "reg": steps[LANES + WARPS:]}
    lists = {name: [f"2:{vector(step)}" for step in steps] for name, steps in modes.items()}
    lists["reg"] += [f"{size // (size & -size)}:d{axis}*{size & -size}" for axis, size in enumerate(shape)
                     if size != size & -size]
    return "#tile.layout<" + ", ".join(f"{name} [{', '.join(lists[name])}]" for name in ("reg", "lane", "warp")) + ">"


def kernel(element, shape, count):
    steps, layouts = covering(shape), []
    for _ in range(count):
        layouts.append(text(steps, shape))
        plain = all(len(step) <= 1 for step in steps)
        steps = within(steps) if plain and rng.random() < 0.6 else covering(shape)
    tile = "x".join(map(str, shape)) + f"x{element}"
    lines = [f"tile.kernel @{element}(%x: memref<{tile}>, %y: memref<{tile}>) attributes "
             f"{{machine = #tile.machine<\"{CHIP}\">, warps = {1 << WARPS} : i32}} {{",
             "  %c0 = arith.constant 0 : index",
             f"  %X = tile.view %x : memref<{tile}> to !tile.view<{tile}>",
             f"  %Y = tile.view %y : memref<{tile}> to !tile.view<{tile}>",
             f"  %v0 = tile.load %X[%c0, %c0] : !tile.view<{tile}> -> tensor<{tile}, {layouts[0]}>"]
    for i in range(1, count):
        lines.append(f"  %v{i} = tile.convert_layout %v{i - 1} : tensor<{tile}, {layouts[i - 1]}> "
                     f"-> tensor<{tile}, {layouts[i]}>")
    lines.append(f"  tile.store %v{count - 1}, %Y[%c0, %c0] : tensor<{tile}, {layouts[-1]}>, !tile.view<{tile}>")
    return "\n".join(lines + ["  tile.return", "}", ""])


numbers, failures = np.random.default_rng(3), 0
DTYPES = {"f32": "f4", "f16": "f2", "i8": "i1", "f64": "f8", "i1": "?", "bf16": "u2"}
with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
    file.write("".join(kernel(element, shape, 7) for element, shape in SHAPES.items()))
    file.flush()
    kernels = EmulatedKernels(file.name, BUILD, CHIP)
    for element, shape in SHAPES.items():
        x = numbers.integers(0, 2 if element == "i1" else 100, shape).astype(DTYPES[element])
        if element == "bf16":
            x += 0x3f80  # bits of numbers from 1 on
        y = np.zeros_like(x)
        kernels.run(element, [x, y], (1, 1, 1))
        failures += not np.array_equal(x, y)
        print(element, "ok" if np.array_equal(x, y) else "is wrong")
print(f"{failures} wrong")
sys.exit(1 if failures else 0)
