#!/usr/bin/env python3
"""How fast the emulated GPU is, on one core: threads that do nothing, and a product of 256 x 256 matrices as sm_80 would do
it (cp.async, ldmatrix, mma.sync, barriers), with and without checks.

    .venv/bin/python test/benchmark/emulator.py [--build=build] [--rounds=15]

The kernels are in test/emulator/machine/emulator_speed_test.c, as C that makes a compiled kernel's calls. Times are the
thread's own, medians of interleaved rounds. The same product written with nvgpu ops (test/emulator/gemm_sm80.py, which
guards every store) is compiled and run by tile-run: the processor time of 21 calls less that of one, by 20, the least of
three. Exit status 1 when a bar (docs: the emulator's in design) is missed.
"""
import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "test/emulator"))
import gemm_sm80  # noqa: E402
from emulate import Kernel  # noqa: E402

EMPTY_THREADS = 2560000


def measure(build, rounds):
    lines = subprocess.check_output([build / "test/bin/emulator_speed_test", str(rounds)], text=True).split()
    return {name: float(value) for name, value in zip(lines[::2], lines[1::2])}


def processor_ms(kernel, data, repeat):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kernel.run(data, [f"--repeat={repeat}", "--threads=1"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def measure_compiled(build):
    kernel = Kernel(str(build / "bin/tile-run"), "emulate:sm_80", gemm_sm80.gemm(256, 256, 256, 1), gemm_sm80.PIPELINE)
    data = gemm_sm80.arrays(256, 256, 256)
    return min((processor_ms(kernel, data, 21) - processor_ms(kernel, data, 1)) / 20 for _ in range(3))


def measure_hopper(build):
    """The hand-scheduled GEMM of sm_90a, which must be right, by the processor time of one call among 40."""
    main = (ROOT / "test/emulator/hopper/gemm_sm90a.test").read_text().split("//--- main.mlir\n")[1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gemm.mlir"
        file.write_text((ROOT / "test/dialects/tile/programs/gemm_sm90a.mlir").read_text() + main)

        def run(repeat):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([build / "bin/tile-run", file, "--target=emulate:sm_90a", "--size=256", "--threads=1",
                            f"--repeat={repeat}", f"--stats={folder}/run.json"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
        return min((run(41) - run(1)) / 40 for _ in range(3))


def report(what, value, unit, good, bar):
    print(f"{what:<52} {value:8.2f} {unit:<12} bar {bar:<8} {'met' if good else 'MISSED'}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    times = measure(options.build, options.rounds)
    compiled, hopper = measure_compiled(options.build), measure_hopper(options.build)
    threads = EMPTY_THREADS / times["empty_2560000_threads"] / 1e3
    plain, checked, counted = times["gemm_256"], times["gemm_256_checked"], times["gemm_256_checked_counted"]
    good = [report("threads that do nothing", threads, "M/s", threads >= 30, ">= 30"),
            report("GEMM 256^3, all checks and counts", counted, "ms", counted < 45, "< 45"),
            report("GEMM 256^3 in nvgpu ops, compiled, all checks", compiled, "ms", compiled < 45, "< 45"),
            report("GEMM 256^3 by TMA and wgmma, checks and counts", hopper, "ms", hopper <= 25, "<= 25"),
            report("GEMM 256^3, checks against none", checked / plain, "x", checked <= 1.5 * plain, "<= 1.5")]
    print(f"GEMM 256^3: {plain:.1f} ms without checks, {checked:.1f} ms checked, {counted:.1f} ms checked and counted")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
