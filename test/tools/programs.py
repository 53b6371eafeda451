"""Compares a program run by tile-exec, in both forms, with the same module run by tile-run, bit for bit.

Usage: programs.py TILE_RUN TILE_TRANSLATE TILE_EXEC FILE…      the files of test/run, with their `// in:` lines
       programs.py --leak TILE_TRANSLATE TILE_EXEC FILE         10,000 calls: memory must not grow with their number
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "run"))
from check import names, said  # noqa: E402


def translate(tool, file, folder):
    program = folder / "program.so"
    subprocess.run([tool, file, "--tile-to-program", "-o", program], check=True)
    return program


def save(case, folder):
    flags = []
    for i, array in enumerate(eval(f"[{case}]", dict(names))):
        np.save(folder / f"in{i}.npy", np.asarray(array))
        flags.append(f"--in={folder}/in{i}.npy")
    return flags


def run(tool, program, flags, outputs, folder, prefix):
    files = [folder / f"{prefix}{i}.npy" for i in range(outputs)]
    subprocess.run([tool, program, *flags, *(f"--out={file}" for file in files)], check=True)
    return [file.read_bytes() for file in files]


def compare(tile_run, tile_translate, tile_exec, file, folder):
    """Number of cases of one file that differ, and of cases."""
    text = Path(file).read_text()
    outputs, differing, cases = len(said(text, "expect")), 0, said(text, "in")
    program = translate(tile_translate, file, folder)
    for case in cases:
        flags = save(case, folder)
        wanted = run(tile_run, file, flags, outputs, folder, "a")
        for form in ([], ["--into"]):
            if run(tile_exec, program, flags + form, outputs, folder, "b") != wanted:
                print(f"{file}: in: {case}: tile-exec's bits {form} are not tile-run's")
                differing += 1
    return differing, len(cases)


def peak_kilobytes(command):
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command}: failed")
    return usage.ru_maxrss


def leak(tile_translate, tile_exec, file):
    with tempfile.TemporaryDirectory() as name:
        program = translate(tile_translate, file, Path(name))
        few, many = (peak_kilobytes([tile_exec, program, f"--repeat={n}"]) for n in (100, 10_000))
        few_into, many_into = (peak_kilobytes([tile_exec, program, "--into", f"--repeat={n}"]) for n in (100, 10_000))
    # The times of the calls themselves are 80 kB; one leaked buffer of the program a call would be 160 MB.
    print(f"peak after 100 calls {few} kB, after 10,000 {many} kB; into buffers {few_into} kB, {many_into} kB")
    return many - few > 4096 or many_into - few_into > 4096


def main():
    if sys.argv[1] == "--leak":
        return leak(*sys.argv[2:])
    tile_run, tile_translate, tile_exec, *files = sys.argv[1:]
    differing = total = 0
    for file in files:
        with tempfile.TemporaryDirectory() as name:
            more, cases = compare(tile_run, tile_translate, tile_exec, file, Path(name))
        differing, total = differing + more, total + cases
    print(f"{total} cases, {differing} differ")
    return differing or not total


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
