"""tile-bench python: what calls from Python cost, and kernels of examples/python beside PyTorch's functions on this CPU.

Run by itself, as `python_calls.py BUILD EXAMPLES SECONDS`, it measures in this process and prints one JSON object. table()
runs it in the Python of --peer-python, which has PyTorch where that is to be measured.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARS = {  # name: (unit, at most, what)
    "call, numpy": ("us", 10, "a compiled program on three arrays of 1,024 numbers"),
    "call, torch": ("us", 12, "the same on PyTorch's tensors"),
    "kernel call, numpy": ("us", None, "a @tessera.kernel on three arrays of 1,024 numbers"),
    "compile again, memory": ("ms", 1, "tessera.compile of an unchanged program"),
    "compile again, disk": ("ms", 20, "the same in a new process"),
    "kernel, cold": ("ms", 250, "a @tessera.kernel of 25 lines, to its first result"),
    "import tessera": ("ms", 60, "beyond Python's own start"),
    "import tessera_runtime": ("ms", 20, "beyond Python's own start"),
}
ADD = """
func.func @main(%a: tensor<1024xf32>, %b: tensor<1024xf32>, %c: memref<1024xf32>) {
  linalg.add ins(%x, %y : memref<1024xf32>, memref<1024xf32>) outs(%c : memref<1024xf32>)
  return
}
""".replace("  linalg", "  %x = bufferization.to_buffer %a read_only : tensor<1024xf32> to memref<1024xf32>\n"
            "  %y = bufferization.to_buffer %b read_only : tensor<1024xf32> to memref<1024xf32>\n  linalg")


def median_time(call, seconds):
    """Seconds of one call: the median over batches of about 2 ms, by the thread's own processor time."""
    call()
    start = time.thread_time()
    call()
    count = max(1, int(0.002 / max(time.thread_time() - start, 1e-7)))
    rounds, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(rounds) < 5:
        start = time.thread_time()
        for _ in range(count):
            call()
        rounds.append((time.thread_time() - start) / count)
    return statistics.median(rounds)


