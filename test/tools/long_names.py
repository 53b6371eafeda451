"""A name of 1,000 letters gets the sentence that a short one gets: what is unknown, and what there is instead.

long_names.py BUILD    exit status 1, and a line for each sentence that differs.

Where a sentence has a limit it loses its middle, which is the name; its end, which lists what is accepted, stays.
"""
import re
import subprocess
import sys
from pathlib import Path

SHORT, LONG = "zyx", "zyx" * 334
BUILD = Path(sys.argv[1]) / "bin"
MATMUL = """func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul {SCHEDULE}ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}"""
PLAIN = MATMUL.replace("{SCHEDULE}", "")
CASES = [  # program, tool and flags, words that the sentence ends with
    (PLAIN, "tile-run - --target=NAME", "known: cpu, interpret, emulate:CHIP, cuda, rocm"),
    (PLAIN, "tile-run - --NAME", "--help lists the flags"),
    (PLAIN, "tile-translate - --tile-to-ptx --chip=NAME", "sm_90a"),
    (PLAIN, "tile-translate - --tile-to-object --chip=NAME", "znver5"),
    (PLAIN, "tile-translate - --NAME", "--help lists them)"),
    (PLAIN, "tile-opt --tile-to-cpu-pipeline=chip=NAME", "znver5"),
    (PLAIN, "tile-opt --tile-to-nvvm-pipeline=chip=NAME", "znver5"),
    (PLAIN, "tile-opt --tile-to-cpu-pipeline=policy=NAME", "random"),
    (PLAIN, "tile-opt --tile-group-ops=ops=NAME", "attention or kernels"),
    (MATMUL.replace("{SCHEDULE}", '{tile.schedule = #tile.schedule<kind = "NAME", block = [4, 4, 4]>} '),
     "tile-opt --tile-to-cpu-pipeline", "threads"),
    ("module attributes {tile.x = #tile.schedule<NAME = 3>} {}", "tile-opt", "evaluations"),
    ('module attributes {tile.machine = #tile.machine<"NAME">} {}', "tile-opt", "znver5"),
    ('module attributes {tile.machine = #tile.machine<"sm_80", "NAME" = 3>} {}', "tile-opt", "model.*"),
    ("func.func private @f(tensor<4x4xf32, #sparse.csr<NAME = i64>>)", "tile-opt", "positions, coordinates"),
]


def sentence(program, command, name):
    tool, *flags = command.replace("NAME", name).split()
    done = subprocess.run([BUILD / tool, *flags], input=program.replace("NAME", name), capture_output=True, text=True)
    line = next((line for line in done.stderr.splitlines() if "error: " in line), "no error")
    line = line.partition("error: ")[2] or line
    return done.returncode, re.sub(r"[xyz]*\[\.\.\.\][xyz]*|(zyx)+", "NAME", line)


wrong = 0
for program, command, ending in CASES:
    short, long = sentence(program, command, SHORT), sentence(program, command, LONG)
    if short != long or short[0] != 1 or not short[1].rstrip().endswith(ending):
        wrong += 1
        print(f"wrong: {command}\n  {short}\n  {long}")
print(f"{len(CASES)} sentences, {wrong} wrong")
sys.exit(wrong > 0)
