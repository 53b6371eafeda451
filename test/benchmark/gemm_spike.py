#!/usr/bin/env python3
"""The spike's gate: a handwritten tile kernel (f32 GEMM + bias + relu, packing included) against OpenBLAS's bare sgemm.

    .venv/bin/python test/benchmark/gemm_spike.py [--build=build] [--seconds=1.0] [M,N,K …]

One thread, calls interleaved in one process, medians and quartiles of GFLOP/s, and the ratio; the gate is 0.95 at 512³,
511³ and (127,255,511). Every element is checked against float64, with results and workspaces filled with NaN before.
OpenBLAS is told its AVX-512 core (a preset OPENBLAS_CORETYPE or _L2_SIZE can halve the bar): on a machine with AVX-512
another core is an error. Exit status 0 when the gate holds, 1 when not.
"""
import argparse
import ctypes
import glob
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = [(512, 512, 512), (511, 511, 511), (127, 255, 511)]
GATE = 0.95


def with_openblas_settings():
    """OpenBLAS reads its environment when it is loaded: set it and start again."""
    if os.environ.get("TESSERA_SPIKE_CHILD"):
        return
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_L2_SIZE"}
    environment.update(TESSERA_SPIKE_CHILD="1", OPENBLAS_NUM_THREADS="1")
    if has_avx512():
        environment["OPENBLAS_CORETYPE"] = "SkylakeX"
    else:
        environment.pop("OPENBLAS_CORETYPE", None)
    os.execve(sys.executable, [sys.executable] + sys.argv, environment)


def has_avx512():
    with open("/proc/cpuinfo") as file:
        return "avx512f" in file.read()


class OpenBlas:
    def __init__(self, numpy):
        folder = os.path.join(os.path.dirname(os.path.dirname(numpy.__file__)), "numpy.libs")
        paths = glob.glob(os.path.join(folder, "libscipy_openblas64*.so"))
        if not paths:
            sys.exit(f"error: no OpenBLAS beside numpy in {folder}")
        self.library = ctypes.CDLL(paths[0])
        self.sgemm = self.library.scipy_cblas_sgemm64_
        core = self.library.scipy_openblas_get_corename64_
        core.restype = ctypes.c_char_p
        self.core = core().decode()
        if has_avx512() and self.core.lower() != "skylakex":
            sys.exit(f"error: OpenBLAS runs its core {self.core}, want SkylakeX: the bar would be too low")

    def call(self, a, b, c):
        """A function that computes c = a b."""
        (m, k), n = a.shape, b.shape[1]
        number, pointer, real = ctypes.c_int64, ctypes.c_void_p, ctypes.c_float
        arguments = (101, 111, 111, number(m), number(n), number(k), real(1), pointer(a.ctypes.data), number(k),
                     pointer(b.ctypes.data), number(n), real(0), pointer(c.ctypes.data), number(n))
        return lambda: self.sgemm(*arguments)


def check(numpy, a, b, bias, c):
    exact = a.astype("f8") @ b.astype("f8") + bias.astype("f8")
    terms = abs(a).astype("f8") @ abs(b).astype("f8") + abs(bias)
    bound = 2 * a.shape[1] ** 0.5 * 2.0**-24 * terms  # rounding errors add up like a random walk
    error = abs(c - numpy.maximum(exact, 0))
    wrong = ~(error <= bound)
    if wrong.any():
        where = tuple(int(i) for i in numpy.argwhere(wrong)[0])
        sys.exit(f"error: C{list(where)} = {c[where]}, want {max(exact[where], 0)} ({wrong.sum()} elements wrong)")
    return float((error / bound).max())


def seconds_of(call):
    start = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - start) * 1e-9


def measure(ours, theirs, seconds):
    """Interleaved timings of both, as many as fit."""
    for call in (ours, theirs):
        call()
    rounds = min(3001, max(15, int(seconds / (seconds_of(ours) + seconds_of(theirs) + 1e-9))))
    pairs = [(seconds_of(ours), seconds_of(theirs)) for _ in range(rounds)]
    return [sorted(times) for times in zip(*pairs)]


def rates(times, flop):
    quartiles = statistics.quantiles(times, n=4)
    return [flop / t / 1e9 for t in (quartiles[1], quartiles[2], quartiles[0])]  # median, slow, fast


def run_shape(numpy, kernels, blas, shape, seconds):
    m, n, k = shape
    random = numpy.random.default_rng(1)
    a, b, bias = (random.uniform(-1, 1, s).astype("f4") for s in ((m, k), (k, n), (n,)))
    c, d = numpy.full((m, n), numpy.nan, "f4"), numpy.empty((m, n), "f4")
    ours = kernels.call("gemm_bias_relu", [a, b, bias, c], grid=(-(-m // 512),))
    kernels.poison()
    ours()
    error = check(numpy, a, b, bias, c)
    times = measure(ours, blas.call(a, b, d), seconds)
    (mine, low, high), (bar, bar_low, bar_high) = (rates(t, 2.0 * m * n * k) for t in times)
    ratio = mine / bar
    print(f"{m:5d} {n:5d} {k:5d}  ours {mine:6.1f} ({low:6.1f} .. {high:6.1f})  OpenBLAS {bar:6.1f} "
          f"({bar_low:6.1f} .. {bar_high:6.1f}) GFLOP/s  ratio {ratio:5.3f}  error {error:.2f} of bound  "
          f"n {len(times[0])}", flush=True)
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    parser.add_argument("--kernel", default=os.path.join(HERE, "Inputs", "gemm_bias_relu.mlir"))
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("shapes", nargs="*", type=lambda text: tuple(int(i) for i in text.split(",")))
    options = parser.parse_args()
    with_openblas_settings()
    import numpy
    sys.path.insert(0, os.path.join(HERE, ".."))
    from kernel_harness import Kernels
    blas = OpenBlas(numpy)
    print(f"OpenBLAS core {blas.core}, 1 thread; bare sgemm against packing, GEMM, bias and relu")
    kernels = Kernels(options.kernel, options.build)
    ratios = {s: run_shape(numpy, kernels, blas, s, options.seconds) for s in options.shapes or SHAPES}
    failed = [s for s in ratios if s in SHAPES and not ratios[s] >= GATE]
    print(f"gate {GATE}: " + ("passed" if not failed else f"failed at {failed}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
