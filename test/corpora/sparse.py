"""Sparse programs as they are: judged by upstream's sparsifier and runner, counted by the way they take.

Usage: sparse.py PROGRAMS…      tile-run, mlir-opt, mlir-runner and llvm-config are found on PATH

For each program one line: right, wrong or refused, with the first error; whether kernels of ours run it or upstream's
sparsifier; and what the interpreter says. What upstream refuses, the interpreter and compiled code judge for each other.
The last line counts.
"""
import re
import subprocess
import sys
from pathlib import Path


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, **options)


def upstream(file):
    lowered = run("mlir-opt", file, "--sparsifier=enable-runtime-library=false")
    if lowered.returncode:
        return None
    libraries = Path(run("llvm-config", "--libdir").stdout.strip())
    shared = ",".join(str(libraries / f"libmlir_{name}.so") for name in ("c_runner_utils", "runner_utils"))
    ran = run("mlir-runner", "-e", "main", "--entry-point-result=void", f"--shared-libs={shared}", input=lowered.stdout)
    return None if ran.returncode else ran.stdout


def ours(file, target, want):
    """What it gave, and by which way."""
    done = run("tile-run", file, f"--target={target}")
    way = "upstream" if "left to upstream's sparsifier" in done.stderr else "kernels"
    if done.returncode:
        error = re.search(r"error: (.*)", done.stderr)
        return f"refused ({error[1] if error else done.stderr[-200:]})", way
    return "right" if done.stdout == want else "wrong", way


def main():
    counts = {"cpu": 0, "kernels": 0, "interpret": 0, "wrong": 0}
    files = sorted(map(Path, sys.argv[1:]))
    for file in files:
        want = upstream(file)
        if want is None:
            want = run("tile-run", file, "--target=interpret").stdout
        said, way = ours(file, "cpu", want)
        interpreted, _ = ours(file, "interpret", want)
        counts["cpu"] += said == "right"
        counts["interpret"] += interpreted == "right"
        counts["kernels"] += said == "right" and way == "kernels"
        counts["wrong"] += "wrong" in (said, interpreted)
        print(f"{file.stem}: {said}, by {way}; interpreter: {interpreted}", flush=True)
    print(f"{len(files)} programs: cpu {counts['cpu']} right, {counts['kernels']} by kernels of ours; "
          f"interpreter {counts['interpret']} right; {counts['wrong']} wrong")
    return counts["wrong"] > 0


sys.exit(main())
