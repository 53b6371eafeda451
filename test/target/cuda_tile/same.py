"""Reads bytecode of CUDA Tile IR and writes it again in its version: same.py TILE_TRANSLATE FOLDER"""
import subprocess
import sys
import tempfile
from pathlib import Path

translate, folder = sys.argv[1:]
files, same, versions = sorted(Path(folder).glob("*.tileirbc")), 0, set()
with tempfile.TemporaryDirectory() as scratch:
    for file in files:
        major, minor = file.read_bytes()[8:10]
        back = Path(scratch) / file.name
        subprocess.run([translate, file, f"--tile-to-cuda-tile={major}.{minor}", "-o", back], check=True)
        is_same = back.read_bytes() == file.read_bytes()
        same += is_same
        versions.add(f"{major}.{minor}")
        if not is_same:
            print(f"{file.name} differs")
print(f"{same} of {len(files)} files are the same, of versions {', '.join(sorted(versions))}")
