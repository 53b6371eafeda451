"""Roller's table (Zhu et al., OSDI 2022) on this machine:
./dev reproduce roller [--quick] [--only=REGEX] [--json=FILE] [--within=COMMAND [--together=N]]

1. The paper's operators on four machines that we describe: construction time, tiles looked at, and the first tile by the
   model against the best of all aligned tiles by the model. Left out with --only.
2. This CPU, measured, one thread: elementwise ops, transposes, sums and matrix products (--only: those whose names match).
   Every tile of a sweep is written as the op's tile.schedule, compiled once and run; the table says how the constructed
   tile, the best of the model's ten and the program without any schedule stand against the fastest of all. A product's
   sweep is over register tiles, blocks of k, of rows and of columns, packed and unpacked.

A run is a process that computes for some 20 ms; its median call counts. Three rounds over all tiles in turns, then eight
over the model's ten and the ten fastest others; a tile's time is the median of its rounds, the spread that of the fastest.
--within: what is timed, N operators at once, runs as COMMAND … for less than a minute: COMMAND may keep other work from the
machine meanwhile. Everything is compiled before.
"""
import concurrent.futures
import json
import os
import re
import shlex
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


def constructed(path):
    """What decides of the ten best schedules of the op that moves most, the best first, as their texts."""
    text = generic(path, ",tile-construct-tiles{chip=native top=10}")
    aliases = dict(re.findall(r"^(#\w+) = (#tile\.schedule<.*>)$", text, re.M))
    lists = [[aliases.get(item, item) for item in re.findall(r"#tile\.schedule<[^>]*>|#schedule\d*", found)]
             for found in re.findall(r"tile\.schedules = \[(.*?)\]\}", text)]
    best = max(lists, key=lambda schedules: int(re.search(r"traffic = \[(\d+)", schedules[0])[1]))
    return list(dict.fromkeys(re.match(r"#tile\.schedule<(.*?), time", schedule)[1] for schedule in best))


def scheduled(path, schedule):
    """The program with this schedule on its op: the last generic of the function."""
    text = generic(path)
    line = text.index(" {\n", text.index("} ins(", text.rindex("linalg.generic {")))
    return text[:line] + f" attrs = {{tile.schedule = #tile.schedule<{schedule}>}}" + text[line:]


def sweep(quick):
    rows = (1, 8, 64) if quick else (1, 4, 8, 16, 64)
    columns = (64, 1024) if quick else (16, 64, 128, 512, 2048)
    return [f"block = [{a}, {b}]" for a in rows for b in columns if a * b <= 16384]


