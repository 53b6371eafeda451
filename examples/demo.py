#!/usr/bin/env python3
"""The main job: three programs compiled by Tessera, run on this CPU and judged by numpy and by the interpreter.

  digits       1,797 scans of handwritten digits read by a small network that this script trains
  transformer  one GPT-style block, batch 2, 128 tokens, width 256, 8 heads
  softmax      a tile kernel written by hand: edit examples/softmax/softmax.mlir and run again

Prints a table and writes an HTML page with each program at every level. Exit status 1 if a result is wrong.
Use: ./dev demo [--repeat=N] [--threads=N] [--interpret-all] [--page=FILE]
"""
import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's products here are small: more threads only spin
import numpy as np  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "digits"), str(HERE / "transformer")]
import model  # noqa: E402
import train  # noqa: E402

# The levels between the program and the LLVM dialect: each is what the named pass of the pipeline finds.
LEVELS = {
    "tile-bufferize-host": "tile graph and kernels",
    "convert-tile-to-vector": "the same on buffers",
    "convert-tile-launch-to-runtime": "loops over vectors",
}


class Program:
    """One program: where it stands, what goes in, what numpy says comes out, and how it is judged."""

    def __init__(self, name, inputs, expected, flops, tolerance, judge=None):
        self.name, self.inputs, self.expected = name, inputs, expected
        self.flops, self.tolerance, self.judge = flops, tolerance, judge
        self.interpretable = flops < 1e8  # the interpreter needs about 25 ns per operation
        self.file = HERE / name / f"{name}.mlir"


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


def run(program, tools, options, folder):
    """Runs the program and returns its row of the table."""
    arguments = []
    for i, array in enumerate(program.inputs):
        np.save(folder / f"{program.name}{i}.npy", array)
        arguments.append(f"--in={folder / f'{program.name}{i}.npy'}")
    out, stats = folder / f"{program.name}_out.npy", folder / f"{program.name}.json"
    command = [tools / "tile-run", program.file, *arguments, f"--out={out}", f"--stats={stats}",
               f"--repeat={options.repeat}"]
    if program.interpretable or options.interpret_all:
        command.append("--check-against=interpret")
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
    return {"program": program.name, "ms": facts["time_ms_median"],
            "gflops": program.flops / facts["time_ms_median"] / 1e6, "error": error,
            "interpreter": f"{facts['max_abs_error']:.1e}" if "max_abs_error" in facts else "not asked",
            "fallback_ops": facts["fallback_ops"], "passed": passed, "note": note}


def print_table(rows):
    print(f"\n{'program':<12} {'time ms':>9} {'GFLOP/s':>8} {'to numpy':>9} {'to interpreter':>15} {'fallback_ops':>13}  verdict")
    for r in rows:
        verdict = "right" if r["passed"] else "WRONG"
        print(f"{r['program']:<12} {r['ms']:>9.3f} {r['gflops']:>8.1f} {r['error']:>9.1e} {r['interpreter']:>15} {r['fallback_ops']:>13}"
              f"  {verdict}{'  (' + r['note'] + ')' if r['note'] else ''}")


def levels(program, tools):
    """The program's text at every level: its own, what the pipeline's stages find, and what it leaves."""
    command = [tools / "tile-opt", program.file, "--tile-to-cpu-pipeline", "--mlir-disable-threading",
               "--mlir-print-ir-module-scope", *(f"--mlir-print-ir-before={name}" for name in LEVELS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    dumps = re.findall(r"// -----// IR Dump Before \S+ \((\S+)\).*?//----- //\n(.*?)(?=\n// -----// IR Dump|\Z)",
                       done.stderr, re.DOTALL)
    return [("tensor program", program.file.read_text()), *((LEVELS[name], text) for name, text in dumps),
            ("LLVM dialect", done.stdout)]


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
<table><tr><th>program<th>time ms<th>GFLOP/s<th>largest difference to numpy<th>to the interpreter<th>fallback_ops<th>verdict</tr>{rows}</table>
{programs}
"""


def write_page(path, programs, rows, tools):
    cells = "".join(
        f"<tr><td>{r['program']}<td>{r['ms']:.3f}<td>{r['gflops']:.1f}<td>{r['error']:.2e}<td>{r['interpreter']}<td>{r['fallback_ops']}"
        f"<td class={'right' if r['passed'] else 'wrong'}>{'right' if r['passed'] else 'WRONG'} {html.escape(r['note'])}</tr>"
        for r in rows)
    sections = []
    for program in programs:
        columns = "".join(f"<div><h3>{html.escape(name)}</h3><pre>{html.escape(text)}</pre></div>"
                          for name, text in levels(program, tools))
        sections.append(f"<h2>{program.name}</h2><div class=levels>{columns}</div>")
    path.write_text(PAGE.format(rows=cells, programs="".join(sections)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="build folder (default: build)")
    parser.add_argument("--repeat", type=int, default=50, help="timed runs per program (default: 50)")
    parser.add_argument("--threads", type=int, default=0, help="threads (default: all cores)")
    parser.add_argument("--interpret-all", action="store_true", help="let the interpreter judge the transformer too: 10 s")
    parser.add_argument("--page", type=Path, help="where the HTML page goes (default: BUILD/demo.html)")
    options = parser.parse_args()
    tools = options.build / "bin"
    page = options.page or options.build / "demo.html"
    programs = [digits(), transformer(), softmax()]
    with tempfile.TemporaryDirectory() as folder:
        rows = [run(p, tools, options, Path(folder)) for p in programs]
    print_table(rows)
    write_page(page, programs, rows, tools)
    print(f"\nEvery level of each program, side by side: {page}")
    return 0 if all(r["passed"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
