"""Makes one allocation fail, at one place after the other, in every tool: exit status 1 with a sentence, or 0 with the right
output; nothing is left behind. Crashes of MLIR itself, which does not look at what it gets, are counted apart: those after
an allocation that libMLIR or libLLVM asked for, not our library (lib/capi/tool.cpp looks at those of mlir-c).

Use: failing_malloc.py BIN LIBRARY WORK PLACES. LIBRARY: failing_malloc.so, to be preloaded; PLACES: how many per tool, spread
over the run (tile-exec: all). Prints "N allocations failed, 0 wrong".
"""
import collections
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "import/onnx"))
from model_writer import FLOAT, model as onnx_model, node, number, packed, tensor, text, value  # noqa: E402

PROGRAM = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def model():
    """An ONNX model with weights in typed fields, small and large constants, and enough nodes that lists grow."""
    float_data = text(4, packed(FLOAT, [i / 7 for i in range(600)]))
    weight = number(1, 20) + number(1, 30) + number(2, FLOAT) + text(8, "w") + float_data
    nodes = [node("MatMul", ["x", "w"], ["y0"])]
    nodes += [node("Add", [f"y{i}", f"y{i}"], [f"y{i + 1}"]) for i in range(40)]
    initializers = [weight, tensor("big", FLOAT, [30], [i / 3 for i in range(30)])]
    return onnx_model([*nodes, node("Mul", ["y40", "big"], ["y"])], [value("x", FLOAT, ["N", 20])],
                      [value("y", FLOAT, ["N", 30])], initializers, opset=17)


FAILURES = ("wrong", "silent", "crash", "left")  # right, refused and upstream's are none


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir() if path.suffix != ".json"}


def is_upstreams(done, asked):
    """Did the tool crash, and did upstream's library ask for the memory?"""
    crashed = done.returncode == -11 or (done.returncode == 1 and "crashed" in done.stderr)
    return crashed and asked.startswith(("libMLIR.so", "libLLVM.so"))


class Faults:
    """The tools in a folder, how many allocations each makes, and what each leaves when none fails."""

    def __init__(self, tools, library, work):
        self.tools, self.library, self.work = Path(tools), str(library), Path(work)
        self.source, self.program = self.work / "add.mlir", self.work / "add.so"
        self.source.write_text(PROGRAM)
        self.model = self.work / "model.onnx"
        self.model.write_bytes(model())
        subprocess.run([self.tools / "tile-translate", self.source, "--tile-to-program", "-o", self.program], check=True,
                       timeout=100)
        self.names = list(self.commands(self.work))
        self.total, self.right = {}, {}
        for name in self.names:
            plain, count = self.work / name.replace(" ", "_"), self.work / "count"
            assert self.execute(name, plain, COUNT_TO=str(count)).returncode == 0, name
            self.total[name], self.right[name] = int(count.read_text()), files(plain)

    def commands(self, out):
        run = [f"--out={out}/r.npy", f"--stats={out}/s.json"]
        return {
            "tile-exec": [self.tools / "tile-exec", self.program, *run],
            "tile-run": [self.tools / "tile-run", self.source, *run],
            "tile-run interpret": [self.tools / "tile-run", self.source, "--target=interpret", *run],
            "tile-opt": [self.tools / "tile-opt", self.source, "--tile-to-cpu-pipeline", "-o", f"{out}/o.mlir"],
            "tile-translate onnx": [self.tools / "tile-translate", self.model, "--import-onnx", "-o", f"{out}/o.mlir"],
            "tile-translate": [self.tools / "tile-translate", self.source, "--tile-to-program", "-o", f"{out}/o.so"],
        }

    def execute(self, name, folder, **variables):
        out, tmp = folder / "out", folder / "tmp"
        out.mkdir(parents=True, exist_ok=True)
        tmp.mkdir(exist_ok=True)
        environment = {**os.environ, **variables, "LD_PRELOAD": self.library, "TMPDIR": str(tmp), "TESSERA_CACHE": "none"}
        return subprocess.run(self.commands(out)[name], env=environment, capture_output=True, text=True, errors="replace",
                              timeout=300)

    def fail_at(self, name, place):
        """A word for what the tool does when allocation `place` fails, and its message."""
        folder = self.work / f"{name.replace(' ', '_')}_{place}"
        done = self.execute(name, folder, FAIL_AT=str(place), FAILED_IN=f"{folder}.asked")
        asked = Path(f"{folder}.asked").read_text().split("/")[-1] if Path(f"{folder}.asked").exists() else "nobody"
        written, temporary = files(folder), [path.name for path in (folder / "tmp").iterdir()]
        if done.returncode == 0:
            word = "right" if written == self.right[name] else "wrong"
        elif is_upstreams(done, asked):
            word = "upstream's"
        elif done.returncode != 1 or "crashed" in done.stderr:
            word = "crash"
        else:
            word = "refused" if "memory" in done.stderr or "error" in done.stderr else "silent"
        if temporary or (done.returncode and written):
            word = "left"
        if word not in FAILURES:
            subprocess.run(["rm", "-rf", folder, f"{folder}.asked"])
        return word, f"asked for by {asked}, exit status {done.returncode}, files {[*written, *temporary]}: {done.stderr[-300:]}"


def main():
    tools, library, work, places = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    faults, counts = Faults(tools, library, work), collections.Counter()
    for name in faults.names:
        step = 1 if name == "tile-exec" else max(1, faults.total[name] // places)
        last = 24  # when all is computed, and files have no names yet
        where = sorted({*range(step // 2, faults.total[name], step), *range(faults.total[name] - last, faults.total[name])})
        with ThreadPoolExecutor(2) as pool:
            for place, (word, text) in zip(where, pool.map(lambda place: faults.fail_at(name, place), where)):
                counts[word] += 1
                if word in FAILURES:
                    print(f"{name}, allocation {place}: {word}: {text}", flush=True)
    wrong, failed, upstreams = sum(counts[word] for word in FAILURES), sum(counts.values()), counts["upstream's"]
    print(f"{failed} allocations failed, {wrong} wrong ({upstreams} crashes of MLIR itself)")
    return bool(wrong) or failed < 5


if __name__ == "__main__":
    sys.exit(main())
