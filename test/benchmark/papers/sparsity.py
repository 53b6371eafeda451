"""What the tables of sparse systems share (SparTA, PIT, nmSPARSE): their options, runs of our programs, and the peers' times.

Times are processor time on one thread, in ms, all of a row one after the other: of a peer the least of several calls, of ours the
difference between a run of many calls and one of few (at --size=small the least time that passed). Peers: numpy's OpenBLAS and scipy
in this process; PyTorch where --peer-python has it.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/tile-bench"), str(ROOT / "test/run/products")]
SIZES = ("small", "medium", "paper")
PEERS = ("openblas", "scipy", "torch")
TORCH = """
import json, sys, time, numpy, torch
torch.set_num_threads(1)
arrays = [torch.from_numpy(x) for x in numpy.load(sys.argv[1]).values()]
call = eval("lambda x: " + sys.argv[2])
prepared = eval("lambda x: " + sys.argv[3])(arrays)
with torch.inference_mode():
    result, times = call(prepared), []
    end = time.perf_counter() + float(sys.argv[4])
    while len(times) < 3 or time.perf_counter() < end:
        start = time.thread_time()
        call(prepared)
        times.append(time.thread_time() - start)
numpy.save(sys.argv[5], result.numpy())
print(min(times) * 1e3)
"""


def best(call, seconds):
    """ms of the best call, of at least three."""
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times) * 1e3


def is_right(result, exact, terms):
    """Whether f32 sums of so large terms may give `result`: the bound of a sum in any order, NaN is wrong."""
    return bool((abs(result.astype("f8") - exact) <= 2e-5 * terms + 1e-6).all())


class Table:
    """Options and rows of one paper's table; `policies` are columns of ours, {name: flags of tile-run}, that options replace."""

    def __init__(self, paper, doc, policies):
        parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--size", choices=SIZES, default="medium")
        parser.add_argument("--only", default="", metavar="REGEX", help="the rows whose name matches")
        parser.add_argument("--chips", default="sm_80,gfx942", help="chips whose kernels the emulator counts; '' for none")
        parser.add_argument("--peer-python", default=sys.executable, metavar="FILE", help="a Python that has PyTorch")
        parser.add_argument("--seconds", type=float, default=.5, help="of timing for each peer")
        parser.add_argument("--json", metavar="FILE")
        for name, flags in policies.items():
            parser.add_argument(f"--{name}", default=flags, metavar="FLAGS", help=f"of tile-run (default: '{flags}')")
        self.options, self.paper, self.policies = parser.parse_args(), paper, policies
        self.rows, self.wrong, self.manifest, self.folder = [], 0, {}, tempfile.TemporaryDirectory()
        self.size = SIZES.index(self.options.size)
        os.environ["TESSERA_CACHE"] = self.folder.name  # a program that is timed is compiled by then
        self.chips = [chip for chip in self.options.chips.split(",") if chip]

    def flags(self, policy):
        return getattr(self.options, policy).split()

    def ours(self, text, arrays, flags, target="cpu"):
        """The result of @main and the statistics of the run; a program that fails ends the table."""
        folder = Path(self.folder.name)
        (folder / "p.mlir").write_text(text)
        command = [ROOT / "build/bin/tile-run", folder / "p.mlir", f"--target={target}", f"--stats={folder / 's.json'}", f"--out={folder / 'r.npy'}"]
        command += ["--threads=1"] if target == "cpu" else []
        for i, array in enumerate(arrays):
            np.save(folder / f"{i}.npy", array)
            command.append(f"--in={folder / f'{i}.npy'}")
        done = subprocess.run([*map(str, command), *flags], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{text[:2000]}\n{done.stderr[-2000:]}")
        stats = json.loads((folder / "s.json").read_text())
        self.manifest = self.manifest or stats["manifest"]
        if target == "cpu" and self.size:  # the program is compiled and kept by now
            calls = max(3, int(self.options.seconds * 1e3 / stats["time_ms_min"]))
            few, many = (self.processor_ms([*map(str, command), *flags, f"--repeat={2 + more}"]) for more in (0, calls))
            stats["time_ms_min"] = max(many - few, 0) / calls
        return np.load(folder / "r.npy"), stats

    @staticmethod
    def processor_ms(command):
        seen = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seen.append(1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        return min(seen)

    def torch(self, arrays, call, prepare="x"):
        """(ms, result) of an expression in the list x, after `prepare`; None where PyTorch is missing or refuses."""
        folder = Path(self.folder.name)
        np.savez(folder / "x.npz", *arrays)
        done = subprocess.run([self.options.peer_python, "-c", TORCH, folder / "x.npz", call, prepare, str(self.options.seconds), folder / "t.npy"],
                              capture_output=True, text=True)
        return (float(done.stdout.split()[-1]), np.load(folder / "t.npy")) if done.returncode == 0 else None

    def cpu(self, name, text, arrays, exact, terms, peers, paper="", policies=None, known=None):
        """One row of times: ours by each policy, the peers {name: a call of this process, or arguments of torch}, and what is `known`
        {column: ms}. `text` and `arrays` may be {policy: …}. Returns the ms by column."""
        row, found = {"row": name, "target": "cpu"}, dict(known or {})
        for policy in policies or self.policies:
            program = text[policy] if isinstance(text, dict) else text
            result, stats = self.ours(program, arrays[policy] if isinstance(arrays, dict) else arrays, self.flags(policy))
            found[policy] = stats["time_ms_min"]
            if not is_right(result, exact, terms):
                self.wrong += 1
                row["wrong"] = row.get("wrong", []) + [policy]
        for peer, what in peers.items():
            if callable(what):
                found[peer] = best(what, self.options.seconds)
            elif (timed := self.torch(*what)) is not None:
                found[peer] = timed[0]
                if not is_right(timed[1], exact, terms):
                    row["wrong"] = row.get("wrong", []) + [peer]
        row["ms"] = found
        ours, dense = (found.get(policy) for policy in list(self.policies)[:2])
        others = [found[peer] for peer in PEERS if peer in found]
        row["over_dense"], row["over_peers"] = dense and dense / ours, min(others) / ours if others else None
        self.rows.append(row)
        cells = [f"{found[c]:10.3f}" if c in found else f"{'-':>10}" for c in [*self.policies, *PEERS]]
        gains = [f"{g:8.2f}" if g else f"{'-':>8}" for g in (row["over_dense"], row["over_peers"])]
        note = f"  WRONG: {' '.join(row['wrong'])}" if "wrong" in row else "  loses" if others and row["over_peers"] < 1 else ""
        print(f"{name:34}" + "".join(cells + gains) + f" {paper:>8}{note}", flush=True)
        return found

    def head(self, what):
        print(f"\n{what}\n{'':34}" + "".join(f"{c:>10}" for c in [*self.policies, *PEERS]) + f"{'/dense':>8}{'/peers':>8} {'paper':>8}", flush=True)

    def counted(self, name, text, arrays, exact, terms, chip, policies=None, more=lambda stats: ""):
        """One row of the emulator's counts by each policy."""
        counts = {}
        for policy in policies or self.policies:
            program = text[policy] if isinstance(text, dict) else text
            result, stats = self.ours(program, arrays[policy] if isinstance(arrays, dict) else arrays, self.flags(policy), f"emulate:{chip}")
            if not is_right(result, exact, terms):
                self.wrong += 1
                name += " WRONG"
            counts[policy] = {"launches": stats["launches"], "bytes": stats["global_bytes_read"], "flops": stats["mma_flops"],
                              "instructions": sum(k["instructions"] for k in stats["kernels"].values()), "conflicts": stats["shared_bank_conflicts"]}
        self.rows.append({"row": name, "target": chip, "counts": counts})
        ours, dense = (counts.get(policy) for policy in list(self.policies)[:2])
        ratio = f"{dense['instructions'] / ours['instructions']:6.2f}" if dense else "     -"
        print(f"{name:34} {chip:8} {ours['launches']:8} {ours['bytes']:12} {ours['instructions']:12} {ours['flops']:12} {ours['conflicts']:9} {ratio}"
              f"{more(counts)}", flush=True)

    def head_counted(self, what):
        print(f"\n{what}\n{'':34} {'chip':8} {'launches':>8} {'bytes read':>12} {'instructions':>12} {'MMA flops':>12} {'conflicts':>9} /dense", flush=True)

    def end(self):
        """Writes the JSON file; the exit status: 1 if a result of ours is wrong."""
        gains = [row["over_peers"] for row in self.rows if row.get("over_peers")]
        if gains:
            lost = sum(g < 1 for g in gains)
            print(f"\nbeside the best peer: geometric mean {np.exp(np.mean(np.log(gains))):.2f}, least {min(gains):.2f}, most {max(gains):.2f}; "
                  f"{lost} of {len(gains)} rows lose")
        if self.options.json:
            Path(self.options.json).write_text(json.dumps({"rows": self.rows, "manifest": {"paper": self.paper, **self.manifest}}, indent=1))
        return int(self.wrong > 0)
