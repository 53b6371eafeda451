#!/usr/bin/env python3
"""What linalg programs move on GPUs, counted by the emulator: bytes and sectors of global memory, instructions.

    .venv/bin/python test/benchmark/traffic.py [--build=build] [--chip=sm_80 --chip=gfx942] [NAME…]

Columns: `least` is what arguments and results hold (a product reads each operand once for each tile across it, a
layernorm its rows in each of its passes); `bytes` what threads asked for; `sectors` those touched, counted for each
instruction of a warp, `fewest` what the bytes would fill; `accesses` loads, stores and asynchronous copies of warps;
`instructions` those of threads. Counts, not times: the same on every machine. docs/gpu.md quotes this table.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def tensor(sizes, element):
    return f"tensor<{'x'.join(map(str, sizes))}x{element}>"


def product(m, n, k, element):
    a, b, c = tensor((m, k), element), tensor((k, n), element), tensor((m, n), "f32")
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%zero : f32) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %r : {c}
}}"""


def softmax(rows, columns, element):
    x = tensor((rows, columns), element)
    return f"""func.func @main(%x: {x}) -> {x} {{
  %e = tensor.empty() : {x}
  %r = linalg.softmax dimension(1) ins(%x : {x}) outs(%e : {x}) -> {x}
  return %r : {x}
}}"""


def layernorm(rows, columns):
    x, w, r = tensor((rows, columns), "f32"), tensor((columns,), "f32"), tensor((rows,), "f32")
    all_, row, column = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (i)>", "affine_map<(i, j) -> (j)>"
    return f"""func.func @main(%x: {x}, %gamma: {w}, %beta: {w}) -> {x} {{
  %zero = arith.constant 0.0 : f32
  %n = arith.constant {float(columns)} : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : {r}
  %ex = tensor.empty() : {x}
  %zeros = linalg.fill ins(%zero : f32) outs(%er : {r}) -> {r}
  %sum = linalg.reduce ins(%x : {x}) outs(%zeros : {r}) dimensions = [1]
    (%v: f32, %acc: f32) {{ %s = arith.addf %v, %acc : f32 linalg.yield %s : f32 }}
  %squares = linalg.generic {{indexing_maps = [{all_}, {row}, {row}], iterator_types = ["parallel", "reduction"]}}
    ins(%x, %sum : {x}, {r}) outs(%zeros : {r}) {{
  ^bb0(%v: f32, %s: f32, %acc: f32):
    %mean = arith.divf %s, %n : f32
    %d = arith.subf %v, %mean : f32
    %d2 = arith.mulf %d, %d : f32
    %t = arith.addf %acc, %d2 : f32
    linalg.yield %t : f32
  }} -> {r}
  %y = linalg.generic {{indexing_maps = [{all_}, {row}, {row}, {column}, {column}, {all_}],
    iterator_types = ["parallel", "parallel"]}}
    ins(%x, %sum, %squares, %gamma, %beta : {x}, {r}, {r}, {w}, {w}) outs(%ex : {x}) {{
  ^bb0(%v: f32, %s: f32, %q: f32, %g: f32, %b: f32, %o: f32):
    %mean = arith.divf %s, %n : f32
    %d = arith.subf %v, %mean : f32
    %variance = arith.divf %q, %n : f32
    %safe = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %safe : f32
    %h = arith.mulf %d, %scale : f32
    %hg = arith.mulf %h, %g : f32
    %hb = arith.addf %hg, %b : f32
    linalg.yield %hb : f32
  }} -> {x}
  return %y : {x}
}}"""


def add(sizes, element):
    x = tensor(sizes, element)
    return f"""func.func @main(%x: {x}, %y: {x}) -> {x} {{
  %e = tensor.empty() : {x}
  %r = linalg.add ins(%x, %y : {x}, {x}) outs(%e : {x}) -> {x}
  return %r : {x}
}}"""


def transpose(rows, columns, element):
    x, y = tensor((rows, columns), element), tensor((columns, rows), element)
    return f"""func.func @main(%x: {x}) -> {y} {{
  %e = tensor.empty() : {y}
  %r = linalg.transpose ins(%x : {x}) outs(%e : {y}) permutation = [1, 0]
  return %r : {y}
}}"""


SIZES = {"f16": 2, "f32": 4}


def bytes_of(*tensors):
    """Of ((sizes, element), …)."""
    return sum(math.prod(sizes) * SIZES[element] for sizes, element in tensors)


def product_row(m, n, k, element):
    return product(m, n, k, element), bytes_of(((m, k), element), ((k, n), element), ((m, n), "f32"))


PROGRAMS = {
    "gemm 512x512x512 f16": product_row(512, 512, 512, "f16"),
    "gemm 512x512x512 f32": product_row(512, 512, 512, "f32"),
    "softmax 512x1024 f32": (softmax(512, 1024, "f32"), 2 * bytes_of(((512, 1024), "f32"))),
    "layernorm 512x1024 f32": (layernorm(512, 1024), 2 * bytes_of(((512, 1024), "f32"), ((1024,), "f32"))),
    "add 1024x1024 f16": (add((1024, 1024), "f16"), 3 * bytes_of(((1024, 1024), "f16"))),
    "transpose 1024x1024 f32": (transpose(1024, 1024, "f32"), 2 * bytes_of(((1024, 1024), "f32"))),
    "add 5x7x83 f32": (add((5, 7, 83), "f32"), 3 * bytes_of(((5, 7, 83), "f32"))),
    "softmax 35x83 f32": (softmax(35, 83, "f32"), 2 * bytes_of(((35, 83), "f32"))),
    "gemm 77x83x95 f16": product_row(77, 83, 95, "f16"),
}


def machine(chip):
    """The numbers of a chip's file."""
    lines = (ROOT / f"lib/machine/{chip}.machine").read_text().splitlines()
    pairs = (line.split("#")[0].split("=", 1) for line in lines if "=" in line.split("#")[0])
    return {key.strip(): value.strip() for key, value in pairs}


def count(build, text, chip, *flags):
    """The statistics of one run on the emulator."""
    with tempfile.TemporaryDirectory() as folder:
        program, stats = Path(folder, "program.mlir"), Path(folder, "stats.json")
        program.write_text(text)
        subprocess.run([build / "bin/tile-run", program, f"--target=emulate:{chip}", f"--stats={stats}", *flags], check=True)
        return json.loads(stats.read_text())


def row(name, chip, least, stats):
    facts = machine(chip)
    moved = stats["global_bytes_read"] + stats["global_bytes_written"]
    # Asynchronous copies are counted for each thread.
    copies = stats["async_copies"] // int(facts["warp.width"])
    numbers = [least, moved, stats["global_transactions"], moved // int(facts["global.transaction"]),
               stats["global_loads"] + stats["global_stores"] + copies, stats["instructions"], stats["barriers"],
               stats["shared_bank_conflicts"]]
    return [name, chip] + [f"{number:,}" for number in numbers]


HEAD = ["program", "chip", "least", "bytes", "sectors", "fewest", "accesses", "instructions", "barriers", "conflicts"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--chip", action="append")
    parser.add_argument("only", nargs="*", help="programs whose names contain one of these")
    options = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |")
    print("| --- | --- " + "| ---: " * (len(HEAD) - 2) + "|")
    for name, (text, least) in PROGRAMS.items():
        if options.only and not any(part in name for part in options.only):
            continue
        for chip in options.chip or ["sm_80", "gfx942"]:
            print("| " + " | ".join(row(name, chip, least, count(options.build, text, chip))) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
