"""A peer's process for tile-bench's gpu-static: it ends after one kernel, since peers keep what they made.

    peer.py PEER KERNEL CHIP TILE OUTPUT      PEER: triton, tileiras or tilelang; KERNEL: of
                                              the peer's own, or Triton's FILE.ttir; TILE: 128,128,32

Compiles each of the peer's variants to OUTPUT.0, OUTPUT.1, … and answers with one line of JSON: {"version", "made": [{"variant",
"seconds"} or {"variant", "absent": why}]}, or {"absent": why}.
"""
import importlib
import json
import os
import sys
from pathlib import Path

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # whatever libraries print is no answer
name, kernel, chip, tile, output = sys.argv[1:]
tile = tuple(map(int, tile.split(","))) if tile else ()
try:
    peer = importlib.import_module(f"{name}_kernels")
except ImportError as error:
    answer = {"absent": str(error)[:300]}
else:
    variants, answer = peer.variants(chip, kernel), {"version": peer.VERSION, "made": []}
    for i, variant in enumerate(variants[:1] + variants):  # the first one twice: once to warm up
        entry = {"variant": variant}
        try:
            entry["seconds"] = peer.build(kernel, chip, tile, variant, Path(f"{output}.{max(i - 1, 0)}"))
        except Exception as error:  # a peer may refuse whatever it likes; the table shows why
            entry["absent"] = f"{type(error).__name__}: {str(error)[:200]}"
        if i:
            answer["made"].append(entry)
print(json.dumps(answer), file=answers, flush=True)
