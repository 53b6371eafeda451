#!/usr/bin/env python3
"""The digits and the transformer with weights of 4 bits: bytes and accuracy beside f32.

The weights become constants of the program. tile-collect-hessians and one run on typical inputs tell how much each input
matters; tile-quantize-weights makes codes by GPTQ. The programs run on the CPU; the interpreter judges those of 4 bits.
Use: examples/low-bit/low_bit.py [--build=BUILD]      prints a table; exit status 1 if a result is wrong
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "digits"), str(HERE.parent / "transformer")]
import model  # noqa: E402
import train  # noqa: E402

TYPICAL = 512  # rows that GPTQ sees


def with_constants(text, arrays):
    """The program with all arguments of @main but the first as constants."""
    head, arguments, result = re.search(r"(func\.func @main\()(.*?)(\) -> [^{]*\{)", text, re.DOTALL).groups()
    parts = [a.strip() for a in re.split(r",\s*(?=%)", arguments)]
    lines = [f'  {name} = arith.constant dense<"0x{array.tobytes().hex().upper()}"> : {kind}'
             for (name, kind), array in zip((p.split(": ") for p in parts[1:]), arrays, strict=True)]
    return text.replace(head + arguments + result, head + parts[0] + result + "\n" + "\n".join(lines))


class Tools:
    def __init__(self, build, folder):
        self.bin, self.folder = Path(build) / "bin", Path(folder)

    def call(self, name, *arguments):
        done = subprocess.run([self.bin / name, *arguments], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr[-2000:]}")
        return done.stderr

    def transform(self, source, passes, target):
        return self.call("tile-opt", source, f"--pass-pipeline=builtin.module(inline,func.func({passes}))", "-o", target)

    def run(self, program, x, *flags):
        """The first result on the CPU, and the time of a call in ms."""
        np.save(self.folder / "x.npy", x)
        self.call("tile-run", program, "--target=cpu", f"--in={self.folder}/x.npy", f"--out={self.folder}/y.npy", *flags,
                  "--repeat=5", f"--stats={self.folder}/s.json")
        return np.load(self.folder / "y.npy"), json.loads((self.folder / "s.json").read_text())["time_ms_median"]


def at_four_bits(tools, name, typical, group):
    """The program with codes of 4 bits, and the bytes of its products' weights after and before."""
    source, hessians, result = (tools.folder / f for f in (f"{name}.mlir", "h.npz", f"{name}4.mlir"))
    tools.transform(source, "tile-collect-hessians", tools.folder / "h.mlir")
    tools.run(tools.folder / "h.mlir", typical, f"--out={hessians}")
    remarks = tools.transform(source, f"tile-quantize-weights{{method=gptq hessians={hessians} bits=4 group={group} "
                              "order=activation remarks=true}", result)
    counts = np.array([list(map(int, m)) for m in re.findall(r"remark: 4 bits .* (\d+) bytes of (\d+)", remarks)])
    return result, *map(int, counts.sum(axis=0))


def rows(build):
    """A row for each program and width of its weights: bytes, milliseconds of a call, and how good the result is."""
    images, labels = train.images()
    inputs = model.arguments()
    wanted = model.reference(*inputs)

    def read(logits):
        return f"accuracy {np.mean(logits.argmax(axis=1) == labels):.4f}"

    def near(y):
        return f"relative error {np.linalg.norm(y - wanted) / np.linalg.norm(wanted):.1e}"

    found = []
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(build, folder)
        for name, x, typical, weights, group, judge in (("digits", images, images[:TYPICAL], train.train(), 16, read),
                                                        ("transformer", inputs[0], inputs[0], inputs[1:], 64, near)):
            whole = tools.folder / f"{name}.mlir"
            whole.write_text(with_constants((HERE.parent / name / f"{name}.mlir").read_text(), weights))
            narrow, after, before = at_four_bits(tools, name, typical, group)
            for bits, program, size, *flags in ((32, whole, before), (4, narrow, after, "--check-against=interpret")):
                result, ms = tools.run(program, x, *flags)
                found.append((name, bits, size, ms, judge(result)))
    return found


def show(build):
    print(f"\n{'program':<12} {'bits':>5} {'bytes of weights':>17} {'cpu ms':>8}  result")
    for name, bits, size, ms, text in rows(build):
        print(f"{name:<12} {bits:>5} {size:>17,} {ms:>8.3f}  {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=HERE.parent.parent / "build")
    show(parser.parse_args().build)


if __name__ == "__main__":
    main()
