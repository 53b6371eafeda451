"""Every benchmark there is, one after the other: ./dev bench [NAME…]. Exit status 1 when one misses its bar.

The benchmarks in OWN_ARGUMENTS take theirs after the name: ./dev bench tile-bench gemm --threads=1, ./dev bench
reliability --minutes=60."""
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCHMARKS = {
    "tools": "start-up and a 100,000-op module, beside mlir-opt; Python beside tile-opt",
    "tile-bench": "our compiled programs beside OpenBLAS, PyTorch and IREE where they are found (several minutes)",
    "host": "calling an empty program, compiling a GEMM and the transformer block",
    "gpu_compile": "kernels to PTX and AMD's assembly, stage by stage",
    "emulator": "the emulated GPU: empty threads, a GEMM with and without checks",
    "traffic": "what linalg programs move on GPUs, counted by the emulator",
    "ranking": "the tiles of a product by Roller's model, by predicted cycles and by counted traffic",
    "graph_challenge": "edges per second of sparse inference, 1024 neurons and 120 layers, beside scipy",
    "interpreter": "scalar operations per second of programs of several kinds",
    "reliability": "random programs, mutants and faults for five minutes: wrong, crashes, hangs, refused",
}
OWN_ARGUMENTS = ("tile-bench", "reliability")


def script(name):
    return HERE / f"{name}.py" if name != "tile-bench" else HERE.parent.parent / "tools/tile-bench/bench.py"


def main():
    if sys.argv[1:2] and sys.argv[1] in OWN_ARGUMENTS:
        return subprocess.run([sys.executable, script(sys.argv[1]), *sys.argv[2:]]).returncode
    chosen = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in chosen if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"no benchmark named {unknown[0]}; there are: {', '.join(BENCHMARKS)}")
    missed = []
    for name in chosen:
        print(f"--- {name}: {BENCHMARKS[name]}", flush=True)
        if subprocess.run([sys.executable, script(name)]).returncode:
            missed.append(name)
    print(f"missed: {', '.join(missed)}" if missed else "every bar met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
