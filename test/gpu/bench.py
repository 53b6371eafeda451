#!/usr/bin/env python3
"""Our programs beside PyTorch on this machine's GPU: the bench that pack.py --bench packs. Needs PyTorch, a C compiler and the driver.

  bench.py [--only=REGEX] [--seconds=8] [--json=FILE]

Inputs are random and lie in plain device memory (PyTorch's). The second cache is overwritten before each run. Ours and the peer
take turns. `device ms` is the time that kernels run, by CUPTI through PyTorch's profiler, the median over runs; `call ms` is the
elapsed time of one synchronous call. `error` is |result - exact| / |exact| (Frobenius), the exact result computed in float64.
Each case runs in a process of its own: a case that hangs or crashes is one line of the table.
"""
import argparse
import ctypes
import json
import math
import multiprocessing
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_cases import CASES

HERE = Path(__file__).resolve().parent
CACHE_BYTES = 256 << 20  # more than any second cache
LIMIT_S = 90


def build_runtime(folder):
    library = folder / "libtessera-runtime.so"
    source = HERE / "source"
    files = [str(f) for part in ("lib/runtime", "lib/runtime/drivers", "lib/support", "lib/support/files", "lib/support/npy") for f in sorted((source / part).glob("*.c"))]
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", f"-I{source}", *files, "-o", library, "-pthread", "-ldl", "-lm"], check=True)
    return library


class Entry(ctypes.Structure):  # tessera_entry_t, tessera_manifest_t: lib/runtime/manifest.h
    _fields_ = [("name", ctypes.c_char_p), ("packed", ctypes.c_void_p), ("packed_into", ctypes.c_void_p), ("num_arguments", ctypes.c_int64),
                ("arguments", ctypes.c_void_p), ("num_results", ctypes.c_int64), ("results", ctypes.c_void_p)]


class Manifest(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int64), *((name, ctypes.c_char_p) for name in ("compiler", "target", "chip", "needs", "pipeline")),
                ("fallback_ops", ctypes.c_int64), ("num_entries", ctypes.c_int64), ("entries", ctypes.POINTER(Entry))]


class Ours:
    """One compiled program on torch's current stream, writing the caller's result."""

    def __init__(self, runtime, program):
        self.library = ctypes.CDLL(str(runtime), mode=ctypes.RTLD_GLOBAL)
        error = ctypes.create_string_buffer(4096)
        self.library.tessera_device_open.restype = ctypes.c_void_p
        driver = ctypes.c_void_p.in_dll(self.library, "tessera_cuda_driver")
        device = self.library.tessera_device_open(ctypes.byref(driver), 0, None, error)
        if not device:
            raise RuntimeError(error.value.decode(errors="replace"))
        self.library.tessera_device_enter(ctypes.c_void_p(device))
        self.library.tessera_device_arena.restype = ctypes.c_void_p
        self.library.tessera_arena_enter(ctypes.c_void_p(self.library.tessera_device_arena(ctypes.c_void_p(device))))
        self.program = ctypes.CDLL(str(program))
        manifest = Manifest.in_dll(self.program, "tessera_manifest")
        if manifest.fallback_ops:
            raise RuntimeError(f"{manifest.fallback_ops} ops went by upstream's route")
        self.call = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p))(manifest.entries[0].packed_into)

    @staticmethod
    def descriptor(tensor):
        sizes, strides = tensor.shape, tensor.stride()
        kind = type("Descriptor", (ctypes.Structure,), {"_fields_": [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                                                                       ("sizes", ctypes.c_int64 * len(sizes)), ("strides", ctypes.c_int64 * len(sizes))]})
        return kind(tensor.data_ptr(), tensor.data_ptr(), 0, (ctypes.c_int64 * len(sizes))(*sizes), (ctypes.c_int64 * len(sizes))(*strides))

    def bind(self, tensors):
        keep = [self.descriptor(t) for t in tensors]
        pointers = (ctypes.c_void_p * len(keep))(*(ctypes.cast(ctypes.byref(d), ctypes.c_void_p) for d in keep))
        return lambda: (keep, self.call(pointers))


def make_inputs(torch, case):
    kinds = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i8": torch.int8, "i32": torch.int32}
    torch.manual_seed(7)
    x = []
    for shape, element in case.inputs:
        if element == "i8":
            x.append(torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8))
        else:
            x.append((torch.rand(shape, device="cuda") * 2 - 1).to(kinds[element]))
    return x, lambda: torch.empty(case.output[0], device="cuda", dtype=kinds[case.output[1]])


def error_of(torch, result, exact):
    difference = torch.linalg.vector_norm(result.double() - exact) / torch.linalg.vector_norm(exact)
    return float(difference)


