#!/usr/bin/env python3
"""tile-bench: our compiled programs beside the peers found on this machine, table by table.

    tile-bench [TABLE…] [--threads=1,2] [--seconds=1] [--json=F] [--page=F.html] [--sweep=OP:m=…,n=…,k=…] [--list]
    tile-bench --sweep=FILE.toml [--results=FOLDER] [--jobs=N] [--list]

Every contender is a process of its own on the same cores. Each result is judged against exact arithmetic before anything is
timed; then the contenders take turns in short bursts, stopped in between, and the figures are medians over the rounds. A row
shows operations per second (bytes where there is nothing to compute), the ratio to the best peer with its quartiles over
the rounds, and each table its geometric mean. Exit status 1 when a result of ours is wrong; a peer's is named and left out.

Peers: OpenBLAS beside numpy; torch, onnxruntime (with the package onnx) and iree where a Python has them: --peer-python=FILE
(default: this one); with --vs=torch,inductor the same calls by torch.compile, too. Below a table stand its worst rows, and
what torch computed with, by the verbose lines of oneDNN and MKL. Of sparse products upstream's sparsifier is a peer, where
the tools of MLIR are; of products by weights of few bits onnxruntime's MatMulNBits. gpu-static compiles for
GPUs that need not be there, beside Triton, CUDA Tile IR and TileLang where that Python has them; gpu-static --import, kernels of
Triton from their TTIR, beside Triton. python measures what calls
from Python cost, and kernels of examples/python beside PyTorch, where that Python has it. torch-compile runs models by torch.compile with our backend beside eager PyTorch and inductor. imported runs pretrained ONNX models of
installed packages beside onnxruntime (imported.py); --only=WORD,… takes the models whose names have one of the words.
A sweep takes lists: --sweep=gemm:m=64/128,n=1024,k=1024 is one table of all combinations. A sweep in a file is an experiment with a
program of your own, over sizes, types, options of passes, targets and fields of a machine: docs/sweeps.md.
"""
import argparse
import ctypes
import itertools
import json
import math
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import numpy as np  # noqa: E402
import construct  # noqa: E402
import imported  # noqa: E402
import page  # noqa: E402
import python_calls  # noqa: E402
import torch_compile  # noqa: E402
from gpu import static  # noqa: E402
from operators import ARRAYS, OPERATORS, UNIT, sums_of, widen  # noqa: E402
from sweep import run_sweep  # noqa: E402
from tables import COMPILED, DEFAULT, TABLES, title  # noqa: E402

PEERS = ["openblas", "torch", "inductor", "onnxruntime", "iree", "sparsifier", "matmulnbits"]
SLOW = ["inductor"]  # compiles each row for seconds
ONLY_FOR = {"sparsifier": ("sparse", "tiny"), "matmulnbits": ("lowbit", "tiny", "sweep")}  # tables


