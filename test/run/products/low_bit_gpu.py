"""Products of several rows by codes on emulated GPUs: right by the interpreter, the multiply-adds on matrix instructions, each code read
once by the program that has its column, no converted weight in memory, and at most 6 instructions a weight.

Usage: low_bit_gpu.py TILE_RUN CHIP…    prints a line for each chip and product.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# m, n, k, group, codes, elements of x, elements of the result, whether the chip multiplies these by an instruction
CASES = [
    (64, 128, 512, 128, "i4", "f16", "f32", "all"), (7, 96, 256, 32, "i4", "f16", "f32", "all"), (33, 40, 192, 64, "ui4", "f16", "f16", "all"),
    (16, 64, 128, 32, "f4E2M1FN", "bf16", "f32", "all"), (128, 64, 256, 128, "i8", "f16", "f32", "all"), (17, 48, 128, 64, "ui2", "f16", "f32", "all"),
    (16, 128, 512, 128, "i8", "f16", "f32", "all"),  # two steps of k within a group: copies ahead of their use
    (16, 128, 256, 64, "nf4", "f16", "f32", "all"),  # a table of the caller's
    (5, 33, 96, 32, "i4", "f32", "f32", "gfx"), (2, 32, 128, 64, "f8E4M3FN", "f16", "f32", "all"),
]
BITS = {"nf4": 4, "i4": 4, "ui4": 4, "f4E2M1FN": 4, "i8": 8, "ui2": 2, "f8E4M3FN": 8}


def program(m, n, k, group, codes, x, out):
    weights = f"tensor<{n}x{k}x{x}, #q>"
    table = ", table = f32" if codes == "nf4" else ""
    return f"""#q = #tile.quantized<codes = {codes.replace("nf4", "ui4")}, group = [1, {group}], scale = f16{table}>
func.func @main(%x: tensor<{m}x{k}x{x}>, %w: {weights}) -> tensor<{m}x{n}x{out}> {{
  %d = tile.dequantize %w : {weights} -> tensor<{n}x{k}x{x}>
  %e = tensor.empty() : tensor<{m}x{n}x{out}>
  %zero = arith.constant 0.0 : {out}
  %z = linalg.fill ins(%zero : {out}) outs(%e : tensor<{m}x{n}x{out}>) -> tensor<{m}x{n}x{out}>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %d : tensor<{m}x{k}x{x}>, tensor<{n}x{k}x{x}>) outs(%z : tensor<{m}x{n}x{out}>) -> tensor<{m}x{n}x{out}>
  return %y : tensor<{m}x{n}x{out}>
}}
"""


def check(tool, chip, folder, m, n, k, group, codes, x, out, matrix):
    (folder / "p.mlir").write_text(program(m, n, k, group, codes, x, out))
    done = subprocess.run([tool, folder / "p.mlir", "--target=interpret", f"--target=emulate:{chip}", "--seed=3", f"--stats={folder}/s.json"],
                          capture_output=True, text=True)
    if done.returncode or "right" not in done.stdout:
        return f"wrong: {done.stdout} {done.stderr[:2000]}"
    subprocess.run([tool, folder / "p.mlir", f"--target=emulate:{chip}", "--seed=3", f"--stats={folder}/s.json"], check=True, capture_output=True)
    kernels = json.loads((folder / "s.json").read_text())["kernels"]
    name = next((name for name in kernels if name.startswith("converted_product")), None)
    if not name:
        return f"wrong: no kernel on codes among {list(kernels)}"
    kernel = kernels[name]
    if (matrix == "all" or chip.startswith(matrix)) and kernel["mma_flops"] < 2 * m * n * k:
        return f"wrong: {kernel['mma_flops']} operations by matrix instructions, expected {2 * m * n * k}"
    wide = sum(v["global_bytes_written"] for v in kernels.values())
    written = m * n * (2 if out == "f16" else 4) + m * k * (4 if x == "f32" else 2)  # the result, and the rows in the codes' order
    if wide > written:
        return f"wrong: {wide} bytes written, expected at most {written}"
    if codes == "nf4":  # two programs read the rows; each of their 128 threads reads four numbers of the table
        least = 2 * (m * k * 2 + 128 * 16) + n * k // 2 + n * (k // group) * 2
        if kernel["global_bytes_read"] > 1.03 * least:
            return f"wrong: {kernel['global_bytes_read']} bytes read, expected {least}"
    if (m, n, k) == (64, 128, 512):
        # Each of the two programs reads all rows, and its columns' codes and scales.
        least = 2 * m * k * 2 + n * k * BITS[codes] // 8 + n * (k // group) * 2
        if kernel["global_bytes_read"] > 1.03 * least or kernel["shared_bank_conflicts"]:
            return f"wrong: {kernel['global_bytes_read']} bytes read, expected {least}; {kernel['shared_bank_conflicts']} conflicts"
        if kernel["instructions"] > 6 * n * k:
            return f"wrong: {kernel['instructions'] / n / k:.1f} thread instructions a weight, expected at most 6"
    return "right"


def main():
    with tempfile.TemporaryDirectory() as temporary:
        for chip in sys.argv[2:]:
            for case in CASES:
                print(f"{chip} {'x'.join(map(str, case[:3]))} {case[4]} by {case[5]}: {check(sys.argv[1], chip, Path(temporary), *case)}", flush=True)


main()
