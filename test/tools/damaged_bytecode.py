"""Damaged bytecode, cut and changed, through the tools: an exit status of 0 or 1, and with 1 a message. Never a crash, and
never longer than the tools' own limit of CPU time for reading, which a busy machine stretches.

Use: damaged_bytecode.py GOOD.mlirbc COUNT TOOL... (each tool with its flags in one argument; the file comes first)."""
import random
import subprocess
import sys
from pathlib import Path

good, count, tools = Path(sys.argv[1]).read_bytes(), int(sys.argv[2]), [tool.split() for tool in sys.argv[3:]]
bad = Path(sys.argv[1] + ".bad")
rng, wrong = random.Random(11), 0
for number in range(count):
    bytes_ = bytearray(good)
    if number % 4 == 0:
        bytes_ = bytes_[:rng.randrange(4, len(bytes_))]
    for _ in range(number % 4):
        bytes_[rng.randrange(4, len(bytes_))] = rng.randrange(256)
    bad.write_bytes(bytes_)
    for name, *flags in tools:
        done = subprocess.run([name, bad, *flags], capture_output=True, text=True, errors="replace", timeout=1200)
        if done.returncode not in (0, 1) or (done.returncode == 1 and "error" not in done.stderr):
            wrong += 1
            print(f"file {number}: {name} ended with {done.returncode}: {done.stderr[-300:]}")
print(f"{count} damaged files, {len(tools)} tools, {wrong} wrong")
