"""Each pass of broken_passes.c must be blamed, by the right judge, for the right reason, between passes that are right; its
reduced case must be small and run by itself. Use: blame.py PLUGIN PROGRAM FOLDER"""
import os
import re
import subprocess
import sys

MOST_OPS = 15
AROUND = "canonicalize,cse", "canonicalize,symbol-dce"

# The pass, the message, where (a piece of the line at fault), and how the pass is judged.
ANSWER, FAULT, TRAFFIC = "changes the answer", "makes the program wrong", "raises counted traffic"
DEFECTS = [
    ("swap-subtraction", ANSWER, "%d = arith.subf"),
    ("add-for-multiply", ANSWER, "%s = arith.mulf"),
    ("minimum-for-maximum", ANSWER, "%m = arith.maximumf"),
    ("swap-selection", ANSWER, "%r = arith.select"),
    ("flip-comparison", ANSWER, "%is = arith.cmpf"),
    ("drop-store", ANSWER, "memref.store"),
    ("lengthen-loop", FAULT + ".*out of bounds", "scf.for"),
    ("shorten-loop", ANSWER, "scf.for"),
    ("add-race", FAULT + ".*instance 1 writes what instance 0 wrote", "tile.load"),
    ("drop-fill", FAULT + ".*nobody wrote", "linalg.matmul"),
    ("transpose-operand", ANSWER, "linalg.matmul"),
    ("lose-digits", ANSWER, "%s = arith.mulf"),
]
# On memory already: judged by compiled code, and by what the emulator counts.
LOWERED = [
    ("drop-store", ANSWER, "linalg.generic", ["--tile-validate-each=cpu"]),
    ("launch-twice", TRAFFIC, "tile.launch", ["--tile-validate-each=emulate:sm_80", "--tile-validate-traffic=10"]),
]

LOWERING = {"--tile-validate-each=cpu": "tile-bufferize-host,func.func(convert-linalg-to-loops)",
            "--tile-validate-each=emulate:sm_80": "tile-bufferize-host"}

plugin, program, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
with open(program) as file:
    source = file.read().splitlines()


def blame(name, said, at, flags, before, after):
    reduced = f"{folder}/{name}-{len(flags)}.mlir"
    line = ["tile-opt", program, f"--load-pass-plugin={plugin}", f"--tile-reduce-on-failure={reduced}", "-o", os.devnull,
            f"--pass-pipeline=builtin.module({before},broken-{name},{after})", *flags]
    ended = subprocess.run(line, capture_output=True, text=True)
    error = re.search(r":(\d+):\d+: error: pass '([^']*)' (.*)", ended.stderr)
    assert ended.returncode == 1 and error, f"{name}: not blamed\n{ended.stderr}"
    assert error[2] == f"broken-{name}" and re.match(said, error[3]), f"{name}: {error[0]}"
    assert at in source[int(error[1]) - 1], f"{name}: blamed at line {error[1]}: {source[int(error[1]) - 1]}"
    ops = int(re.search(r"the case reduced to (\d+) ops", ended.stderr)[1])
    assert ops <= MOST_OPS, f"{name}: reduced to {ops} ops only"
    again(name, reduced)
    print(f"broken-{name} is blamed: {error[3]}; {ops} ops")


def again(name, reduced):
    """The reproducer by its own RUN line, as lit runs it; and (the first one) it fails where the pass is another."""
    with open(reduced) as file:
        text = file.read()
    run = " ".join(re.findall(r"// RUN: (.*?)\\?$", text, re.M)).replace("%s", reduced)
    ended = subprocess.run(run, shell=True, capture_output=True, text=True)
    assert ended.returncode == 0, f"{name}: its reproducer does not reproduce\n{run}\n{ended.stderr}"
    assert re.search("^// seed: 0$", text, re.M) and "// pipeline: builtin.module(broken-" in text, text
    if name != DEFECTS[0][0]:
        return
    clean = subprocess.run(run.replace(f"(broken-{name})", "(cse)"), shell=True, capture_output=True, text=True)
    assert clean.returncode != 0, f"{name}: its reproducer blames cse as well"


for name, said, at in DEFECTS:
    blame(name, said, at, ["--tile-validate-each"], *AROUND)
for name, said, at, flags in LOWERED:
    blame(name, said, at, flags, LOWERING[flags[0]], "cse")
print(f"{len(DEFECTS) + len(LOWERED)} defects, all blamed")
