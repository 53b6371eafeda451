"""Registers of constructed products as ptxas counts them: no spills, and no more than the schedule allows.

Usage: registers.py TILE_OPT TILE_TRANSLATE CHIP…
"""
import json
import re
import subprocess
import sys
import tempfile

# m, n, k, element; the last ones have edges, or are split along k
PRODUCTS = [(4096, 4096, 4096, "f16"), (1024, 1024, 1024, "bf16"), (512, 512, 512, "f16"), (384, 768, 768, "f32"), (1024, 1024, 1024, "i8"),
            (1000, 1000, 1000, "f16"), (333, 777, 555, "f16"), (128, 1000, 4032, "f16"), (16, 4096, 4096, "f16")]
# The tile that the sm_80 bar is about: at most 218 registers.
BY_HAND = "block = [128, 128, 32], warps = [2, 2, 1], stages = 3"


def program(m, n, k, element):
    sums = "i32" if element == "i8" else "f32"
    a, b, c = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}x{sums}>"
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant {"0" if element == "i8" else "0.0"} : {sums}
  %e = tensor.empty() : {c}
  %f = linalg.fill ins(%z : {sums}) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%f : {c}) -> {c}
  return %r : {c}
}}
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def scheduled(tile_opt, path, chip, schedule):
    """The program with the schedule on its product, completed."""
    text = run([tile_opt, path, "--pass-pipeline=builtin.module(func.func(linalg-generalize-named-ops))"])
    line = text.index(" {\n", text.index("} ins(", text.rindex("linalg.generic {")))
    with open(path, "w") as file:
        file.write(text[:line] + f" attrs = {{tile.schedule = #tile.schedule<{schedule}>}}" + text[line:])
    return run([tile_opt, path, f"--pass-pipeline=builtin.module(func.func(tile-construct-tiles{{chip={chip}}}))"])


def main(tile_opt, tile_translate, *chips):
    wrong = 0
    construct = "--pass-pipeline=builtin.module(func.func(linalg-generalize-named-ops,canonicalize,tile-construct-tiles{chip=%s},tile-split-reductions{chip=%s},tile-construct-tiles{chip=%s}))"
    with tempfile.TemporaryDirectory() as folder:
        path, stats = f"{folder}/a.mlir", f"{folder}/s.json"
        for chip in chips:
            for product, schedule in [*((product, None) for product in PRODUCTS), (PRODUCTS[0], BY_HAND)]:
                with open(path, "w") as file:
                    file.write(program(*product))
                text = scheduled(tile_opt, path, chip, schedule) if schedule else run([tile_opt, path, construct % (chip, chip, chip)])
                limits = [int(found) for found in re.findall(r"registers = (\d+)", text)]
                with open(path, "w") as file:
                    file.write(text)
                run([tile_translate, path, "--tile-to-cubin", f"--chip={chip}", "-o", f"{folder}/a.cubin", f"--stats={stats}"])
                with open(stats) as file:
                    kernels = json.load(file)["kernels"].values()
                most, spilled = max(kernel["registers"] for kernel in kernels), sum(kernel["spill_bytes"] for kernel in kernels)
                right = spilled == 0 and most <= (218 if schedule else max(limits, default=255))
                wrong += not right
                print(f"{product} on {chip}: {most} registers, {spilled} bytes spilled, at most {max(limits, default=255)}"
                      + ("" if right else " WRONG"))
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
