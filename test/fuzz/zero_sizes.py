"""Sets one size of a program's types to 0, everywhere alike, and lowers the program by every pipeline, which must end in time with
status 0, or with 1 and a message. Loops without a round, tiles without elements and divisions by a size come to light so.

    zero_sizes.py --tools=BUILD/bin [--seed=N] [--count=M] [--timeout=S]      # without --count: all programs, all sizes

The programs are those of test/run, test/transforms, test/conversion and test/fuzz/found.
"""
import argparse
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).parents[1]
PIPELINES = ["--tile-to-cpu-pipeline", "--tile-to-nvvm-pipeline=chip=sm_90a", "--tile-to-rocdl-pipeline=chip=gfx942"]
MOST_BYTES, MOST_SIZES = 30000, 6


def cases():
    for room in ("run", "transforms", "conversion", "fuzz/found"):
        for path in sorted((TESTS / room).rglob("*.mlir")):
            text = path.read_text()
            sizes = sorted(set(re.findall(r"(?<=[<x])\d+(?=x)", text)) - {"0"}, key=int)
            for size in sizes[:MOST_SIZES] if len(text) <= MOST_BYTES else []:
                for pipeline in PIPELINES:
                    yield path, text, size, pipeline


def run(case, options):
    path, text, size, pipeline = case
    program = re.sub(rf"(?<=[<x]){size}(?=x)", "0", text)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(program)
        file.flush()
        command = [f"{options.tools}/tile-opt", file.name, "--split-input-file", pipeline, "-o", "/dev/null"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return f"hang: {path.relative_to(TESTS)}, size {size}, {pipeline}"
    silent = done.returncode == 1 and "error" not in done.stderr
    if done.returncode not in (0, 1) or "crashed at" in done.stderr or silent:
        return f"status {done.returncode}: {path.relative_to(TESTS)}, size {size}, {pipeline}: {done.stderr[-300:]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int)
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = list(cases())
    if options.count:
        chosen = random.Random(options.seed).sample(chosen, min(options.count, len(chosen)))
    with ThreadPoolExecutor(options.jobs) as pool:
        problems = [problem for problem in pool.map(lambda case: run(case, options), chosen) if problem]
    for problem in problems:
        print(problem)
    print(f"{len(chosen)} programs, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
