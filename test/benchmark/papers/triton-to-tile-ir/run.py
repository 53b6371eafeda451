"""Which ops of Triton leave as CUDA Tile IR, after NVIDIA's Triton-to-TileIR, which has a table of tests that pass on Blackwell:
./dev reproduce triton-to-tile-ir [--tileiras=FILE] [--json=FILE]

A row for each op of TTIR (dialects/foreign/tt/ops.def): how many of our kernels have the op (test/run/triton_kernels and
test/run/triton/Inputs), how many of these come in as tile kernels, how many leave as bytecode of CUDA Tile IR, and, where
NVIDIA's tileiras is found (--tileiras, or on PATH), how many of those it compiles for sm_80, sm_90 and sm_100. Kernels that do
not leave are listed with the reason. No GPU is needed, so nothing here runs; test/run/triton_kernels runs the kernels that
come back.

Exits 1 where a kernel of our tests does not come in, or where tileiras refuses bytecode of ours for sm_100. sm_80 has no floats of
8 bits.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.."))
TRANSLATE = os.path.join(ROOT, "build", "bin", "tile-translate")
CHIPS = ("sm_80", "sm_90", "sm_100")


def ops():
    with open(f"{ROOT}/dialects/foreign/tt/ops.def", encoding="utf-8") as table:
        return re.findall(r'^TESSERA_OP\(\w+, "([^"]+)"', table.read(), re.M)


def kernels(folder):
    for script in ("kernels", "rare"):
        subprocess.run([sys.executable, f"{ROOT}/test/run/triton_kernels/{script}.py", f"--write={folder}"], check=True,
                       stdout=subprocess.DEVNULL)
    inputs = f"{ROOT}/test/run/triton/Inputs"
    return [f"{where}/{name}" for where in (folder, inputs) for name in sorted(os.listdir(where)) if name.endswith(".ttir")]


def compiles(tileiras, chip, file):
    clean = {name: value for name, value in os.environ.items() if name not in ("CUDA_HOME", "CUDA_PATH")}  # it fails under them
    return subprocess.run([tileiras, "--gpu-name", chip, file, "-o", f"{file}.cubin"], capture_output=True, env=clean,
                          check=False).returncode == 0


def measure(path, tileiras, folder):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    bytecode = f"{folder}/out.tileirbc"
    row = {"kernel": os.path.basename(path).removesuffix(".ttir"), "ops": sorted(set(re.findall(r"\btt\.([a-z_]+(?:\.return)?)", text)))}
    row["in"] = subprocess.run([TRANSLATE, path, "--import-ttir", "-o", os.devnull], capture_output=True, check=False).returncode == 0
    out = subprocess.run([TRANSLATE, path, "--tile-to-cuda-tile=13.5", "-o", bytecode], capture_output=True, text=True, check=False)
    row["out"] = out.returncode == 0
    row["reason"] = "" if row["out"] else re.search(r"error: (.*)", out.stderr)[1]
    for chip in CHIPS if tileiras and row["out"] else ():
        row[chip] = compiles(tileiras, chip, bytecode)
    return row


def show(rows, tileiras):
    names = ["kernels", "in", "out", *(CHIPS if tileiras else ())]
    print(f"{'op of TTIR':<34}" + "".join(f"{name:>9}" for name in names))
    counted = 0
    for op in ops():
        found = [row for row in rows if op in row["ops"]]
        cells = [len(found), *(sum(row.get(name, False) for row in found) for name in names[1:])]
        counted += cells[2] > 0
        print(f"{op:<34}" + "".join(f"{cell or '-':>9}" for cell in cells))
    print(f"\n{counted} of {len(ops())} ops leave in some kernel; {sum(row['out'] for row in rows)} of {len(rows)} kernels leave")
    for row in rows:
        if not row["out"]:
            print(f"  {row['kernel']}: {row['reason']}")
    if not tileiras:
        print("tileiras was not found: give --tileiras=FILE (pip install nvidia-cuda-tileiras)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tileiras", default=shutil.which("tileiras"))
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(path, options.tileiras, folder) for path in kernels(folder)]
    show(rows, options.tileiras)
    if options.json:
        version = subprocess.run([TRANSLATE, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"kernels": rows, "manifest": {"paper": "triton-to-tile-ir", "version": version, "tileiras": options.tileiras}}, file,
                      indent=1)
    wrong = [row["kernel"] for row in rows if not row["in"] or not row.get("sm_100", True)]
    for name in wrong:
        print(f"WRONG: {name}")
    return 1 if wrong else 0


sys.exit(main())
