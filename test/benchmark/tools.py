"""How fast the tools are, beside the unmodified mlir-opt: start-up, and a module of 100,000 ops; and Python beside tile-opt.

  start   `tile-opt --version` against `mlir-opt --version` (bar: 1.2x)
  module  parse, verify and print 100,000 Tile ops with tile-opt, and as many arith ops with mlir-opt (bar: 1.5x in
          time and in peak memory)
  import  `import tessera` within a Python process (bar: 150 ms)
  trip    parse, run cse and print from Python, beside `tile-opt --cse`: the 100,000 ops in a process of its own (bar:
          1.2x), and a program of 8 ops in a Python that runs already, beside the tool's whole process (bar: 1.2x)

Runs alternate, medians are printed with their quartiles, and the ratio is of the medians. Exit status 1 past a bar.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def timed(command):
    """Wall seconds and peak memory in MiB of one run; stdout is discarded."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def alternate(ours, theirs, runs):
    """Medians of interleaved runs: ((seconds, MiB) of ours, of theirs), and the quartiles of the time ratio."""
    timed(ours), timed(theirs)
    pairs = [(timed(ours), timed(theirs)) for _ in range(runs)]
    ratios = sorted(a[0] / b[0] for a, b in pairs)
    median = [[statistics.median(p[who][what] for p in pairs) for what in (0, 1)] for who in (0, 1)]
    return median, (ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4])


def tile_module(path, count, per_kernel=100):
    """`count` ops in kernels of `per_kernel`: loads, reductions, broadcasts, stores."""
    with open(path, "w") as f:
        for k in range(count // per_kernel):
            f.write(f"tile.kernel @k{k}(%m: memref<?x64xf32>) {{\n  %c0 = arith.constant 0 : index\n"
                    "  %V = tile.view %m : memref<?x64xf32> to !tile.view<8x64xf32>\n")
            for i in range((per_kernel - 4) // 4):
                f.write(f"  %a{i} = tile.load %V[%c0, %c0] : !tile.view<8x64xf32> -> tensor<8x64xf32>\n"
                        f"  %b{i} = tile.reduce {{arith.addf}} %a{i} axes [1] : tensor<8x64xf32> -> tensor<8xf32>\n"
                        f"  %d{i} = tile.broadcast %b{i} axes [1] : tensor<8xf32> -> tensor<8x64xf32>\n"
                        f"  tile.store %d{i}, %V[%c0, %c0] : tensor<8x64xf32>, !tile.view<8x64xf32>\n")
            f.write("  tile.return\n}\n")


def arith_module(path, count, per_function=100):
    """`count` arith ops in functions of `per_function`."""
    with open(path, "w") as f:
        for k in range(count // per_function):
            f.write(f"func.func @f{k}(%x0: f32, %y: f32) -> f32 {{\n")
            for i in range(per_function - 2):
                f.write(f"  %x{i + 1} = arith.{'addf' if i % 2 else 'mulf'} %x{i}, %y : f32\n")
            f.write(f"  return %x{per_function - 2} : f32\n}}\n")


def report(name, median, quartiles, bars):
    (seconds, memory), (their_seconds, their_memory) = median
    ratio, memory_ratio = seconds / their_seconds, memory / their_memory
    print(f"{name:<10} tile-opt {seconds * 1e3:8.1f} ms {memory:7.1f} MiB   mlir-opt {their_seconds * 1e3:8.1f} ms "
          f"{their_memory:7.1f} MiB   time {ratio:.2f}x (quartiles {quartiles[0]:.2f} to {quartiles[1]:.2f}), "
          f"memory {memory_ratio:.2f}x, bar {bars[0]}x")
    return ratio <= bars[0] and (len(bars) == 1 or memory_ratio <= bars[1])


ROUND_TRIP = """
import sys, time
start = time.perf_counter()
import tessera
if sys.argv[1:] == []:
    print((time.perf_counter() - start) * 1e3)
    sys.exit()
path, runs = sys.argv[1], int(sys.argv[2])
for _ in range(runs):
    start = time.perf_counter()
    module = tessera.load(path)
    module.run_passes("cse")
    text = str(module)
    seconds = time.perf_counter() - start
    sys.stdout.write(text)
print(seconds, file=sys.stderr)
"""


def python(*arguments):
    return [sys.executable, "-c", ROUND_TRIP, *map(str, arguments)]


def round_trip(name, tile_opt, path, repeats, runs):
    """parse, cse, print in a running Python (the last of `repeats`) beside tile-opt's whole process; whether the bar is met."""
    trips, wholes, theirs = [], [], []
    for _ in range(runs):
        start = time.perf_counter()
        seen = subprocess.run(python(path, repeats), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
        wholes.append(time.perf_counter() - start)
        trips.append(float(seen.stderr))
        theirs.append(timed([tile_opt, path, "--cse"])[0])
    low, _, high = statistics.quantiles([ours / other for ours, other in zip(trips, theirs)], n=4)
    ours, whole, other = map(statistics.median, (trips, wholes, theirs))
    print(f"{name:<10} Python   {ours * 1e3:8.1f} ms (its whole process {whole * 1e3:.1f})   tile-opt {other * 1e3:8.1f} ms   "
          f"time {ours / other:.2f}x (quartiles {low:.2f} to {high:.2f}), bar 1.2x")
    return ours <= 1.2 * other


def bench_python(options, tile_opt, large, small):
    """Import and round trips; whether the bars are met."""
    os.environ["TESSERA_HOME"] = str(options.build)
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2] / "python")
    imports = [float(subprocess.check_output(python())) for _ in range(options.runs + 1)][1:]
    print(f"import     tessera {statistics.median(imports):9.1f} ms, bar 150 ms")
    good = round_trip("trip 100k", tile_opt, large, 1, max(5, options.runs // 3))
    good = round_trip("trip 8", tile_opt, small, 5, options.runs) and good
    return good and statistics.median(imports) < 150


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[2] / "build")
    parser.add_argument("--mlir-opt", default="mlir-opt-22")
    parser.add_argument("--runs", type=int, default=21)
    options = parser.parse_args()
    tile_opt = options.build / "bin" / "tile-opt"
    good = report("start", *alternate([tile_opt, "--version"], [options.mlir_opt, "--version"], options.runs), (1.2,))
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "tile.mlir", Path(folder) / "arith.mlir"
        tile_module(ours, 100_000)
        arith_module(theirs, 100_000)
        result = alternate([tile_opt, ours], [options.mlir_opt, theirs], max(5, options.runs // 3))
        good = report("100k ops", *result, (1.5, 1.5)) and good
        small = Path(__file__).resolve().parents[1] / "run" / "products" / "matmul_static.mlir"
        good = bench_python(options, tile_opt, ours, small) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
