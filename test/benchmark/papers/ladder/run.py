"""Ladder's products by weights of few bits (Wang et al., OSDI 2024), as far as they can be seen without a GPU:
./dev reproduce ladder [--quick] [--json=FILE]

1. This CPU, one thread: a product of 4096 x 4096 weights (--quick: 512 x 512) for each format and M = 1 and 16, from the form of
   tile.dequantize and linalg.matmul in f32: the best of 15 calls, and how much faster than our product by f32 weights.
2. Emulated sm_80 and gfx942, 128 columns of 512 in f16: bytes that the kernels read, beside those of the same product by f16
   weights, and thread instructions of the kernel on codes for each weight. The paper measures an A100 and an MI250.

The paper's formats that have no line: INT1 by sums of binary products, and activations of few bits (tile-bench lowbit).
Exits 1 where a program fails, or where a product of several rows by codes of 4 bits reads more bytes than one by f16.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.."))
RUN = os.path.join(ROOT, "build", "bin", "tile-run")
# name: codes, group, scale, what follows
FORMATS = {
    "INT8": ("i8", 128, "f16", ""), "INT4": ("i4", 128, "f16", ""), "UINT4, zeros": ("ui4", 128, "f16", ", zero = ui4"), "INT2": ("ui2", 128, "f16", ", zero = ui2"),
    "NF4": ("ui4", 128, "f16", ", table = f32"), "FP8 E4M3": ("f8E4M3FN", 0, "f32", ""), "MXFP8": ("f8E4M3FN", 32, "f8E8M0FNU", ""),
    "MXFP4": ("f4E2M1FN", 32, "f8E8M0FNU", ""), "NVFP4": ("f4E2M1FN", 16, "f8E4M3FN", ", tensor_scale = f32"),
}


def program(m, n, k, element, form):
    """A product of x by dequantized weights, or by weights of `element` themselves."""
    dense = f"tensor<{n}x{k}x{element}>"
    held, head, made = dense, "", "%w"
    if form:
        codes, group, scale, more = form
        head = f"#q = #tile.quantized<codes = {codes}, group = [1, {group}], scale = {scale}{more}>\n"
        held, made = f"tensor<{n}x{k}x{element}, #q>", "%d"
    line = f"  %d = tile.dequantize %w : {held} -> {dense}\n" if form else ""
    return f"""{head}func.func @main(%x: tensor<{m}x{k}x{element}>, %w: {held}) -> tensor<{m}x{n}xf32> {{
{line}  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, {made} : tensor<{m}x{k}x{element}>, {dense}) outs(%z : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
"""


def run(folder, text, *flags):
    with open(os.path.join(folder, "p.mlir"), "w") as file:
        file.write(text)
    stats = os.path.join(folder, "s.json")
    done = subprocess.run([RUN, os.path.join(folder, "p.mlir"), "--seed=3", f"--stats={stats}", *flags], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{text}\n{done.stderr[-2000:]}")
    with open(stats) as file:
        return json.load(file)


def on_cpu(folder, size, table):
    print(f"{size} x {size} weights, rows of f32, one thread: ms of the best call, and times as fast as by f32 weights")
    print(f"{'weights':14}" + "".join(f"{f'M = {m}':>20}" for m in (1, 16)))
    dense = {}
    for name, form in [("f32", None), *FORMATS.items()]:
        line = f"{name:14}"
        for m in (1, 16):
            found = run(folder, program(m, size, size, "f32", form), "--target=cpu", "--threads=1", "--repeat=15")
            best = found["time_ms_min"]
            dense.setdefault(m, best)
            table.append({"target": "cpu", "weights": name, "m": m, "ms": best, "manifest": found["manifest"]})
            line += f"{best:10.3f} {dense[m] / best:8.2f}x"
        print(line, flush=True)


def on_chip(folder, chip, rows, table):
    n, k, wrong = 128, 512, 0
    print(f"\n{n} x {k} weights, rows of f16, emulated {chip}: bytes read (times f16's), thread instructions a weight in the kernel on codes")
    print(f"{'weights':14}" + "".join(f"{f'M = {m}':>28}" for m in rows))
    dense = {}
    for name, form in [("f16", None), *FORMATS.items()]:
        line = f"{name:14}"
        for m in rows:
            kernels = run(folder, program(m, n, k, "f16", form), f"--target=emulate:{chip}")["kernels"]
            read = sum(kernel["global_bytes_read"] for kernel in kernels.values())
            own = next((kernel for label, kernel in kernels.items() if label.startswith("converted_product")), None)
            dense.setdefault(m, read)
            bad = name == "INT4" and m > 1 and read >= dense[m]
            wrong += bad
            each = f"{own['instructions'] / (n * k):6.1f}" if own else "     -"
            table.append({"target": chip, "weights": name, "m": m, "bytes": read, "instructions": own and own["instructions"]})
            line += f"{read:12} ({read / dense[m]:4.2f}) {each}{' WRONG' if bad else ''}"
        print(line, flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="512 x 512 on the CPU, one chip, one row count")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    table, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        on_cpu(folder, 512 if arguments.quick else 4096, table)
        for chip in ("sm_80",) if arguments.quick else ("sm_80", "gfx942"):
            wrong += on_chip(folder, chip, (16,) if arguments.quick else (1, 16, 64), table)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"table": table, "manifest": {"paper": "ladder", **table[0]["manifest"]}}, file, indent=1)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
