"""Are the names by which vendor.h looks for CUDA's functions those of its header, and of its stub of the driver library?

Use: cuda_header.py VENDOR.H OBJECT STUB; the object is Inputs/cuda_header.c compiled, which calls each function.
"""
import re
import subprocess
import sys
from pathlib import Path

ONE_FOR_ALL = {"cuEventElapsedTime": "cuEventElapsedTime_v2"}  # ours: the header's since CUDA 13


def symbols(*command):
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in output.splitlines() if line.strip()}


def main():
    header, compiled, stub = sys.argv[1:4]
    ours = set(re.findall(r'"(cu[A-Z]\w+)"', Path(header).read_text()))
    called = symbols("llvm-nm", "-u", compiled)
    exported = symbols("llvm-nm", "-D", "--defined-only", stub) if Path(stub).exists() else ours
    unknown = 0
    for name in sorted(ours):
        known = name in exported and (name in called or ONE_FOR_ALL.get(name) in called)
        unknown += not known
        if not known:
            print(f"{name}: not as the header and the library have it")
    print(f"{len(ours)} functions, {unknown} unknown")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
