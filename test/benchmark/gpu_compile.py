#!/usr/bin/env python3
"""What it costs to make GPU code: a kernel of any level to PTX or AMD's assembly, stage by stage.

    .venv/bin/python test/benchmark/gpu_compile.py [NAME…] [--build=build] [--repeat=7] [--ptxas] [--ops] [--profile=NAME]

whole: the wall time of the process; cpu: what it and its children computed; the rest is --stats' stages_ms of a run of
its own, medians. start: what is left of the whole: loading libMLIR and libLLVM, writing the file. child: starting tessera-codegen and talking to it. --ops: how many ops there are
after each group of passes, and how long the group takes in tile-opt. --ptxas: registers, spilled bytes and what ptxas
takes. --profile=NAME: what dominates instruction counts, by valgrind's callgrind, in both processes.
Exit status 1 when a kernel misses its bar.
"""
import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "tile-bench"))
from gpu.static import PROGRAMS, aligned  # noqa: E402

MATMUL = """
func.func @main(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = linalg.matmul ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %c : tensor<512x512xf32>
}
"""


def program(name):
    return (PROGRAMS / f"{name}.mlir").read_text()


def attention(depth, is_aligned):
    """The sketch of a head of 128, or of another size: what is 128 by the head's size, not by the rows."""
    text = re.sub(r"128xf16>", f"{depth}xf16>", program("attention"))
    text = re.sub(r"(128|64)x128xf", rf"\1x{depth}xf", text)
    text = re.sub(r"(%kt = .*)", lambda found: found[1].replace("128x64", f"{depth}x64"), text)
    text = re.sub(r"(%K = .*)", lambda found: found[1].replace("<128x64", f"<{depth}x64"), text)
    text = re.sub(r"(%qk = .*, )tensor<128x64xf16>", rf"\1tensor<{depth}x64xf16>", text)
    return aligned(text) if is_aligned else text


# Name: text, chip, milliseconds that the whole may take (None: no bar).
KERNELS = {
    "gemm sm_80": (lambda: program("gemm_sm80"), "sm_80", 300),
    "gemm sm_90a": (lambda: program("gemm_sm80").replace('"sm_80"', '"sm_90a"'), "sm_90a", 300),
    "gemm gfx942": (lambda: program("gemm_gfx942"), "gfx942", None),
    "attention 128 sm_80": (lambda: attention(128, False), "sm_80", 300),
    "attention 128 aligned sm_80": (lambda: attention(128, True), "sm_80", 300),
    "attention 64 sm_80": (lambda: attention(64, False), "sm_80", 300),
    "attention 64 aligned sm_80": (lambda: attention(64, True), "sm_80", 300),
    "softmax sm_80": (lambda: program("softmax"), "sm_80", None),
    "layernorm sm_80": (lambda: program("layernorm"), "sm_80", None),
    "linalg matmul 512 sm_80": (lambda: MATMUL, "sm_80", None),
    "transformer block sm_80": (lambda: (ROOT / "examples/transformer/transformer.mlir").read_text(), "sm_80", None),
}
STAGES = ["cpu", "start", "reading", "passes", "translation", "child", "bitcode", "optimization", "generation"]


def pipeline_of(chip):
    return f"tile-to-rocdl-pipeline{{chip={chip}}}" if chip.startswith("gfx") else f"tile-to-nvvm-pipeline{{chip={chip}}}"


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (used.ru_utime + used.ru_stime)


def translate(file, chip, form):
    """One run: wall milliseconds, the stages, and what is known of the kernels."""
    stats, command = folder / "stats.json", [tool("tile-translate"), f"--tile-to-{form}", file, f"--chip={chip}", "-o", folder / "out"]
    begin, before = time.perf_counter(), cpu()
    subprocess.run(command, check=True)
    whole, used = 1e3 * (time.perf_counter() - begin), cpu() - before
    subprocess.run([*command, f"--stats={stats}"], check=True)  # asks ptxas too
    read = json.loads(stats.read_text())
    stages = dict(read["stages_ms"])
    stages["start"] = whole - sum(ms for stage, ms in stages.items() if stage != "ptxas")
    stages["cpu"] = used
    return whole, stages, read.get("kernels", {})


