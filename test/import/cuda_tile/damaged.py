"""Reads damaged bytecode: damaged.py TILE_TRANSLATE FLAG COUNT FILE…  Every mutant gives a program or an error with its byte.

A mutant has some bytes changed, removed, doubled, or is cut. Prints what went wrong, then how many were read and refused.
"""
import random
import re
import subprocess
import sys
import tempfile

tool, flag, count, files = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
rng = random.Random(11)


def damage(data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at, kind = rng.randrange(8, len(data)), rng.randrange(12)
        if kind < 5:
            data[at] = rng.randrange(256)
        elif kind < 10:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 10:
            del data[at:at + rng.randint(1, 4)]
        else:
            data[at:at] = data[at:at + rng.randint(1, 8)]
    return bytes(data[:rng.randrange(8, len(data))] if rng.randrange(10) == 0 else data)


seen = {"read": 0, "refused": 0, "wrong": 0}
with tempfile.NamedTemporaryFile(suffix=".tileirbc") as file:
    for number in range(count):
        with open(files[number % len(files)], "rb") as original:
            mutant = damage(original.read())
        file.seek(0)
        file.truncate()
        file.write(mutant)
        file.flush()
        run = subprocess.run([tool, flag, file.name], capture_output=True, text=True, errors="replace",
                             timeout=60, check=False)
        located = re.search(r"(byte \d+: |:\d+:\d+: error: |not a valid program)", run.stderr)
        good = run.returncode == 0 or (run.returncode == 1 and located)
        seen["wrong" if not good else "refused" if run.returncode else "read"] += 1
        if not good:
            print(f"mutant {number}: exit {run.returncode}: {run.stderr[-300:]}")
print(f"{seen['read']} read, {seen['refused']} refused, {seen['wrong']} wrong")
