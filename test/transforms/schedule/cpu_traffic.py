"""Predicted traffic of a CPU's matrix products against what the kernels ask of memory, byte for byte: the interpreter runs
the kernels of convert-linalg-to-tile and counts what goes through their views (--stats: view_bytes_read, _written).

Usage: cpu_traffic.py TILE_OPT TILE_RUN    prints one line per product and, last, how many were wrong.
"""
import json
import re
import subprocess
import sys
import tempfile

CONSTRUCT = "builtin.module(func.func(tile-construct-tiles{chip=%s}))"
CONVERT = "builtin.module(convert-linalg-to-tile{chip=%s})"
PACKED = ', kind = "packed"'
COLUMNS = ', kind = "along-depth"'
DIRECT = ', kind = "direct"'
STREAMED = ', kind = "streamed"'

# Batch, m, n, k, element, what a person wrote or None, whether C's start value is read.
PRODUCTS = [
    (1, 64, 96, 80, "f32", None, False),
    (1, 61, 77, 50, "f32", None, False),
    (1, 127, 255, 130, "f32", None, True),
    (1, 1, 300, 64, "f32", None, False),
    (1, 5, 300, 63, "f32", None, False),
    (3, 20, 40, 30, "f32", None, False),
    (1, 50, 60, 70, "f64", None, False),
    (1, 61, 77, 50, "f32", "block = [1, 14, 48, 24], register = [7, 48]" + PACKED, False),
    (1, 61, 77, 50, "f32", "block = [1, 16, 64, 16], register = [4, 64]" + PACKED, True),
    (1, 61, 77, 50, "f32", "block = [1, 64, 96, 25]", False),
    (1, 9, 200, 50, "f32", "block = [1, 9, 64, 3]" + STREAMED, False),
    (2, 61, 77, 50, "f32", "block = [1, 8, 32, 8], register = [2, 16]" + PACKED, True),
    (2, 61, 77, 50, "f32", "block = [1, 16, 32, 24], register = [8, 16]" + DIRECT, True),
    (1, 61, 3, 50, "f32", None, False),
    (3, 61, 5, 37, "f32", "block = [1, 16, 5, 37], register = [2, 5]" + COLUMNS, True),
    (1, 7, 77, 50, "f32", "block = [1, 9, 96, 50], register = [3, 48]" + DIRECT, False),
]


def program(batch, m, n, k, element, schedule, reads):
    a, b, c = (f"tensor<{batch}x{rows}x{columns}x{element}>" for rows, columns in ((m, k), (k, n), (m, n)))
    attributes = f" attrs = {{tile.schedule = #tile.schedule<{schedule}>}}" if schedule else ""
    start = "%c" if reads else "%f"
    return f"""func.func @main(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %z = arith.constant 0.0 : {element}
  %f = linalg.fill ins(%z : {element}) outs(%c : {c}) -> {c}
  %r = linalg.generic {{indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>,
    affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
    ins(%a, %b : {a}, {b}) outs({start} : {c}){attributes} {{
  ^bb0(%x: {element}, %y: {element}, %s: {element}):
    %p = arith.mulf %x, %y : {element}
    %t = arith.addf %s, %p : {element}
    linalg.yield %t : {element}
  }} -> {c}
  return %r : {c}
}}
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(tile_opt, tile_run):
    wrong = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        path, planned, kernels, stats = (f"{folder}/{name}" for name in ("a.mlir", "b.mlir", "c.mlir", "s.json"))
        for chip in ("x86-64-v4", "x86-64-v3"):
            for product in PRODUCTS:
                if chip != "x86-64-v4" and product[5]:
                    continue  # written for vectors of 16
                with open(path, "w") as file:
                    file.write(program(*product))
                run(tile_opt, path, f"--pass-pipeline={CONSTRUCT % chip}", "-o", planned)
                run(tile_opt, planned, f"--pass-pipeline={CONVERT % chip}", "-o", kernels)
                run(tile_run, kernels, "--target=interpret", f"--stats={stats}")
                with open(planned) as file:
                    schedule, traffic = re.search(r"#tile\.schedule<(kind = .*?), time = .*?traffic = \[(\d+)\]", file.read()).groups()
                with open(stats) as file:
                    seen = json.load(file)
                counted = seen["view_bytes_read"] + seen["view_bytes_written"]
                wrong += counted != int(traffic)
                runs += 1
                print(f"{'x'.join(map(str, product[:4]))} on {chip}: {schedule}: {traffic} predicted, {counted} counted"
                      f"{'' if counted == int(traffic) else ' WRONG'}")
    print(f"{runs} runs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
