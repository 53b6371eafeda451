"""Checks names across the tree: prefixes of external functions, types named twice, base names that wander.

Usage: name_laws.py ROOT BUILD     check that tree by the objects of its build; prints one line per breach, exits 1 if any
       name_laws.py --self-test    break each law once and see that just that breach is found

1. An external function begins with its room's prefix (PREFIXES; the longest matching folder decides).
2. A struct, union or enum type has one definition in lib, dialects and tools together: a second one is another name.
3. A file's base name stands in at most two folders: mma.c in four rooms tells a reader nothing. The folders of
   dialects/ count as one, since every dialect has the same files.
"""
import collections
import os
import re
import subprocess
import sys

COMPILER = ["tile", "sparse", "tessera"]
PREFIXES = {
    "lib/capi": ["mlirExt", "mlir"],
    "lib/capi/tool.cpp": ["mlirExt", "mlir", "__wrap_"],  # what the linker calls in the place of malloc
    "lib/ir": ["tile", "upstream"],
    "lib/emulator": ["tessera_"],
    "lib/emulator/compile": ["emulator", "tileEmulator", "tessera_"],
    "lib/emulator/machine": ["emu_", "tessera_"],
    "lib/runtime": ["tessera_", "_mlir_", "_tessera_"],
    "lib/runtime/bf16.c": ["__trunc"],  # LLVM calls these by these names
    "lib/runtime/copy.c": ["tessera_", "memrefCopy"],  # upstream's runner calls these by these names
    "lib/runtime/upstream_print.c": ["tessera_", "print", "_mlir_ciface_", "rtclock", "rtsrand", "rtrand", "rtdrand", "verifyMemRef", "nanoTime"],
    "lib/runtime/upstream_files.c": ["tessera_", "_mlir_ciface_", "getTensorFilename", "getSparseTensorReaderNSE",
                                     "delSparseTensorReader"],
    "lib/pipelines/plugin.c": ["mlirGet"],  # what mlir-opt looks up
    "lib/run": ["tessera_"],
    "lib/support": ["tessera_"],
    "lib/support/error.c": ["tileError"],  # what the compiler's rooms of pure C report
    "lib/execution": ["run", "tessera", "tile"],
    "lib/interpreter": ["interpret", "tile", "sparse"],
    "lib/transforms/layout": ["layout", "tile"],
    "lib/conversion/gpu_launch_to_runtime": ["launch", "tile"],
    "lib/conversion/stablehlo_to_linalg": ["hlo", "tile"],
    "lib/conversion/cuda_tile_to_tt": ["cudaTile", "tile"],
    "lib/conversion/tt_to_tile": ["triton", "tile"],
    "lib/conversion/tile_to_tt": ["ttir", "tile"],
    "lib/conversion/kernel_export": ["export"],
    "lib/conversion/tile_to_cuda_tile": ["cudaTile", "tile"],
    "lib/conversion/tile_to_gpu": ["gpu", "tile"],
    "lib/conversion/tile_to_nvvm": ["nvvm", "gpu", "tile"],
    "lib/conversion/tile_to_rocdl": ["rocdl", "gpu", "tile"],
    "lib/conversion/tile_to_vector": ["vec", "tile"],
    "lib": COMPILER,
    "dialects": COMPILER,
    "dialects/foreign": ["stablehlo", "chlo", "sdy", "tt", "ttg", "cudaTile"],  # foreign dialects keep their names
    "lib/import/cuda": ["cuda"],
    "lib/import/cuda_tile": ["tileIr"],
    "lib/target/cuda_tile": ["tileIr"],
    "lib/import/onnx": ["onnx"],
    "lib/import/torch_export": ["torch"],
}
TYPE = re.compile(r"^typedef (?:struct|union|enum) (\w+) \{|^(?:struct|union|enum) (\w+) \{", re.M)
COMMON_FILES = {"main.c"}


def prefix_of(path):
    folders = [folder for folder in PREFIXES if (path + "/").startswith(folder + "/")]
    return PREFIXES[max(folders, key=len)] if folders else None


def wrong_functions(functions):
    """functions: (source file, name) of external functions."""
    for path, name in functions:
        prefixes = prefix_of(path)
        if prefixes and not name.startswith(tuple(prefixes)):
            yield f"{path}: function {name} has no prefix of its room; accepted: {', '.join(prefixes)}"


def doubled_types(types):
    """types: (source file, name) of type definitions."""
    places = collections.defaultdict(list)
    for path, name in types:
        places[name].append(path)
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            yield f"{paths[0]}: type {name} is defined in {', '.join(paths[1:])} as well"


def wandering_names(paths):
    folders = collections.defaultdict(set)
    for path in paths:
        folder = "dialects" if path.startswith("dialects/") else os.path.dirname(path)
        folders[os.path.splitext(os.path.basename(path))[0] + ".c"].add(folder)
    for name, places in sorted(folders.items()):
        if len(places) > 2 and name not in COMMON_FILES:
            yield f"{name} stands in {len(places)} folders: {', '.join(sorted(places))}"


def sources(root):
    for top in ("lib", "dialects", "tools"):
        for folder, _, files in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def types_of(root):
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for match in TYPE.finditer(file.read()):
                if path.endswith(".h"):  # a type of one .c file is that file's own
                    yield path, match[1] or match[2]


def functions_of(root, build):
    folder = os.path.join(build, "CMakeFiles", "tessera.dir")
    objects = {path: os.path.join(folder, path + ".o") for path in sources(root) if path.endswith(".c")}
    for target in ("tessera-runtime.dir", "execution.dir", "tile-exec.dir"):
        for path in objects:
            if not os.path.exists(objects[path]):
                objects[path] = os.path.join(build, "CMakeFiles", target, path + ".o")
    paths = {file: path for path, file in objects.items() if os.path.exists(file)}
    if paths:  # one nm for all: a thousand processes take a minute on a busy machine
        command = ["nm", "--defined-only", "--extern-only", "--print-file-name", *paths]
        listing = subprocess.run(command, capture_output=True, text=True, check=True)
        for line in listing.stdout.splitlines():
            file, _, symbol = line.rpartition(":")
            _, kind, name = symbol.split()
            if kind == "T":
                yield paths[file], name


def self_test():
    right = [
        len(list(wrong_functions([("lib/support/a.c", "tessera_a"), ("lib/support/a.c", "helper")]))) == 1,
        len(list(doubled_types([("lib/a.h", "A"), ("lib/b.h", "B"), ("lib/c/a.h", "A")]))) == 1,
        len(list(wandering_names(["lib/a/walk.c", "lib/a/walk.h", "lib/b/walk.c", "lib/c/walk.c", "lib/c/x.c"]))) == 1,
        not list(wandering_names(["lib/a/walk.c", "lib/a/walk.h", "lib/b/walk.c"])),
    ]
    print(f"self-test: {sum(right)} of {len(right)} cases judged rightly")
    return not all(right)


def check(root, build):
    paths = list(sources(root))
    breaches = [*wrong_functions(functions_of(root, build)), *doubled_types(types_of(root)), *wandering_names(paths)]
    print("\n".join(breaches))
    return len(breaches)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else 1 if check(*sys.argv[1:3]) else 0)