def up(size, unit):
    return -(-size // unit) * unit


def product_sweep(m, n, k, lanes, quick):
    """Register tiles x blocks of k x all rows and columns, half of the rows, half of the columns, packed, A's block of at most 128 K
    elements; and unpacked, in blocks of 256 and of all of k."""
    found = []
    for rows, vectors in ((8, 2), (4, 4)) if quick else ((8, 2), (4, 4), (4, 2), (6, 2), (6, 3), (8, 1), (5, 4), (12, 2)):
        for depth in sorted({min(d, k) if k <= d else d for d in ((256,) if quick else (64, 128, 256, 512))}):
            for parts, halves in ((1, 1),) if quick else ((1, 1), (2, 1), (1, 2)):
                width, block = vectors * lanes, up(-(-m // parts), rows)
                columns = up(-(-n // halves), width)
                if block * depth <= 131072:
                    found.append(f'kind = "packed", block = [{block}, {columns}, {depth}], register = [{rows}, {width}]')
        for depth in sorted({min(256, k), k}) if not quick else ():
            block = f"block = [{up(m, rows)}, {up(n, vectors * lanes)}, {depth}]"
            found.append(f'kind = "direct", {block}, register = [{rows}, {vectors * lanes}]')
    return found


def prepare(name, text, folder, quick):
    """Compiles the operator once for every schedule and without one: FOLDER/NUMBER.so. Gives them in that order, and how many of
    the first are the model's."""
    path = f"{folder}/program.mlir"
    with open(path, "w") as file:
        file.write(text)
    ten = constructed(path)
    shape = re.fullmatch(r"product (\d+),(\d+),(\d+)", name)
    if shape:
        columns = [int(each) for each in re.findall(r"register = \[\d+, (\d+)\]", " ".join(ten))]
        lanes = next((width for width in (16, 8) if all(each % width == 0 for each in columns)), 4)
        others = product_sweep(*map(int, shape.groups()), lanes, quick)
    else:
        others = sweep(quick)
    schedules = [*dict.fromkeys(ten + others), None]

    def compile_one(number):
        source, schedule = f"{folder}/{number}.mlir", schedules[number]
        with open(source, "w") as file:
            file.write(scheduled(path, schedule) if schedule else text)
        tool("tile-translate", source, "--tile-to-program", "-o", f"{folder}/{number}.so")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, range(len(schedules))))
    return schedules, len(ten)


def run_once(folder, number, calls):
    tool("tile-exec", f"{folder}/{number}.so", "--threads=1", f"--repeat={calls}", f"--stats={folder}/stats.json")
    with open(f"{folder}/stats.json") as file:
        stats = json.load(file)
    return stats["time_ms_median"], stats["manifest"]


def time_folder(folder, seconds):
    """Times FOLDER/NUMBER.so into FOLDER/times.json; FOLDER/plan.json says how many there are, how many are the model's and how many
    rounds all of them are worth."""
    with open(f"{folder}/plan.json") as file:
        plan = json.load(file)
    end = time.monotonic() + seconds
    calls = {number: max(3, min(500, round(20 / run_once(folder, number, 3)[0]))) for number in range(plan["programs"])}
    times = {number: [] for number in calls}

    def once_each(numbers, until):
        for number in numbers:
            if times[number] and time.monotonic() > until:
                return
            times[number].append(run_once(folder, number, calls[number])[0])

    for _ in range(plan["rounds"]):
        once_each(calls, end - seconds / 2)
    fastest = sorted(range(plan["constructed"], plan["programs"] - 1), key=lambda number: statistics.median(times[number]))
    final = [*range(plan["constructed"]), *fastest[:10], plan["programs"] - 1]
    for _ in range(plan["final"]):
        once_each(final, end)
    with open(f"{folder}/times.json", "w") as file:
        json.dump({"times": [times[number] for number in calls], "final": final, "manifest": run_once(folder, 0, 3)[1]}, file)


def report(name, schedules, count, folder):
    with open(f"{folder}/times.json") as file:
        found = json.load(file)
    times = found["times"]
    medians = [statistics.median(values) for values in times]
    best = min((number for number in found["final"] if number < len(schedules) - 1), key=medians.__getitem__)
    spread = (max(times[best]) - min(times[best])) / medians[best]
    first, of_ten, none = (value / medians[best] for value in (medians[0], min(medians[:count]), medians[-1]))
    print(f"{name:24}{len(schedules) - 1:6}{medians[best]:9.3f}{spread:8.0%}{first:7.2f}{of_ten:7.2f}{none:7.2f}  "
          f"{short(schedules[0]):29}{short(schedules[best])}", flush=True)
    return {"operator": name, "ms": [{"schedule": schedule, "rounds": rounds} for schedule, rounds in zip(schedules, times)],
            "best": schedules[best], "first": first, "of_ten": of_ten, "none": none, "manifest": found["manifest"]}


def short(schedule):
    sizes = [re.search(rf"{key} = \[([\d, ]*)\]", schedule) for key in ("block", "register")]
    return " by ".join(found[1].replace(", ", "x") for found in sizes if found)


def measured(operators, quick, within, together):
    rows = []
    print(f"{'operator':24}{'tiles':>6}{'best ms':>9}{'spread':>8}{'first':>7}{'of ten':>7}{'none':>7}  {'first tile':29}best tile")
    for at in range(0, len(operators), together):
        with tempfile.TemporaryDirectory() as folder:
            batch = []
            for name, text in operators[at:at + together]:
                own = f"{folder}/{len(batch)}"
                os.mkdir(own)
                schedules, count = prepare(name, text, own, quick)
                plan = {"programs": len(schedules), "constructed": count, "rounds": 1 if quick else 3, "final": 0 if quick else 8}
                with open(f"{own}/plan.json", "w") as file:
                    json.dump(plan, file)
                batch.append((name, schedules, count, own))
            done = subprocess.run([*within, sys.executable, os.path.abspath(__file__), TIME, *(own for *_, own in batch)])
            if done.returncode:
                sys.exit("the timing failed: " + ", ".join(name for name, *_ in batch))
            rows += [report(*each) for each in batch]
    mean = [statistics.geometric_mean(row[key] for row in rows) for key in ("first", "of_ten")]
    print(f"geometric means: first {mean[0]:.2f}, best of ten {mean[1]:.2f}; 1.00 is the fastest tile of the sweep")
    worst = [max((row[key] for row in rows if row["operator"].startswith("product")), default=None) for key in ("first", "of_ten")]
    if worst[0]:
        print(f"worst of the products: first {worst[0]:.2f}, best of ten {worst[1]:.2f}; the bars are 1.50 and 1.15")
    return rows


TIME = "--time"  # what a command of --within runs
SECONDS = 54  # all that is timed in one command


def time_folders(folders):
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cpus)})
    end = time.monotonic() + SECONDS
    for number, folder in enumerate(folders):
        time_folder(folder, (end - time.monotonic()) / (len(folders) - number))


def main(arguments):
    if arguments[:1] == [TIME]:
        return time_folders(arguments[1:])
    options = {"only": "", "json": "", "within": "", "together": "1"}
    for argument in arguments:
        name, _, value = argument[2:].partition("=")
        if argument != "--quick" and (argument[:2] != "--" or name not in options or not value):
            sys.exit(__doc__)
        options[name] = value
    quick, started = "--quick" in arguments, time.strftime("%Y-%m-%dT%H:%M:%S%z")
    try:
        chosen, together = re.compile(options["only"]), max(1, int(options["together"]))
    except (re.error, ValueError) as error:
        sys.exit(f"{error}\n{__doc__}")
    operators = (PROGRAMS[::3] if quick else PROGRAMS) + [(f"product {m},{n},{k}", product(m, n, k))
                                                         for m, n, k in ([(127, 255, 511)] if quick else PRODUCTS)]
    operators = [operator for operator in operators if chosen.search(operator[0])]
    if not operators:
        sys.exit(f"no operator matches '{options['only']}'")
    status, table = 0, ""
    if not options["only"]:
        print("Constructed by the model (us: of construction; tiles: predictions; ratio: to the best of all aligned tiles)", flush=True)
        done = subprocess.run([os.path.join(BUILD, "test/bin/roller_table_test")] + (["sm_80"] if quick else []),
                              capture_output=True, text=True)
        status, table = done.returncode, done.stdout
        print(table)
    print("Measured on this CPU, one thread (ratios to the fastest tile of the sweep)", flush=True)
    rows = measured(operators, quick, shlex.split(options["within"]), together)
    if options["json"]:
        ran = {key: value for key, value in rows[-1]["manifest"].items() if key in ("version", "commit", "machine", "compiler", "threads")}
        with open(options["json"], "w") as file:
            json.dump({"manifest": {"paper": "roller", "arguments": arguments, "date": started, **ran},
                       "constructed": table.splitlines(), "measured": rows}, file, indent=1)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