def measure(name):
    text, chip, bar = KERNELS[name]
    file = folder / "kernel.mlir"
    file.write_text(text())
    form = "amdgcn" if chip.startswith("gfx") else "ptx"
    runs = [translate(file, chip, form) for _ in range(options.repeat + 1)][1:]
    wholes = sorted(run[0] for run in runs)
    medians = [statistics.median(run[1].get(stage, 0) for run in runs) for stage in STAGES]
    verdict = "" if bar is None else f"  {'met' if statistics.median(wholes) < bar else 'missed'} ({bar})"
    print(f"{name:28} {statistics.median(wholes):7.0f} ({wholes[0]:.0f} to {wholes[-1]:.0f})".ljust(54)
          + "".join(f"{value:8.1f}" for value in medians) + verdict, flush=True)
    if options.ops:
        count_ops(file, chip)
    if options.ptxas and form == "ptx":
        _, stages, kernels = translate(file, chip, "cubin")
        for kernel, known in kernels.items():
            print(f"    {kernel}: {known['registers']} registers, {known['spill_bytes']} bytes spilled; ptxas {stages['ptxas']:.0f} ms")
    return bar is None or statistics.median(wholes) < bar


def split(text):
    """A pipeline's items at its own level."""
    items, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "({"
        depth -= c in ")}"
        if c == "," and not depth:
            items.append(text[start:i].strip())
            start = i + 1
    return items + [text[start:].strip()]


def count_ops(file, chip):
    """Ops after each group of the pipeline, and the group's time: of what tile-opt --mlir-timing says, all but text."""
    dumped = subprocess.run([tool("tile-opt"), file, f"--{pipeline_of(chip).replace('{', '=').replace('}', '')}", "--dump-pass-pipeline",
                             "-o", "/dev/null"], check=True, capture_output=True, text=True).stderr
    items = split(re.sub(r"\s+", " ", dumped[dumped.index("(") + 1:dumped.rindex(")")]))
    at = next(i for i, item in enumerate(items) if item.startswith(("convert-tile-to-nvvm", "convert-tile-to-rocdl")))
    host = next(i for i, item in enumerate(items) if item.startswith("convert-gpu-launch-to-runtime"))
    groups = {"schedule": items[:at], "to device functions": items[at:at + 2], "to llvm": items[at + 2:host], "host's part": items[host:]}
    ops(file.read_text())
    for title, group in groups.items():
        out = folder / "next.mlir"
        done = subprocess.run([tool("tile-opt"), file, f"--pass-pipeline=builtin.module({','.join(group)})", "--mlir-timing",
                               "--mlir-timing-display=list", "--mlir-print-op-generic", "-o", out], check=True, capture_output=True, text=True)
        times = {words[-1]: float(words[0]) for line in done.stderr.splitlines()
                 if len(words := line.split()) >= 3 and words[1].startswith("(")}
        spent = 1e3 * (times["Total"] - times.get("Parser", 0) - times.get("Output", 0))
        file = folder / f"{title[:6]}.mlir"
        file.write_text(out.read_text())
        print(f"    {title:20} {ops(out.read_text()):7} ops after {spent:7.1f} ms")


def ops(generic):
    return len(re.findall(r'^\s*(?:%[^=\n]*= )?"[a-z_.]+[a-z0-9_.]*"', generic, re.M))


def profile(name):
    text, chip, _ = KERNELS[name]
    file = folder / "kernel.mlir"
    file.write_text(text())
    form = "amdgcn" if chip.startswith("gfx") else "ptx"
    subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/callgrind.%p", tool("tile-translate"),
                    f"--tile-to-{form}", file, f"--chip={chip}", "-o", folder / "out"], check=True, capture_output=True)
    for out in sorted(folder.glob("callgrind.*")):
        print(subprocess.run(["callgrind_annotate", "--inclusive=no", "--threshold=60", out], capture_output=True, text=True).stdout)


def tool(name):
    return f"{options.build}/bin/{name}"


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("names", nargs="*", help="kernels whose name begins so; without: all")
parser.add_argument("--build", default="build")
parser.add_argument("--repeat", type=int, default=7)
parser.add_argument("--ptxas", action="store_true")
parser.add_argument("--ops", action="store_true")
parser.add_argument("--profile")
options = parser.parse_args()
with tempfile.TemporaryDirectory() as place:
    folder = Path(place)
    if options.profile:
        profile(options.profile)
        sys.exit(0)
    print(f"{'ms':28} {'whole':>7} (fastest, slowest)".ljust(54) + "".join(f"{stage[:7]:>8}" for stage in STAGES))
    chosen = [name for name in KERNELS if not options.names or name.startswith(tuple(options.names))]
    met = [measure(name) for name in chosen]
sys.exit(0 if all(met) else 1)
