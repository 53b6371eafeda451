"""tile-bench torch-compile: torch.compile with our backend beside PyTorch eager and inductor, on this CPU with one thread.

Run by itself, as `torch_compile.py SECONDS`, it measures in this process and prints one JSON object. table() runs it in the
Python of --peer-python, which must have PyTorch; inductor wants a C++ compiler.
"""
import copy
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def models(torch):
    """Name, model, input: the shapes of MiniLM (6 layers of 384), of ResNet-18's second stage, and of GPT-2's blocks."""
    nn, functional = torch.nn, torch.nn.functional

    class Residual(nn.Module):

        def __init__(self, channels):
            super().__init__()
            self.a, self.b = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
            self.m, self.n = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

        def forward(self, x):
            return torch.relu(x + self.n(self.b(torch.relu(self.m(self.a(x))))))

    class Block(nn.Module):
        """Of a transformer: norms before the parts and causal attention, as in GPT-2, or norms behind them, as in BERT."""

        def __init__(self, width, heads, is_causal):
            super().__init__()
            self.heads, self.is_causal, self.first, self.second = heads, is_causal, nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attend(self, x):
            b, t, d = x.shape
            q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).split(d, -1))
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
            return self.out(y.transpose(1, 2).reshape(b, t, d))

        def forward(self, x):
            if self.is_causal:
                x = x + self.attend(self.first(x))
                return x + self.down(functional.gelu(self.up(self.second(x)), approximate="tanh"))
            x = self.first(x + self.attend(x))
            return self.second(x + self.down(functional.gelu(self.up(x))))

    return [("MiniLM 1x32", nn.Sequential(*(Block(384, 12, False) for _ in range(6))), torch.randn(1, 32, 384)),
            ("ResNet block 1x128x28x28", Residual(128), torch.randn(1, 128, 28, 28)),
            ("GPT block 1x128x768", Block(768, 12, True), torch.randn(1, 128, 768))]


def in_turns(calls, seconds):
    """Seconds of each call, of this thread's own processor time: medians of runs that take turns."""
    times, end = {name: [] for name in calls}, time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, call in calls.items():
            start = time.thread_time()
            call()
            times[name].append(time.thread_time() - start)
    return {name: statistics.median(one) for name, one in times.items()}


def measure(seconds):
    import torch
    import tessera.torch
    import tessera_runtime
    torch.set_num_threads(1)
    tessera_runtime.set_threads(1)
    torch.manual_seed(0)
    rows = []
    for name, model, x in models(torch):
        model.eval()
        kinds = {"eager": model}
        for backend in ("tessera", "inductor"):
            kinds[backend] = torch.compile(copy.deepcopy(model), backend=backend)
        for direction in ("forward", "forward and backward"):
            compiling, results, calls = {}, {}, {}
            tessera.torch.report(clear=True)
            for kind, one in kinds.items():

                def call(one=one):
                    if direction == "forward":
                        with torch.no_grad():
                            return one(x)
                    one.zero_grad(set_to_none=True)
                    one(x).square().sum().backward()
                    return torch.cat([p.grad.flatten() for p in one.parameters()])

                start = time.perf_counter()
                results[kind], calls[kind] = call(), call
                compiling[kind] = time.perf_counter() - start
            right = results["eager"]
            errors = {kind: float((found - right).norm() / right.norm()) for kind, found in results.items()}
            assert errors["tessera"] < 1e-4, f"{name}, {direction}: wrong by {errors['tessera']}"
            found = tessera.torch.report()
            rows.append({"name": f"{name}, {direction}", "seconds": in_turns(calls, seconds), "compiling": compiling, "errors": errors,
                         "taken": found.taken, "left": sum(found.left.values())})
    return {"torch": torch.__version__, "rows": rows}


def table(options, folder):
    """Prints the table; gives its figures, or None where there is no PyTorch."""
    if subprocess.run([options.peer_python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        print("\ntorch-compile: not measured, since --peer-python has no PyTorch")
        return None
    root = Path(__file__).resolve().parent.parent.parent
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        environment = {**os.environ, "TESSERA_HOME": str(options.build), "TESSERA_CACHE": cache, "OMP_NUM_THREADS": "1",
                       "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor",
                       "PYTHONPATH": os.pathsep.join(map(str, (root / "python", options.build / "python")))}
        done = subprocess.run([options.peer_python, "-W", "ignore", __file__, str(options.seconds)], env=environment,
                              stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"\ntorch-compile: PyTorch {found['torch']}, one thread; ratios are the peer's time by ours")
    print(f"{'':46} {'ms':>8} {'eager':>8} {'ratio':>6} {'inductor':>9} {'ratio':>6} {'compile s':>9} {'inductor':>9} {'operators':>9}")
    for row in found["rows"]:
        ours, eager, inductor = (row["seconds"][kind] for kind in ("tessera", "eager", "inductor"))
        print(f"{row['name']:46} {ours * 1e3:8.2f} {eager * 1e3:8.2f} {eager / ours:6.2f} {inductor * 1e3:9.2f} {inductor / ours:6.2f} "
              f"{row['compiling']['tessera']:9.1f} {row['compiling']['inductor']:9.1f} {row['taken']:4} of {row['taken'] + row['left']}")
    for peer in ("eager", "inductor"):
        mean = math.exp(statistics.fmean(math.log(row["seconds"][peer] / row["seconds"]["tessera"]) for row in found["rows"]))
        print(f"geometric mean by {peer}: {mean:.2f}")
    return found


if __name__ == "__main__":
    print(json.dumps(measure(float(sys.argv[1]))))
