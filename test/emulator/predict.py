"""Asks for predictions of one product on machines that differ in one figure each. Use: predict.py BUILD/bin"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """module attributes {{tile.machine = #tile.machine<"{chip}"{figures}>}} {{
  func.func @main(%a: tensor<64x128xf16>, %b: tensor<128x96xf16>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {{
    %d = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x96xf16>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
    return %d : tensor<64x96xf32>
  }}
}}
"""
# Whatever tiles follow from them, none makes up for the loss.
SLOWER = {"sm_80": ["l2.latency = 800, global.latency = 1160", "clock.hz = 14100000000", "mma.flops.f16 = 64"],
          "gfx942": ["l3.latency = 1840, global.latency = 2800", "clock.hz = 21000000000", "mma.flops.f16 = 64"]}


def run(tools, chip, figures, *flags):
    with tempfile.TemporaryDirectory() as folder:
        program, stats = Path(folder, "program.mlir"), Path(folder, "stats.json")
        program.write_text(PROGRAM.format(chip=chip, figures="".join(f', "{figure.split(" = ")[0]}" = {figure.split(" = ")[1]}'
                                                                      for figure in figures.split(", ") if figure)))
        pipeline = f"builtin.module({'tile-to-nvvm-pipeline' if chip.startswith('sm') else 'tile-to-rocdl-pipeline'}{{chip={chip}}})"
        subprocess.run([Path(tools, "tile-run"), program, f"--target=emulate:{chip}", f"--pass-pipeline={pipeline}", f"--stats={stats}", *flags],
                       check=True)
        return json.loads(stats.read_text())


for chip, changes in SLOWER.items():
    base = run(sys.argv[1], chip, "", "--predict")
    assert base["predicted_cycles"] > 0 and base["predicted_ms"] > 0
    kernels = sum(kernel["predicted_cycles"] for kernel in base["kernels"].values())
    assert abs(kernels - base["predicted_cycles"]) < 1e-6 * kernels
    assert base["predicted_cycles"] == run(sys.argv[1], chip, "", "--predict", "--threads=1")["predicted_cycles"], "depends on threads"
    waiting = run(sys.argv[1], chip, "model.wait.ns = 1007000", "--predict")
    milliseconds = base["predicted_ms"] / base["predicted_cycles"]
    more = milliseconds * (waiting["predicted_program_cycles"] - base["predicted_program_cycles"])
    assert base["host_waits"] and abs(more - base["host_waits"]) < 1e-6, (more, "a wait costs a millisecond more")
    launching = run(sys.argv[1], chip, "model.launch.ns = 1002000", "--predict")
    more = milliseconds * (launching["predicted_program_cycles"] - base["predicted_program_cycles"])
    assert abs(more - base["launches"]) < 1e-6, (more, "a launch costs a millisecond more")
    for change in changes:
        slower = run(sys.argv[1], chip, change, "--predict")["predicted_cycles"]
        assert slower > 1.05 * base["predicted_cycles"], (chip, change, base["predicted_cycles"], slower)
    print(chip, "prediction", base["prediction"])
assert not {"predicted_cycles", "predicted_ms", "prediction"} & run(sys.argv[1], "sm_80", "").keys()
print("not asked for: no key")