def begin_worker(nice):
    """In the new process: it ends with this one, stopped or not."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    os.nice(nice)


class Worker:
    """A contender's process (worker.py). It stands still but while it is asked: pools spin long after their last job, and
    would take a core from whoever's turn it is."""

    def __init__(self, name, threads, options, paths):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
        for key in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[key] = str(threads)
        environment |= {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "1000000000"}  # results stay mapped
        python = sys.executable if name in ("ours", "ours-imported", "openblas", "sparsifier") else options.peer_python
        cpus = sorted(os.sched_getaffinity(0))[:threads]
        self.name, self.process = name, subprocess.Popen(
            [python, HERE / "worker.py", name, str(threads), ",".join(map(str, cpus)), json.dumps(paths)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
            preexec_fn=lambda: begin_worker(options.nice))
        self.state = self.read()

    def read(self):
        line = self.process.stdout.readline()
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(line) if line else {"absent": "its process ended"}

    def ask(self, **order):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.send_signal(signal.SIGCONT)
        self.process.wait()


def judge(result, exact, terms, dtype, sums):
    """The largest error as a share of the bound, and whether all is right (a NaN is not). Terms are summed in `sums` or
    wider: bf16's in f32."""
    result = widen(np.asarray(result)).astype(exact.dtype).reshape(exact.shape)
    unit = 0.0 if dtype == "i8" else UNIT["f16" if sums == "f16" else "f32"]
    bound = unit * terms + (UNIT[dtype] * abs(exact) if dtype in ("bf16", "f16") else 0) + 1e-30  # torch's result is narrow
    error = abs(result - exact) / bound
    return float(error.max(initial=0)), bool((error <= 1).all())


def translate(options, text, output):
    output.with_suffix(".mlir").write_text(text)
    start = time.perf_counter()
    subprocess.run([options.build / "bin/tile-translate", output.with_suffix(".mlir"), "--tile-to-program", "-o", output], check=True)
    return time.perf_counter() - start


def prepare(case, workers, options, folder, threads):
    """Judges every contender; returns those that can be timed and the row so far."""
    operator, arguments = case
    kind, dtype = OPERATORS[operator], arguments.get("dtype", "f32")
    arrays = kind.arrays(np.random.default_rng(7), **arguments)
    exact, terms = kind.exact(arrays, **arguments)
    program = folder / f"{abs(hash(title(operator, arguments)))}.so"
    if not program.exists():
        translate(options, kind.program(**arguments), program)
    operations, traffic = kind.work(**arguments)
    row = {"name": title(operator, arguments), "operator": operator, "arguments": arguments, "threads": threads,
           "clock": clock_of(options, threads), "operations": operations, "bytes": traffic, "contenders": {}}
    if hasattr(kind, "way"):
        row["way"] = kind.way(options.build / "bin/tile-exec", program, arrays, folder)
    for worker in workers:
        answer = worker.ask(prepare=True, operator=operator, arguments=arguments, result=str(folder / "result.npy"),
                            program=str(program), shape=exact.shape, dtype=ARRAYS[sums_of(**arguments)])
        entry = row["contenders"][worker.name] = dict(answer)
        if "result" in answer:
            error, right = judge(np.load(entry.pop("result")), exact, terms, dtype, sums_of(**arguments))
            entry |= {"right": right, "error_of_bound": error}
    return [w for w in workers if row["contenders"][w.name].get("right")], row


def quartiles(values):
    return statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3


def clock_of(options, threads):
    """One thread is timed by its own processor time, so that what else the machine does counts for nobody."""
    return "wall" if threads > 1 else options.clock


def measure(case, workers, options, folder, threads):
    timed, row = prepare(case, workers, options, folder, threads)
    rounds, least, end = {w.name: [] for w in timed}, {}, time.monotonic() + options.seconds
    length = min(0.05, options.seconds / 10)
    while timed and (time.monotonic() < end or len(rounds[timed[0].name]) < min(options.rounds, 5)):
        for worker in timed:
            answer = worker.ask(time=length, clock=clock_of(options, threads))
            rounds[worker.name].append(answer["median"])
            least[worker.name] = min(answer["least"], least.get(worker.name, answer["least"]))
        if len(rounds[timed[0].name]) >= options.rounds:
            break
    for name, times in rounds.items():
        low, median, high = quartiles(times)
        row["contenders"][name] |= {"median_s": median, "quartiles_s": [low, high], "least_s": least[name], "rounds": len(times)}
    peers = [name for name in rounds if name != "ours"]
    if "ours" in rounds and peers:
        row["best_peer"] = best = min(peers, key=lambda name: statistics.median(rounds[name]))
        low, row["ratio"], high = quartiles([theirs / ours for ours, theirs in zip(rounds["ours"], rounds[best])])
        row["ratio_quartiles"] = [low, high]
        row["ratios"] = {name: statistics.median(theirs / ours for ours, theirs in zip(rounds["ours"], rounds[name])) for name in peers}
        row["ratio_at_best"] = min(least[name] for name in peers) / least["ours"]
    peak = options.peaks.get(arguments_dtype(case))
    if "ours" in rounds and peak and row["operations"]:
        row["share_of_peak"] = row["operations"] / threads / statistics.median(rounds["ours"]) / peak
    return row


def arguments_dtype(case):
    return case[1].get("dtype", "f32")


def measure_compile(case, options, folder):
    """Whole processes, alternating: our tile-translate --tile-to-program and iree-compile for this CPU."""
    operator, arguments = case
    text = OPERATORS[operator].program(**arguments)
    file, times = folder / "compile.mlir", {"ours": [], "iree": []}
    file.write_text(text)
    iree = options.peer_python.parent / "iree-compile"
    for _ in range(max(3, min(options.rounds, 5))):
        times["ours"].append(translate(options, text, folder / "compile.so"))
        if iree.exists():
            start = time.perf_counter()
            done = subprocess.run([iree, file, "-o", "/dev/null", "--iree-hal-target-device=local", "--iree-opt-level=O3", "--iree-llvmcpu-target-cpu=host",
                                   "--iree-hal-local-target-device-backends=llvm-cpu"], capture_output=True)
            if done.returncode == 0:
                times["iree"].append(time.perf_counter() - start)
    row = {"name": title(operator, arguments), "operator": operator, "arguments": arguments, "threads": 0, "operations": 0,
           "bytes": 0, "contenders": {}}
    for name, seen in times.items():
        if seen:
            low, median, high = quartiles(seen)
            row["contenders"][name] = {"right": True, "median_s": median, "quartiles_s": [low, high], "rounds": len(seen)}
    if times["iree"]:
        low, row["ratio"], high = quartiles([b / a for a, b in zip(times["ours"], times["iree"])])
        row |= {"best_peer": "iree", "ratio_quartiles": [low, high]}
    return row


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def speed(row, name):
    entry = row["contenders"].get(name, {})
    if "median_s" not in entry:
        return "WRONG" if entry.get("right") is False else "-"
    if not row["operations"] and not row["bytes"]:
        return f"{entry['median_s']:.2f} s"
    return f"{(row['operations'] or row['bytes']) / entry['median_s'] / 1e9:.1f}"


def print_row(row, names):
    ours, spread = row["contenders"].get("ours", {}), ""
    if "quartiles_s" in ours and (row["operations"] or row["bytes"]):
        work = row["operations"] or row["bytes"]
        spread = " ({:.1f} to {:.1f})".format(*(work / t / 1e9 for t in reversed(ours["quartiles_s"])))
    ratio = f"{row['ratio']:6.2f} ({row['ratio_quartiles'][0]:.2f} to {row['ratio_quartiles'][1]:.2f}) {row['best_peer']}" if "ratio" in row else ""
    ratio += f", at best {row['ratio_at_best']:.2f}" if "ratio_at_best" in row else ""
    ratio += "".join(f", {value:.2f} {name}" for name, value in row.get("ratios", {}).items() if name != row["best_peer"])
    ratio += f" {row['share_of_peak']:.2f} of the peak" if "share_of_peak" in row else ""
    ratio += f" {row['way']}" if "way" in row else ""
    print(f"{row['name']:44} {speed(row, 'ours') + spread:>26}" + "".join(f"{speed(row, n):>10}" for n in names[1:]) + f"  {ratio}", flush=True)


def peaks(folder, cpu_count):
    """Operations and bytes per second of one core's own time, by peak.c; the best of several rounds."""
    import ctypes
    library = folder / "peak.so"
    subprocess.run(["clang-22", "-O3", "-march=native", "-shared", "-fPIC", HERE / "peak.c", "-o", library], check=True)
    peak, memory = ctypes.CDLL(str(library)), np.ones(1 << 24, "u8")
    found = {}
    for name in ("f32", "f16", "bf16", "i8", "read"):
        call = getattr(peak, f"peak_{name}")
        call.restype, call.argtypes = ctypes.c_int64, [ctypes.c_int64] + ([ctypes.c_void_p, ctypes.c_int64] if name == "read" else [])
        more, rounds, best = ((memory.ctypes.data, memory.nbytes), 1, 0) if name == "read" else ((), 1_000_000, 0)
        for _ in range(20):
            start = time.thread_time()
            done = call(rounds, *more)
            best = max(best, done / (time.thread_time() - start))
        found[name] = best
    return found


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def parse_sweep(text):
    operator, _, sizes = text.partition(":")
    if operator not in OPERATORS:
        sys.exit(f"error: no operator {operator}; there are: {', '.join(OPERATORS)}")
    keys, lists = zip(*((key, values.split("/")) for key, values in (part.split("=") for part in sizes.split(","))))
    number = {"True": True, "False": False}
    return [(operator, dict(zip(keys, (number.get(v, int(v) if v.isdigit() else v) for v in values)))) for values in itertools.product(*lists)]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tile-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", help=f"default: {' '.join(DEFAULT)}")
    parser.add_argument("--build", type=Path, default=HERE.parent.parent / "build")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, one table each (default: 1,2)")
    parser.add_argument("--seconds", type=float, default=2, help="for a row (default: 2)")
    parser.add_argument("--rounds", type=int, default=200, help="at most this many for a row")
    parser.add_argument("--nice", type=int, default=0, help="niceness of all contenders alike")
    parser.add_argument("--clock", choices=["thread", "wall"], default="thread", help="of one thread (more: wall)")
    parser.add_argument("--vs", default=",".join(name for name in PEERS if name not in SLOW),
                        help="peers (default: all that are found, without inductor)")
    parser.add_argument("--peer-python", type=Path, default=Path(sys.executable), help="the Python that has torch and iree")
    parser.add_argument("--import", dest="imports", action="store_true", help="of gpu-static: kernels of Triton, from their TTIR")
    parser.add_argument("--only", default="", help="of imported: words in the models' names")
    parser.add_argument("--sweep", help="OPERATOR:size=values/…,size=…, or FILE.toml")
    parser.add_argument("--results", type=Path, help="of a sweep in a file: the folder (default: NAME.sweep)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of a sweep in a file: how many counted points run at once")
    parser.add_argument("--tile-machine-path", metavar="DIR", help="a folder of NAME.machine files, ahead of the chips built in")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--list", action="store_true", help="print the tables' rows and stop")
    options = parser.parse_args()
    if options.tile_machine_path:
        os.environ["TESSERA_MACHINE_PATH"] = options.tile_machine_path
    unknown = [name for name in options.tables if name not in TABLES and name not in SPECIAL]
    if unknown:
        parser.error(f"no table {unknown[0]}; there are: {', '.join([*TABLES, *SPECIAL])}")
    options.tables = options.tables or ([] if options.sweep else DEFAULT)
    options.only = [word for word in options.only.split(",") if word]
    options.vs = [name for name in options.vs.split(",") if name]
    return options


def run_table(name, cases, threads, options, folder, paths, versions):
    workers = [Worker(n, threads, options, paths) for n in ["ours", *options.vs] if name in ONLY_FOR.get(n, (name,))]
    for worker in workers:
        versions[worker.name] = worker.state.get("version") or "absent: " + worker.state.get("absent", "")
    workers = [w for w in workers if "version" in w.state]
    names = [w.name for w in workers]
    print(f"\n{name}, {threads} thread{'s' if threads > 1 else ''}, {clock_of(options, threads)} time (G operations/s, or GB/s where nothing is computed; larger is better)")
    print(f"{'':44} {'ours':>26}" + "".join(f"{n:>10}" for n in names[1:]) + "  ratio to the best peer")
    rows = []
    for case in cases:
        rows.append({"table": name} | measure(case, workers, options, folder, threads))
        print_row(rows[-1], names)
    for worker in workers:
        worker.close()
        used = list(dict.fromkeys(name for row in rows for name in row["contenders"][worker.name].get("by", [])))
        if used:
            print(f"{worker.name} by: {'; '.join(used)}")
    return rows


def print_mean(rows):
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if len(ratios) > 1:
        worst = sorted((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])[:3]
        print("worst: " + "; ".join(f"{row['name']} {row['ratio']:.2f} of {row['best_peer']}" for row in worst))
    if ratios:
        best = [row["ratio_at_best"] for row in rows if "ratio_at_best" in row]
        print(f"{'geometric mean':44} {geometric_mean(ratios):.3f}, least {min(ratios):.2f}, {len(ratios)} rows" +
              (f"; of the fastest calls {geometric_mean(best):.3f}, least {min(best):.2f}" if best else ""))


def run_compile_time(options, folder, paths, versions):
    print("\ncompile-time: seconds of the whole process; a ratio above 1: ours is faster")
    rows = [{"table": "compile-time"} | measure_compile(case, options, folder) for case in COMPILED]
    for row in rows:
        print_row(row, ["ours", "iree"])
    print_mean(rows)
    return rows


def run_imported(options, folder, paths, versions):
    rows = imported.table(options, folder, lambda contender, threads: Worker(contender, threads, options, paths), versions)
    for threads in dict.fromkeys(row["threads"] for row in rows):
        print(f"{threads} thread{'s' if threads > 1 else ''}:", end=" ")
        print_mean([row for row in rows if row["threads"] == threads])
    return rows


class Special(NamedTuple):
    """A table that measures something other than operators of TABLES. If `has_rows`, run returns rows like theirs; else
    it returns a section of the report."""
    titles: Callable
    run: Callable
    has_rows: bool = False


SPECIAL = {
    "compile-time": Special(lambda: [title(*case) for case in COMPILED], run_compile_time, has_rows=True),
    "construct": Special(lambda: [title(*case) for case in construct.CASES], lambda options, folder, *_: construct.table(options, folder)),
    "gpu-static": Special(lambda: [static.title(case) for case in static.CASES + static.IMPORTED],
                          lambda options, folder, _, versions: static.table(options, folder, versions)),
    "python": Special(lambda: list(python_calls.BARS), lambda options, folder, *_: python_calls.table(options, folder)),
    "torch-compile": Special(lambda: ["MiniLM, ResNet block, GPT block, forward and backward"],
                             lambda options, folder, *_: torch_compile.table(options, folder)),
    "imported": Special(lambda: list(imported.MODELS), run_imported, has_rows=True),
}


def main():
    options = parse_arguments()
    if options.sweep and options.sweep.endswith(".toml"):
        return run_sweep(Path(options.sweep), options.build, options.results, options.jobs, options.list)
    tables = [(name, TABLES.get(name)) for name in options.tables] + ([("sweep", parse_sweep(options.sweep))] if options.sweep else [])
    if options.list:
        for name, cases in tables:
            titles = SPECIAL[name].titles() if name in SPECIAL else [title(*case) for case in cases]
            print(f"{name}: " + "; ".join(titles))
        return 0
    rows, more, versions, started = [], {}, {}, time.strftime("%Y-%m-%d %H:%M")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        paths = {"runtime": str(folder / "libtessera-runtime.so"), "python": str(options.build / "python")}
        subprocess.run(["clang-22", "-shared", "-o", paths["runtime"], "-Wl,--whole-archive", options.build / "libtessera-runtime.a",
                        "-Wl,--no-whole-archive", "-lm", "-lpthread", "-ldl"], check=True)
        roof = options.peaks = peaks(folder, os.cpu_count())
        print(f"{processor()}, {len(os.sched_getaffinity(0))} cores; one core at most: " +
              ", ".join(f"{name} {value / 1e9:.0f} G/s" for name, value in roof.items()))
        for name, cases in tables:
            if name in SPECIAL:
                found = SPECIAL[name].run(options, folder, paths, versions)
                if SPECIAL[name].has_rows:
                    rows += found
                else:
                    more[name] = found
                continue
            for threads in map(int, options.threads.split(",")):
                found = run_table(name, cases, threads, options, folder, paths, versions)
                print_mean(found)
                rows += found
    print("\n" + "; ".join(f"{name}: {version}" for name, version in versions.items()))
    version = subprocess.run([options.build / "bin/tile-opt", "--version"], capture_output=True, text=True).stdout.split("\n")
    manifest = {"date": started, "processor": processor(), "cores": len(os.sched_getaffinity(0)), "peaks": roof, "contenders": versions,
                "compiler": [line.strip() for line in version if line.strip()], "arguments": sys.argv[1:], "seed": 7}
    means = {f"{table}, {threads}": geometric_mean(ratios) for (table, threads), ratios in (
        (key, [r["ratio"] for r in group if "ratio" in r]) for key, group in
        itertools.groupby(rows, key=lambda r: (r["table"], r["threads"]))) if ratios}
    report = {"manifest": manifest, "geometric_means": means, "results": rows} | more
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    if options.page:
        page.write(options.page, report)
    wrong = [f"{row['name']} by {name}" for row in rows for name, entry in row["contenders"].items() if entry.get("right") is False]
    failed = [f"{row['name']}: {row['contenders']['ours']['absent']}" for row in rows if "absent" in row["contenders"]["ours"]]
    for line in wrong + failed:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if failed or any(line.endswith(" by ours") for line in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
