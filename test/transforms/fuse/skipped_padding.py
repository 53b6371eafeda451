"""Convolutions of padded images with odd sizes on the CPU, whose kernels read the image itself (tile-skip-padding).

The interpreter computes the program as it is written, with padded copies. Sizes, strides and dilations are drawn; the
paddings are larger than the window and smaller, and some images are smaller than their padding.

Usage: skipped_padding.py TILE_RUN FOLDER SEED COUNT
"""
import json
import random
import subprocess
import sys
from pathlib import Path

TEXT = """func.func @main(%x: tensor<{image}xf32>) -> tensor<{result}xf32> {{
  %w = arith.constant dense<{weights}> : tensor<{window}xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, {low}, 0] high[0, {high}, 0] {{
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  }} : tensor<{image}xf32> to tensor<{padded}xf32>
  %e = tensor.empty() : tensor<{result}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{result}xf32>) -> tensor<{result}xf32>
  %y = linalg.conv_2d_nhwc_hwcf {{strides = dense<{strides}> : tensor<2xi64>, dilations = dense<{dilations}> : tensor<2xi64>}}
    ins(%p, %w : tensor<{padded}xf32>, tensor<{window}xf32>) outs(%f : tensor<{result}xf32>) -> tensor<{result}xf32>
  return %y : tensor<{result}xf32>
}}
"""


def nested(sizes, number):
    return [nested(sizes[1:], number) for _ in range(sizes[0])] if sizes else number()


def by(*sizes):
    return "x".join(map(str, sizes))


def program(draw):
    channels, features = draw.randint(1, 13), draw.randint(1, 37)
    window, dilations = [draw.randint(1, 5), draw.randint(1, 3)], [draw.randint(1, 7), draw.randint(1, 2)]
    strides, image = [draw.randint(1, 2), draw.randint(1, 2)], [draw.randint(1, 21), draw.randint(1, 21)]
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilations)]
    low, high = [[draw.randint(0, r + 2) for r in reach] for _ in range(2)]
    low[0] += 1  # some padding
    padded = [max(i + a + b, r) for i, a, b, r in zip(image, low, high, reach)]
    high = [p - i - a for p, i, a in zip(padded, image, low)]
    result = [(p - r) // s + 1 for p, r, s in zip(padded, reach, strides)]
    weights = nested([*window, channels, features], lambda: round(draw.uniform(-1, 1), 3))
    return TEXT.format(image=by(2, *image, channels), padded=by(2, *padded, channels), result=by(2, *result, features),
                       window=by(*window, channels, features), weights=weights, low=", ".join(map(str, low)),
                       high=", ".join(map(str, high)), strides=strides, dilations=dilations)


def main(tool, folder, seed, count):
    draw, skipped = random.Random(int(seed)), 0
    file, stats = Path(folder, "program.mlir"), Path(folder, "stats.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    for i in range(int(count)):
        file.write_text(program(draw))
        subprocess.run([tool, file, "--target=cpu", "--check-against=interpret", f"--stats={stats}"], check=True)
        skipped += json.loads(stats.read_text())["passes"]["tile-skip-padding"]["paddings"]
    print(f"{count} programs right, {skipped} read past their padding")
    return 0 if skipped >= int(count) // 2 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
