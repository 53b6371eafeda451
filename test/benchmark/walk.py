"""How many of our source files a compilation executes beyond those of an empty function.

walk.py [--build BUILD] [--list] [CASE...]      cases: matmul-nvvm spmm-cpu (default: both)

Prints a line for each case: `matmul-nvvm: 75 files beyond an empty function (222 in all)`; with --list the files by room.
Why: what a reader follows from a program to its code should be short. Valgrind's callgrind says which instructions of
libtessera.so ran, and a map of the linker says which object each address belongs to. Functions of LLVM's headers,
which the linker keeps in the object that it meets first, do not count. Expects a release build and valgrind. Costs
some 30 seconds a case on an idle machine.
"""
import argparse
import bisect
import collections
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMPTY = "func.func @f() {\n  return\n}\n"
CASES = {
    "matmul-nvvm": ("--tile-to-nvvm-pipeline=chip=sm_90a", """
func.func @f(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>)
                     outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
"""),
    "spmm-cpu": ("--tile-to-cpu-pipeline=chip=x86-64-v3", """
func.func @f(%a: tensor<256x256xf32, #sparse.csr>, %b: tensor<256x64xf32>, %c: tensor<256x64xf32>) -> tensor<256x64xf32> {
  %0 = sparse.spmm %a, %b, %c : tensor<256x256xf32, #sparse.csr>, tensor<256x64xf32>, tensor<256x64xf32>
  return %0 : tensor<256x64xf32>
}
"""),
}


def objects(build, folder):
    """The begin of each object's code in libtessera.so, ascending, and the objects: by linking it again with a map."""
    commands = subprocess.run(["ninja", "-t", "commands", "libtessera.so"], cwd=build, capture_output=True, text=True, check=True)
    link = next(line for line in reversed(commands.stdout.splitlines()) if "-o libtessera.so" in line)
    link = re.search(r"\S*clang\S* .*?-o (libtessera\.so\S*) .*?(?= && |$)", link)
    command = link[0].replace(f"-o {link[1]}", f"-o {folder}/relinked.so -Wl,-Map={folder}/map")
    subprocess.run(command, shell=True, cwd=build, check=True)
    if (folder / "relinked.so").stat().st_size != (Path(build) / link[1]).stat().st_size:
        sys.exit("walk: the library that was linked again differs; build first")
    found = []
    for line in open(folder / "map"):
        row = re.match(r"\s*([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+\s+(\S+):\(\.text\S*\)", line)
        if row and int(row[2], 16):
            found.append((int(row[1], 16), row[3].rpartition("tessera.dir/")[2].removesuffix(".o")))
    found.sort()
    return [at for at, _ in found], [name for _, name in found]


def executed(build, folder, text, pipeline, places):
    program, out = folder / "program.mlir", folder / "callgrind.out"
    program.write_text(text)
    subprocess.run(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
                    f"--callgrind-out-file={out}", f"{build}/bin/tile-opt", program, pipeline, "-o", "/dev/null"],
                   check=True, capture_output=True)
    begins, names = places
    files, ours, foreign = set(), False, False
    for line in open(out):
        if line.startswith("ob="):
            ours = "libtessera.so" in line
        elif line.startswith("fn="):
            foreign = line.startswith(("fn=llvm::", "fn=mlir::", "fn=std::", "fn=void llvm::"))
        elif ours and not foreign and line.startswith("0x"):
            files.add(names[bisect.bisect(begins, int(line.split()[0], 16)) - 1])
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("cases", nargs="*", default=list(CASES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = objects(options.build, folder)
        for case in options.cases:
            pipeline, text = CASES[case]
            empty = executed(options.build, folder, EMPTY, pipeline, places)
            files = executed(options.build, folder, text, pipeline, places)
            beyond = sorted(file for file in files - empty if file.startswith(("lib/", "dialects/")))
            print(f"{case}: {len(beyond)} files beyond an empty function ({len(files)} in all)", flush=True)
            rooms = collections.Counter(str(Path(file).parent) for file in beyond)
            for room, count in sorted(rooms.items()) if options.list else []:
                print(f"  {count:3} {room}: {' '.join(Path(file).name for file in beyond if str(Path(file).parent) == room)}")


if __name__ == "__main__":
    main()
