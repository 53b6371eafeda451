"""Roller's table (Zhu et al., OSDI 2022) on this machine: ./dev reproduce roller [--quick] [--json=FILE]

1. The paper's operators on four machines that we describe: construction time, tiles looked at, and the first tile by the
   model against the best of all aligned tiles by the model.
2. This CPU, measured: elementwise ops, transposes and sums, one thread. Every tile of a sweep is written as the op's
   tile.schedule and run; the table says how the constructed tile, the best of the model's ten and the tile without any
   schedule stand against the fastest of the sweep. Medians of rounds in turns; the spread is the sweep's winner's.
3. The same for matrix products, whose sweep is over register tiles, blocks of k and of rows; each program is compiled
   once.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.."))
BUILD = os.path.join(ROOT, "build")
PREPARE = "linalg-generalize-named-ops,canonicalize"


def tensor(*shape):
    return "tensor<" + "x".join(map(str, shape)) + "xf32>"


def add(m, n):
    t = tensor(m, n)
    return f"""func.func @main(%a: {t}, %b: {t}) -> {t} {{
  %c = tensor.empty() : {t}
  %r = linalg.add ins(%a, %b : {t}, {t}) outs(%c : {t}) -> {t}
  return %r : {t}
}}
"""


def transpose(m, n):
    return f"""func.func @main(%a: {tensor(m, n)}) -> {tensor(n, m)} {{
  %c = tensor.empty() : {tensor(n, m)}
  %r = linalg.transpose ins(%a : {tensor(m, n)}) outs(%c : {tensor(n, m)}) permutation = [1, 0]
  return %r : {tensor(n, m)}
}}
"""


def reduce(m, n, dim):
    out = tensor(n if dim == 0 else m)
    return f"""func.func @main(%a: {tensor(m, n)}) -> {out} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {out}
  %c = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
  %r = linalg.reduce {{arith.addf}} ins(%a : {tensor(m, n)}) outs(%c : {out}) dimensions = [{dim}]
  return %r : {out}
}}
"""


PROGRAMS = [("add 1024x4096", add(1024, 4096)), ("add 127x511", add(127, 511)), ("transpose 1024x2048", transpose(1024, 2048)),
            ("transpose 1000x777", transpose(1000, 777)), ("sum rows 4096x1024", reduce(4096, 1024, 1)),
            ("sum columns 4096x1024", reduce(4096, 1024, 0))]


def product(m, n, k):
    a, b, c = tensor(m, k), tensor(k, n), tensor(m, n)
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {c}
  %c = linalg.fill ins(%z : f32) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %r : {c}
}}
"""


PRODUCTS = [(256, 256, 256), (511, 511, 511), (1024, 1024, 64), (64, 1024, 1024), (127, 255, 511), (333, 777, 555),
            (384, 768, 768), (128, 3072, 768)]