def new_process(code, rounds=7):
    """Milliseconds that each of several new processes prints; the median."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    return statistics.median(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True,
                                                  env=environment).stdout) for _ in range(rounds))


def import_time(name, rounds=9):
    """Milliseconds of a process that imports, less those of one that does not, in turns."""
    both = {"pass": [], f"import {name}": []}
    for _ in range(rounds):
        for code, times in both.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
    empty, full = map(statistics.median, both.values())
    return (full - empty) * 1e3


def torch_or_none():
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    return torch


def calls(seconds, figures):
    import numpy as np
    import tessera
    import tessera_runtime
    tessera_runtime.set_threads(1)
    program = tessera.compile(ADD)
    arrays = [np.random.default_rng(i).standard_normal(1024, dtype="f4") for i in range(3)]
    figures["call, numpy"] = median_time(lambda: program(*arrays), seconds) * 1e6
    np.testing.assert_array_equal(arrays[2], arrays[0] + arrays[1])
    figures["compile again, memory"] = median_time(lambda: tessera.compile(ADD), seconds) * 1e3
    torch = torch_or_none()
    if torch:
        tensors = [torch.from_numpy(array) for array in arrays]
        figures["call, torch"] = median_time(lambda: program(*tensors), seconds) * 1e6
    from add import add
    launch = add[4]
    figures["kernel call, numpy"] = median_time(lambda: launch(*arrays), seconds) * 1e6
    code = (f"import time, tessera; start = time.perf_counter(); tessera.compile({ADD!r}); "
            "print((time.perf_counter() - start) * 1e3)")
    figures["compile again, disk"] = new_process(code)
    cold = ("import time, sys, numpy as np; sys.argv = sys.argv[:1]; import tessera, attention; "
            "launch, arrays, right, constants = attention.case(np.random.default_rng(0)); start = time.perf_counter(); "
            "launch(*arrays, **constants); print((time.perf_counter() - start) * 1e3)")
    os.environ["TESSERA_CACHE"], kept = "none", os.environ["TESSERA_CACHE"]
    figures["kernel, cold"] = new_process(cold, 5)
    os.environ["TESSERA_CACHE"] = kept
    for name in ("tessera", "tessera_runtime"):
        figures[f"import {name}"] = import_time(name)


def beside_torch(seconds):
    """Rows of (name, seconds of ours, seconds of PyTorch's), one thread each; ours first judged by PyTorch's result."""
    torch = torch_or_none()
    if not torch:
        return []
    import attention
    import layernorm
    import matmul
    import softmax
    generator, rows = torch.Generator().manual_seed(0), []

    def random(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=generator).to(dtype)

    def row(name, ours, out, theirs, atol=1e-4):
        ours()
        right = theirs()
        error = float((out.reshape(right.shape).float() - right.float()).abs().max())
        assert error <= atol * max(1.0, float(right.abs().max())), f"{name}: wrong by {error}"
        rows.append((name, median_time(ours, seconds), median_time(theirs, seconds)))

    for m, n in ((1536, 128), (1024, 1024)):
        x, y = random(m, n), torch.empty(m, n)
        row(f"softmax {m},{n}", lambda: softmax.softmax[m](x, y, W=n), y, lambda: torch.softmax(x, 1))
        w, b, mean, scale = random(n), random(n), torch.empty(m), torch.empty(m)
        row(f"layernorm {m},{n}", lambda: layernorm.forward[m](x, w, b, y, mean, scale, W=n), y,
            lambda: torch.nn.functional.layer_norm(x, (n, ), w, b, layernorm.EPSILON))
    for h, n, d in ((12, 128, 64), (8, 512, 64)):
        q, k, v = (random(h, n, d) for _ in range(3))
        o = torch.empty(h, n, d)
        row(f"attention {h},{n},{d}", lambda: attention.attention[n // 32, h](q, k, v, o, D=d), o,
            lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True))
    a, b, bias, c = random(256, 256, dtype=torch.float16), random(256, 256, dtype=torch.float16), random(256), torch.empty(256, 256)
    row("matmul 256,256,256 f16", lambda: matmul.matmul[8, 8](a, b, bias, c), c,
        lambda: torch.relu(torch.addmm(bias, a.float(), b.float())), 1e-2)
    return rows


def table(options, folder):
    """Prints the table; gives its figures."""
    root = Path(__file__).resolve().parent.parent.parent
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        environment = {**os.environ, "TESSERA_HOME": str(options.build), "TESSERA_CACHE": cache, "OMP_NUM_THREADS": "1",
                       "PYTHONPATH": os.pathsep.join(map(str, (root / "python", options.build / "python", root / "examples/python")))}
        done = subprocess.run([options.peer_python, __file__, str(options.seconds)], env=environment, stdout=subprocess.PIPE, text=True,
                              check=True)
    found = json.loads(done.stdout)
    print(f"\npython: calls from Python {found['python']}, one thread")
    for name, (unit, bar, what) in BARS.items():
        value = f"{found['figures'][name]:8.2f} {unit}" if name in found["figures"] else "       - (no PyTorch)"
        print(f"{name:26} {value}{f'   bar {bar} {unit}' if bar else '':>14}   {what}")
    for name, ours, theirs in found["beside"]:
        print(f"{name:26} {ours * 1e6:8.1f} us, PyTorch {theirs * 1e6:8.1f} us   {theirs / ours:5.2f}")
    if found["beside"]:
        mean = math.exp(statistics.fmean(math.log(theirs / ours) for _, ours, theirs in found["beside"]))
        print(f"{'geometric mean':26} {mean:.2f}")
    return found


def main():
    figures = {}
    calls(float(sys.argv[1]), figures)
    print(json.dumps({"python": sys.version.split()[0], "figures": figures, "beside": beside_torch(float(sys.argv[1]))}))


if __name__ == "__main__":
    main()
