#!/usr/bin/env python3
"""Packs execution tests for a machine with a GPU and nothing of ours: programs with device code, what goes in, what must
come out, tile-exec (and its source), and run.sh, which runs them all and prints one table.

  test/gpu/pack.py --output=gpu-tests [--build=build] [--chip=sm_80 --chip=sm_90a --chip=gfx942] [--fuzz=40] [--only=REGEX]
  gpu-tests/run.sh                        on the machine with the GPU
  gpu-tests/run.sh --bench                there too, packed with --bench: the tests, then our programs beside PyTorch
                                          (bench.py, bench_cases.py)

What must come out is what the emulated first chip gives, once the interpreter has found it right by its bounds. In it are the
demo's programs, those of test/run that say what goes in, a kernel whose programs wait for each other, attention, and the fuzzer's.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "run"), str(ROOT / "test" / "fuzz"), str(ROOT / "examples"),
                str(ROOT / "test" / "transforms" / "pipeline")]
import bench_cases  # noqa: E402
import check  # noqa: E402
import demo  # noqa: E402
import fuzz  # noqa: E402
import specialize_attention  # noqa: E402
from inputs import make  # noqa: E402

MOST_BYTES = 64 << 20  # of all files
SOURCES = ["tools/tile-exec", "lib/run", "lib/runtime", "lib/runtime/drivers", "lib/support", "lib/support/files", "lib/support/npy"]
HEADERS = ["lib/machine/cpu_feature.h"]
FUZZ_TOLERANCE = 1e-3  # between GPUs: how matrix instructions round sums inside is nobody's contract


class Packer:
    def __init__(self, options):
        self.options, self.folder = options, Path(options.output)
        self.tools = Path(options.build).resolve() / "bin"
        self.lines, self.left_out, self.names = [], [], set()

    def wanted(self, name):
        return re.search(self.options.only, name)

    def tool(self, name, *arguments):
        return subprocess.run([self.tools / name, *map(str, arguments)], capture_output=True, text=True)

    def outputs(self, file, inputs):
        """What the emulated first chip gives, or None where it is not right by the interpreter, does not compile, or launches nothing."""
        with tempfile.TemporaryDirectory() as place:
            done = self.tool("tile-run", file, f"--target=emulate:{self.options.chip[0]}", "--check-against=interpret",
                             *inputs, f"--out={place}/all.npz", f"--stats={place}/stats.json")
            if done.returncode or not json.loads(Path(f"{place}/stats.json").read_text())["launches"]:
                return None
            with np.load(f"{place}/all.npz") as arrays:
                return [arrays[key] for key in arrays.files]

    def add(self, name, file, arrays, tolerance, expected=None):
        """One program with its inputs; `expected` where the interpreter cannot say."""
        if name in self.names:
            sys.exit(f"{file}: there is already a test called {name}")
        self.names.add(name)
        files = []
        for i, array in enumerate(arrays):
            files.append(f"data/{name}.in{i}.npy")
            np.save(self.folder / files[-1], np.asarray(array))
        if expected is None:
            expected = self.outputs(file, [f"--in={self.folder / f}" for f in files])
        chips = [f"--target={chip}" for chip in self.options.chip]
        program = self.folder / "programs" / f"{name}.so"
        made = expected is not None and self.tool("tile-translate", file, "--tile-to-program", "--cpu=x86-64-v3", *chips,
                                                  "-o", program).returncode == 0
        if not made:
            self.left_out.append(name)
            return
        flags = [f"--in={f}" for f in files]
        for i, array in enumerate(expected):
            np.save(self.folder / f"data/{name}.out{i}.npy", array)
            flags.append(f"--check-against=data/{name}.out{i}.npy")
        self.lines.append(f"{name} --rtol={tolerance:g} --atol={tolerance:g} {' '.join(flags)}")

    def add_demo(self):
        for make_program in (demo.digits, demo.softmax, demo.transformer):
            if self.wanted(make_program.__name__):
                program = make_program()
                self.add(f"demo_{program.name}", program.file, program.inputs, program.tolerance)

    def add_checked(self):
        for file in sorted((ROOT / "test" / "run").glob("*/*.mlir")):
            text = file.read_text()
            tolerance = float((check.said(text, "tolerance") or ["1e-5"])[0])
            for i, case in enumerate(check.said(text, "in")):
                name = f"{file.parent.name}_{file.stem}{i}"
                if self.wanted(name):
                    arrays = [np.asarray(a) for a in eval(f"[{case}]", dict(check.names))]
                    self.add(name, file, arrays, tolerance)

    def add_waiting(self):
        """Four programs that wait for each other (test/runtime/Inputs/device.mlir)."""
        if self.wanted("waiting"):
            x = np.arange(1000, dtype=np.float32)
            y, z = x * x, np.zeros(4, np.float32)
            y[:4], z[:4] = x[:4], x[[1, 2, 3, 0]]
            self.add("waiting", ROOT / "test/runtime/Inputs/device.mlir",
                     [x, np.zeros_like(x), np.zeros(4, np.float32), np.zeros(1, np.int32)], 0,
                     [x, y, z, np.array([4], np.int32)])

    def add_attention(self):
        """Kernels of attention; on sm_90a TMA, wgmma and specialized warps run them."""
        for case in specialize_attention.CASES:
            name = f"attention_{case.name}"
            if self.wanted(name) and case.sizes[1]:
                text = case.program().replace('attributes {machine = #tile.machine<"sm_90a">} ', "")
                with tempfile.TemporaryDirectory() as place:
                    file = Path(place) / f"{name}.mlir"
                    file.write_text(text)
                    self.add(name, file, case.data()[0], 3e-2 if case.out == "bf16" else 4e-3)

    def add_fuzzed(self):
        for seed in range(self.options.fuzz):
            if self.wanted(f"fuzz{seed}"):
                text = fuzz.to_text(fuzz.generate(seed, "both"))
                with tempfile.TemporaryDirectory() as place:
                    file = Path(place) / f"fuzz{seed}.mlir"
                    file.write_text(text)
                    arrays = [make(line) for line in re.findall(r"^// in: (.*)$", text, re.M)]
                    self.add(f"fuzz{seed}", file, arrays, FUZZ_TOLERANCE)

    def add_bench(self):
        (self.folder / "bench").mkdir()
        for case in bench_cases.CASES:
            if self.wanted(case.name):
                with tempfile.TemporaryDirectory() as place:
                    file = Path(place) / "case.mlir"
                    file.write_text(case.text)
                    chips = [f"--target={chip}" for chip in self.options.chip]
                    done = self.tool("tile-translate", file, "--tile-to-program", "--cpu=x86-64-v3", *chips, "-o",
                                     self.folder / "bench" / f"{case.file}.so")
                    if done.returncode:
                        self.left_out.append(f"bench {case.name}")
        for file in ("bench.py", "bench_cases.py"):
            shutil.copy(ROOT / "test" / "gpu" / file, self.folder)

    def finish(self):
        (self.folder / "tests.txt").write_text("\n".join(self.lines) + "\n")
        shutil.copy(self.tools / "tile-exec", self.folder)
        shutil.copy(ROOT / "test" / "gpu" / "run.sh", self.folder)
        for folder in SOURCES:
            to = self.folder / "source" / folder
            to.mkdir(parents=True, exist_ok=True)
            for file in [*(ROOT / folder).glob("*.c"), *(ROOT / folder).glob("*.h"), *(ROOT / folder).glob("*.def")]:
                shutil.copy(file, to)
        for header in HEADERS:
            (self.folder / "source" / header).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / header, self.folder / "source" / header)
        used = {line.split()[0] for line in self.lines}
        for file in (self.folder / "data").iterdir():
            if file.name.split(".")[0] not in used:
                file.unlink()
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", required=True)
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--chip", action="append")
    parser.add_argument("--fuzz", type=int, default=40)
    parser.add_argument("--only", default="")
    parser.add_argument("--bench", action="store_true")
    options = parser.parse_args()
    options.chip = options.chip or ["sm_80", "sm_90a", "gfx942"]
    packer = Packer(options)
    if packer.folder.exists():
        sys.exit(f"{packer.folder}: is there already")
    for folder in ("programs", "data"):
        (packer.folder / folder).mkdir(parents=True)
    packer.add_demo()
    packer.add_checked()
    packer.add_waiting()
    packer.add_attention()
    packer.add_fuzzed()
    if options.bench:
        packer.add_bench()
    size = packer.finish()
    print(f"{packer.folder}: {len(packer.lines)} tests for {', '.join(options.chip)}, {size / 2**20:.1f} MiB")
    for name in packer.left_out:
        print(f"left out: {name} (not right on the emulator, refused for one of the chips, or nothing is launched)")
    return 1 if size > MOST_BYTES or not packer.lines else 0


if __name__ == "__main__":
    sys.exit(main())
