#!/usr/bin/env python3
"""Tiles of products ranked three ways: by Roller's model, by the emulator's predicted cycles, by the bytes it counts.

    .venv/bin/python test/benchmark/ranking.py [--build=build] [--chip=sm_80 --chip=gfx942] [--top=8] [MxNxK…]

The tiles are the k best of tile-construct-tiles. Each is run on the emulator with --predict. Printed for each product: the
tiles in Roller's order, and Spearman's rank correlation of the three orders (1: the same, -1: reversed). Neither the model
nor the prediction is calibrated on hardware.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from traffic import ROOT, count

PRODUCT = """module attributes {{tile.machine = #tile.machine<"{chip}">}} {{
func.func @main(%a: tensor<{m}x{k}xf16>, %b: tensor<{k}x{n}xf16>, %c: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %d = linalg.generic {{
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  }} ins(%a, %b : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>) outs(%c : tensor<{m}x{n}xf32>) {attributes} {{
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %p = arith.extf %x : f16 to f32
    %q = arith.extf %y : f16 to f32
    %r = arith.mulf %p, %q : f32
    %s = arith.addf %sum, %r : f32
    linalg.yield %s : f32
  }} -> tensor<{m}x{n}xf32>
  return %d : tensor<{m}x{n}xf32>
}}
}}"""


def ranks(values):
    """From 0; equals share the mean of theirs."""
    return [sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2 for value in values]


def spearman(left, right):
    a, b = ranks(left), ranks(right)
    mean = (len(a) - 1) / 2
    spread = (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / spread if spread else float("nan")


def schedules(build, sizes, chip, top):
    """[(block, warps, stages and what follows, Roller's nanoseconds)], best first."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "product.mlir")
        program.write_text(PRODUCT.format(**sizes, chip=chip, attributes=""))
        pipeline = f"builtin.module(func.func(tile-construct-tiles{{top={top}}}))"
        text = subprocess.run([build / "bin/tile-opt", program, f"--pass-pipeline={pipeline}"], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"#tile\.schedule<(?:kind = \"\w+\", )?block = (\[[^]]*\]), warps = (\[[^]]*\]), stages = (\d+)([^>]*?), time = (\d+)", text)
    return [(block, warps, stages + rest, int(time)) for block, warps, stages, rest, time in dict.fromkeys(found)]


def rank(build, sizes, chip, top):
    rows = []
    for block, warps, stages, time in schedules(build, sizes, chip, top):
        attributes = f"attrs = {{tile.schedule = #tile.schedule<block = {block}, warps = {warps}, stages = {stages}>}}"
        stats = count(build, PRODUCT.format(**sizes, chip=chip, attributes=attributes), chip, "--predict")
        rows.append((f"{block} {warps} {stages.split(',')[0]}", time, 1e6 * stats["predicted_ms"],
                     stats["global_bytes_read"] + stats["global_bytes_written"]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--chip", action="append")
    parser.add_argument("--top", type=int, default=8)
    parser.add_argument("products", nargs="*", default=["256x256x256", "512x512x128", "64x1024x256"])
    options = parser.parse_args()
    for chip in options.chip or ["sm_80", "gfx942"]:
        for product in options.products:
            rows = rank(options.build, dict(zip("mnk", map(int, product.split("x")))), chip, options.top)
            print(f"{product} f16 on {chip}, uncalibrated\n{'block, warps, stages':42}{'Roller ns':>11}{'predicted ns':>14}{'bytes':>12}")
            for name, time, predicted, moved in rows:
                print(f"{name:42}{time:>11,}{predicted:>14,.0f}{moved:>12,}")
            _, times, predictions, bytes_ = zip(*rows)
            print(f"rank correlation: Roller and prediction {spearman(times, predictions):.2f}, Roller and bytes {spearman(times, bytes_):.2f}, "
                  f"prediction and bytes {spearman(predictions, bytes_):.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