def device_times(torch, call, flush, runs):
    """Milliseconds of kernels in each run, and the kernels of one run."""
    from torch.profiler import ProfilerActivity, profile
    times, names = [], []
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        for _ in range(runs):
            flush()
            torch.cuda.synchronize()
            call()
            torch.cuda.synchronize()
    found = sorted((e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start)
    current = None
    for event in found:
        if "Memset" in event.name and event.time_range.elapsed_us() > 20 or "FillFunctor<signed char>" in event.name:
            if current is not None:
                times.append(current)
            current, names = 0.0, []
        elif current is not None:
            current += event.time_range.elapsed_us() * 1e-3
            names.append(event.name[:90])
    times.append(current)
    return times, names


def measure(case, runtime, seconds):
    import torch
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    x, empty = make_inputs(torch, case)
    ours_result, like = empty(), empty()
    ours_result.view(torch.uint8).fill_(0xFF)  # NaN, or -1: an element that is not written is seen
    ours = Ours(runtime, HERE / "bench" / f"{case.file}.so").bind([*x, ours_result])
    ours()
    torch.cuda.synchronize()
    wide = [t.double() for t in x]
    exact = case.exact(torch, wide).double()
    peer_result = case.peer(torch, x, like)
    row = {"error": error_of(torch, ours_result, exact), "peer_error": error_of(torch, peer_result, exact)}
    del exact, wide
    torch.cuda.empty_cache()
    cache = torch.empty(CACHE_BYTES, dtype=torch.int8, device="cuda")

    def flush():
        cache.fill_(1)

    def peer():
        case.peer(torch, x, like)
    start = time.perf_counter()
    ours(), torch.cuda.synchronize()
    once = time.perf_counter() - start
    runs = max(3, min(25, int(seconds / 4 / max(once, 1e-3))))
    for name, call in (("ours", ours), ("peer", peer)):
        device_times(torch, call, flush, 2)  # the profiler's own start
    collected = {"ours": [], "peer": []}
    for _ in range(2):  # in turns
        for name, call in (("ours", ours), ("peer", peer)):
            times, names = device_times(torch, call, flush, runs)
            collected[name] += times
            row[f"{name}_kernels"] = names
    for name, call in (("ours", ours), ("peer", peer)):
        calls = []
        for _ in range(runs):
            flush(), torch.cuda.synchronize()
            start = time.perf_counter()
            call(), torch.cuda.synchronize()
            calls.append((time.perf_counter() - start) * 1e3)
        row[f"{name}_call_ms"] = statistics.median(calls)
        row[f"{name}_ms"], row[f"{name}_least_ms"] = statistics.median(collected[name]), min(collected[name])
    return row


def child(case, runtime, seconds, answers):
    try:
        answers.put(measure(case, runtime, seconds))
    except Exception as error:
        answers.put({"failed": f"{type(error).__name__}: {error}"[:300]})


def run(case, runtime, seconds):
    context = multiprocessing.get_context("fork")  # torch is imported once, and starts CUDA in the child only
    answers = context.Queue()
    process = context.Process(target=child, args=(case, runtime, seconds, answers))
    process.start()
    try:
        row = answers.get(timeout=LIMIT_S)
    except Exception:
        row = {"failed": f"no answer in {LIMIT_S} s" if process.is_alive() else f"its process ended with {process.exitcode}"}
    process.join(5)
    if process.is_alive():
        process.kill()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--json", default="bench.json")
    options = parser.parse_args()
    import torch
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        runtime = build_runtime(Path(folder))
        print(f"{'case':34} {'device ms':>10} {'peer':>10} {'ratio':>6} {'TFLOP/s':>8} {'peer':>8} {'GB/s':>6} {'call ms':>8} {'peer':>8} {'launches':>8}  {'error':>8} {'peer':>8}")
        for case in CASES:
            title = f"{case.table} {case.name}"
            if not re.search(options.only, title) or not (HERE / "bench" / f"{case.file}.so").exists():
                continue
            row = run(case, runtime, options.seconds)
            rows.append({"case": title, "operations": case.operations, "bytes": case.moved, "tolerance": case.tolerance, "peer": case.peer_name} | row)
            if "failed" in row:
                failed += 1
                print(f"{title:34} FAILED: {row['failed']}", flush=True)
                continue
            ms, wrong = row["ours_ms"], not row["error"] <= case.tolerance
            failed += wrong
            print(f"{title:34} {ms:10.4f} {row['peer_ms']:10.4f} {row['peer_ms'] / ms:6.2f} {case.operations / ms * 1e-9:8.1f} {case.operations / row['peer_ms'] * 1e-9:8.1f} {case.moved / ms * 1e-6:6.0f} "
                  f"{row['ours_call_ms']:8.3f} {row['peer_call_ms']:8.3f} {len(row['ours_kernels']):8}  {row['error']:8.1e} {row['peer_error']:8.1e}"
                  f"{'  WRONG' if wrong else ''}", flush=True)
    right = [r for r in rows if "failed" not in r]
    for table in dict.fromkeys(case.table for case in CASES):
        ratios = [r["peer_ms"] / r["ours_ms"] for r in right if r["case"].startswith(table)]
        if ratios:
            print(f"{table}: {len(ratios)} cases, speed by the peer's: geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.3f}, "
                  f"least {min(ratios):.3f}, most {max(ratios):.3f}")
    name = "no CUDA device"
    try:
        name = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip()
    except OSError:
        pass
    print(f"{name}; PyTorch {torch.__version__}")
    Path(options.json).write_text(json.dumps({"device": name, "torch": torch.__version__, "rows": rows}, indent=1))
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