def tool(name, *arguments):
    done = subprocess.run([os.path.join(BUILD, "bin", name), *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name} {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


def generic(path, passes=""):
    return tool("tile-opt", path, f"--pass-pipeline=builtin.module(func.func({PREPARE}{passes}))")


def tiles_of(path):
    """The constructed tiles of the op that moves most, the best first."""
    text = generic(path, ",tile-construct-tiles{chip=native top=10}")
    aliases = dict(re.findall(r"^(#\w+) = (#tile\.schedule<.*>)$", text, re.M))
    lists = [[aliases.get(item, item) for item in re.findall(r"#tile\.schedule<[^>]*>|#schedule\d*", found)]
             for found in re.findall(r"tile\.schedules = \[(.*?)\]\}", text)]
    best = max(lists, key=lambda schedules: int(re.search(r"traffic = \[(\d+)", schedules[0])[1]))
    return [tuple(json.loads(re.search(r"block = (\[[^]]*\])", schedule)[1])) for schedule in best]


def scheduled(path, block, folder, number):
    """The program with this block on its op: the last generic of the function."""
    text = generic(path)
    at = text.rindex("linalg.generic {")
    brace = text.index("} ins(", at)
    line = text.index(" {\n", brace)
    text = text[:line] + f" attrs = {{tile.schedule = #tile.schedule<block = {list(block)}>}}" + text[line:]
    name = f"{folder}/{number}.mlir"
    with open(name, "w") as file:
        file.write(text)
    return name


def run(path, folder):
    """The statistics of seven calls on one thread."""
    stats = f"{folder}/stats.json"
    tool("tile-run", path, "--threads=1", "--repeat=7", f"--stats={stats}")
    with open(stats) as file:
        return json.load(file)


def sweep(quick):
    rows = (1, 8, 64) if quick else (1, 4, 8, 16, 64)
    columns = (64, 1024) if quick else (16, 64, 128, 512, 2048)
    return [(a, b) for a in rows for b in columns if a * b <= 16384]


def measured(quick, rounds):
    """Prints the table; gives its rows and the manifest of its runs."""
    rows, manifest = [], {}
    print(f"{'operator':24}{'tiles':>6}{'best ms':>9}{'spread':>8}  {'best tile':14}{'first':>7} {'tile':14}{'of ten':>7}{'none':>7}")
    ratios = []
    for name, text in PROGRAMS[::3] if quick else PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/program.mlir"
            with open(path, "w") as file:
                file.write(text)
            ten = tiles_of(path)
            blocks = list(dict.fromkeys(ten + sweep(quick)))
            programs = {block: scheduled(path, block, folder, number) for number, block in enumerate(blocks)}
            programs[None] = path
            times = {block: [] for block in programs}
            for _ in range(rounds):
                for block, program in programs.items():
                    stats = run(program, folder)
                    times[block].append(stats["time_ms_median"])
        manifest = {key: stats["manifest"][key] for key in ("version", "commit", "machine", "compiler", "threads", "repeat", "seed")
                    if key in stats["manifest"]}
        medians = {block: statistics.median(values) for block, values in times.items()}
        best = min(blocks, key=medians.get)
        spread = (max(times[best]) - min(times[best])) / medians[best]
        first, of_ten = medians[ten[0]] / medians[best], min(medians[block] for block in ten) / medians[best]
        ratios.append((first, of_ten))
        rows.append({"operator": name, "program": text, "ms": [{"block": block, "rounds": times[block]} for block in programs],
                     "best": best, "constructed": ten, "first": first, "of_ten": of_ten, "none": medians[None] / medians[best]})
        print(f"{name:24}{len(blocks):6}{medians[best]:9.3f}{spread:8.0%}  {'x'.join(map(str, best)):14}{first:7.2f} "
              f"{'x'.join(map(str, ten[0])):14}{of_ten:7.2f}{medians[None] / medians[best]:7.2f}")
    mean = [statistics.geometric_mean(values) for values in zip(*ratios)]
    print(f"geometric means: first {mean[0]:.2f}, best of ten {mean[1]:.2f}; 1.00 is the fastest tile of the sweep")
    return rows, manifest


def up(size, unit):
    return -(-size // unit) * unit


def product_sweep(m, n, k, lanes, quick):
    """Register tiles x blocks of k x blocks of rows, as the text of a schedule; A's block of at most 128 K elements."""
    found = []
    for rows, vectors in ((8, 2), (4, 4)) if quick else ((8, 2), (4, 4), (4, 2), (6, 2), (6, 3), (8, 1), (5, 4), (12, 2)):
        for depth in sorted({min(d, k) if k <= d else d for d in ((256,) if quick else (64, 128, 256, 512))}):
            for parts in (1,) if quick else (1, 2):
                columns, block = vectors * lanes, up(-(-m // parts), rows)
                if block * depth <= 131072:
                    found.append(f'block = [{block}, {up(n, columns)}, {depth}], register = [{rows}, {columns}], pack = [a:"k", b:"n"]')
    return found


def products(quick, rounds):
    print(f"{'product':16}{'tiles':>6}{'best ms':>9}{'spread':>8}{'first':>7}{'of ten':>7}  best of the sweep")
    rows = []
    for m, n, k in [(127, 255, 511)] if quick else PRODUCTS:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/program.mlir"
            with open(path, "w") as file:
                file.write(product(m, n, k))
            text = generic(path, ",tile-construct-tiles{chip=native top=10}")
            told = re.findall(r"#tile\.schedule<(block = \[\d+, \d+, \d+\].*?), time", text)
            ten = list(dict.fromkeys(told))
            lanes = min(int(columns) for columns in re.findall(r"register = \[\d+, (\d+)\]", text))
            lanes = next(width for width in (16, 8, 4) if lanes % width == 0)
            schedules = list(dict.fromkeys(ten + product_sweep(m, n, k, lanes, quick)))
            plain, programs = generic(path), {}
            at = plain.index(" {\n", plain.index("} ins(", plain.rindex("linalg.generic {")))
            for number, schedule in enumerate(schedules):
                with open(f"{folder}/{number}.mlir", "w") as file:
                    file.write(plain[:at] + f" attrs = {{tile.schedule = #tile.schedule<{schedule}>}}" + plain[at:])
                tool("tile-translate", f"{folder}/{number}.mlir", "--tile-to-program", "-o", f"{folder}/{number}.so")
                programs[schedule] = f"{folder}/{number}.so"
            times = {schedule: [] for schedule in schedules}
            for _ in range(rounds):
                for schedule, program in programs.items():
                    tool("tile-exec", program, "--threads=1", "--repeat=9", f"--stats={folder}/stats.json")
                    with open(f"{folder}/stats.json") as file:
                        times[schedule].append(json.load(file)["time_ms_median"])
        medians = {schedule: statistics.median(values) for schedule, values in times.items()}
        best = min(schedules, key=medians.get)
        first, of_ten = medians[ten[0]] / medians[best], min(medians[schedule] for schedule in ten) / medians[best]
        spread = (max(times[best]) - min(times[best])) / medians[best]
        rows.append({"product": [m, n, k], "tiles": len(schedules), "best": best, "best_ms": medians[best], "spread": spread,
                     "first": first, "of_ten": of_ten})
        print(f"{f'{m},{n},{k}':16}{len(schedules):6}{medians[best]:9.3f}{spread:8.0%}{first:7.2f}{of_ten:7.2f}  {best}", flush=True)
    print(f"worst: first {max(row['first'] for row in rows):.2f}, best of ten {max(row['of_ten'] for row in rows):.2f}; "
          "the bars are 1.50 and 1.15")
    return rows


def main(arguments):
    files = [argument[len("--json="):] for argument in arguments if argument.startswith("--json=")]
    if any(argument != "--quick" and not argument.startswith("--json=") for argument in arguments) or "" in files or len(files) > 1:
        sys.exit(__doc__)
    quick, started = "--quick" in arguments, time.strftime("%Y-%m-%dT%H:%M:%S%z")
    print("Constructed by the model (us: of construction; tiles: predictions; ratio: to the best of all aligned tiles)", flush=True)
    table = subprocess.run([os.path.join(BUILD, "test/bin/roller_table_test")] + (["sm_80"] if quick else []), capture_output=True,
                           text=True)
    print(table.stdout, end="")
    print("\nMeasured on this CPU, one thread (ratios to the fastest tile of the sweep)", flush=True)
    rows, manifest = measured(quick, 1 if quick else 3)
    print("\nMatrix products on this CPU, one thread (the same)", flush=True)
    of_products = products(quick, 3)
    if files:
        manifest = {"paper": "roller", "arguments": arguments, "date": started, **manifest}
        with open(files[0], "w") as file:
            json.dump({"manifest": manifest, "constructed": table.stdout.splitlines(), "measured": rows, "products": of_products}, file, indent=1)
    return table.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
