"""How many barriers the code of whole programs has. A change that adds one raises a row here and says why.

The counts are of PTX or of AMD's assembly, so that those that LLVM copies count too.
Use: barriers.py BUILD.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
KERNELS = ROOT / "test/dialects/tile/programs"
BUILD = sys.argv[1]
BARRIER = re.compile(r"^\s*(bar\.sync|barrier\.sync|s_barrier)\b", re.MULTILINE)

# Program, chip, barriers.
BARRIERS = [
    (KERNELS / "prefix_sum.mlir", "gfx942", 8),
    (KERNELS / "prefix_sum.mlir", "sm_80", 12),
    (KERNELS / "nm_spmm.mlir", "sm_80", 4),
    (KERNELS / "attention.mlir", "sm_80", 5),
    (KERNELS / "softmax.mlir", "sm_80", 2),
    (KERNELS / "histogram.mlir", "sm_80", 3),
    (KERNELS / "topk.mlir", "sm_80", 10),  # one more since every thread of a sort has a pair, for half of the instructions
    (KERNELS / "layernorm.mlir", "sm_80", 4),
    (ROOT / "examples/transformer/transformer.mlir", "sm_90a", 8),
    (ROOT / "examples/softmax/softmax.mlir", "sm_80", 2),
]


def count(program, chip):
    text = re.sub(r'"(sm_\d+a?|gfx\d+)"', f'"{chip}"', program.read_text())
    form = "amdgcn" if chip.startswith("gfx") else "ptx"
    done = subprocess.run([f"{BUILD}/bin/tile-translate", "-", f"--chip={chip}", f"--tile-to-{form}"], input=text,
                          capture_output=True, text=True, check=False)
    return len(BARRIER.findall(done.stdout)) if done.returncode == 0 else done.stderr


wrong = 0
for program, chip, expected in BARRIERS:
    counted = count(program, chip)
    if counted != expected:
        wrong += 1
        print(f"{program.name} on {chip}: {counted} barriers, expected {expected}")
print(wrong, "wrong")
