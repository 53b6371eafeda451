"""Checks the laws of the house: what each room may include, where C++ may stand, how long a file may be.

Usage: include_laws.py ROOT      check that tree; prints one line per breach, exits 1 if there is any
       include_laws.py --self-test   break each law once in a made-up tree and see that just that breach is found

ROOMS below is the only place where the include laws are written down as data; docs/architecture.md explains them.
The laws are about direct includes. A room may always include itself, except that passes stay apart (APART).
"""
import os
import re
import sys
import tempfile

# Room -> the rooms it may include. The longest matching folder decides. BASE is pure C and may be used by all of
# the compiler; an entry ending in .h is one header, not a room.
BASE = ["lib/support", "lib/layout", "lib/machine", "lib/search"]
DIALECTS = ["dialects", "lib/ir", "lib/capi"]
PASSES = ["lib/analysis"] + DIALECTS + BASE
# A conversion obeys the schedule that a pass wrote; it decides nothing.
CONVERSIONS = [room for room in PASSES if room != "lib/search"]
ROOMS = {
    "lib/support": [],
    "lib/layout": ["lib/support"],
    "lib/machine": ["lib/support"],
    "lib/capi": BASE,
    "lib/ir": ["lib/capi"] + BASE,
    "dialects": ["lib/ir", "lib/capi"] + BASE,
    "lib/analysis": DIALECTS + BASE,
    "lib/transforms": PASSES,
    "lib/conversion": CONVERSIONS,
    "lib/search": ["lib/machine", "lib/support"],
    "lib/target": PASSES + ["lib/jit", "lib/runtime/tessera.h"],
    "lib/import": DIALECTS + ["lib/support", "lib/machine/embedded_text.h"],
    "lib/pipelines": ["lib/transforms", "lib/conversion", "lib/target", "lib/import"] + PASSES,
    "lib/jit": ["lib/capi", "lib/support"],
    "lib/interpreter": ["dialects", "lib/ir", "lib/support"],
    "lib/emulator": ["lib/support"],
    "lib/emulator/compile": ["lib/emulator", "lib/ir", "lib/jit", "lib/machine", "lib/support"],
    "lib/emulator/machine": ["lib/support"],
    "lib/emulator/lanes": ["lib/support"],
    "lib/emulator/instructions": ["lib/emulator/machine", "lib/emulator/lanes", "lib/support"],
    "lib/runtime": ["lib/support", "lib/machine/cpu_feature.h"],
    "lib/run": ["lib/runtime", "lib/support", "lib/machine/cpu_feature.h"],
    "lib/execution": ["lib/run", "lib/runtime", "lib/pipelines", "lib/interpreter", "lib/emulator", "lib/jit", "lib/target"]
    + PASSES,
    "tools": ["lib", "dialects"],
    "tools/tile-exec": ["lib/run", "lib/runtime", "lib/support"],
}
# Within these rooms each folder stands alone: a pass never includes another folder's pass.
APART = ["lib/transforms", "lib/conversion", "lib/target"]
# The exceptions: engines that two conversions share and each fills with its own vocabulary.
SHARED_FOLDERS = {"lib/conversion/tile_to_gpu": ["lib/conversion/tile_to_nvvm", "lib/conversion/tile_to_rocdl"],
                  "lib/conversion/kernel_export": ["lib/conversion/tile_to_tt", "lib/conversion/tile_to_cuda_tile"]}
# Rooms that know no MLIR at all, not even its C API.
NO_MLIR = ["lib/support", "lib/layout", "lib/machine", "lib/search", "lib/runtime", "lib/run", "lib/emulator/machine",
           "lib/emulator/lanes", "lib/emulator/instructions", "tools/tile-exec"]
CPLUSPLUS_ROOM = "lib/capi"
# These translate what passes have decided: they build no op of the Tile dialect, and never ask what would be best.
TRANSLATING = ["lib/conversion/tile_to_gpu", "lib/conversion/tile_to_nvvm", "lib/conversion/tile_to_rocdl"]
DECIDES = re.compile(r"\btile[A-Z]\w*Op(?:Create|Build)\(|\btileThirdBitOf\(")
USERS_KERNELS = "test/run/cuda/Inputs"  # what a user gives to our tools: data, and no source of ours

CPLUSPLUS_FILE = (".cpp", ".cc", ".cxx", ".hpp", ".cu")
INCLUDING_FILE = (".c", ".h", ".def", ".inc") + CPLUSPLUS_FILE
LINES_AT_MOST = 1200
SKIPPED_FOLDER = re.compile(r"^(\.git|\.venv|build.*|Output|__pycache__|generated|shared)$")

QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
CPLUSPLUS_HEADER = re.compile(r"^(mlir|llvm|clang|lld)/|^[a-z_]+$")  # <vector> and the like have no .h
MLIR_HEADER = re.compile(r"^(mlir|llvm|mlir-c|llvm-c)/")
# A path that exists on one machine only. (Written so that this line does not find itself.)
MACHINE_PATH = re.compile(r"(?<![\w.$}~*-])/(?:work|home|root|farm)/\w")
# glibc's stream loses a piece without a word where it finds no memory: lib/support/text.h.
LOSES = re.compile(r"\bopen_mem" r"stream\(")


def inside(path, room):
    return path == room or path.startswith(room + "/")


def room_of(path):
    """The room a file belongs to, or None: the longest row of ROOMS that its path begins with."""
    rooms = [room for room in ROOMS if inside(path, room)]
    return max(rooms, key=len) if rooms else None


def pass_folder(path, apart):
    """The folder of `apart` that holds the file, at any depth; `apart` itself for a file that stands right in it."""
    below = path[len(apart) + 1:].split("/")
    return apart if len(below) == 1 else f"{apart}/{below[0]}"


def may_include(path, header):
    room = room_of(path)
    if not room:
        return True
    for apart in APART:
        if inside(path, apart) and inside(header, apart):
            folder, mine = pass_folder(header, apart), pass_folder(path, apart)
            if any(inside(path, user) for user in SHARED_FOLDERS.get(folder, [])):
                return True
            return apart in (folder, mine) or folder == mine
    return any(inside(header, allowed) for allowed in [room] + ROOMS[room])


def breaches_in_includes(path, text):
    for header in INCLUDE.findall(text):
        if not inside(path, CPLUSPLUS_ROOM) and CPLUSPLUS_HEADER.match(header):
            yield f"includes the C++ header {header}; only {CPLUSPLUS_ROOM} may"
        if MLIR_HEADER.match(header) and any(inside(path, room) for room in NO_MLIR):
            yield f"includes {header}; {room_of(path)} knows no MLIR"
    for header in QUOTED.findall(text):
        if MLIR_HEADER.match(header) or not room_of(path):
            continue
        if header.startswith("upstream/"):  # generated from lib/ir/upstream.def
            header = "lib/ir/" + header
        if not header.startswith(("lib/", "dialects/", "tools/", "generated/")):
            yield f'includes "{header}"; write the path from the root of the tree'
        elif header.startswith(("lib/", "dialects/", "tools/")) and not may_include(path, header):
            allowed = ", ".join(ROOMS[room_of(path)]) or "nothing else"
            yield f'includes "{header}"; {room_of(path)} may include {allowed}'


def breaches_in(path, text):
    if path.endswith(INCLUDING_FILE):
        yield from breaches_in_includes(path, text)
    if path.endswith(CPLUSPLUS_FILE) and not inside(path, CPLUSPLUS_ROOM) and not inside(path, USERS_KERNELS):
        yield f"is C++; only {CPLUSPLUS_ROOM} may hold any"
    decides = DECIDES.search(text) if any(inside(path, room) for room in TRANSLATING) else None
    if decides:
        yield f"decides by {decides[0][:-1]}; a pass writes decisions into the kernel, and this conversion obeys them"
    if path.endswith(INCLUDING_FILE) and LOSES.search(re.sub(r"//[^\n]*", "", text)):
        yield "writes to glibc's stream into memory; use lib/support/text.h"
    lines = text.count("\n")
    if path.endswith(INCLUDING_FILE) and lines > LINES_AT_MOST:
        yield f"has {lines} lines; split it ({LINES_AT_MOST} at most)"
    machine = MACHINE_PATH.search(text)
    if machine:
        yield f"names a path of one machine: {text[machine.start():].split()[0]}"


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not SKIPPED_FOLDER.match(name))
        for name in sorted(set(names) - {".git"}):
            yield os.path.relpath(os.path.join(folder, name), root)


def check(root):
    """All breaches of the tree, as 'path: what is wrong'; binary files have no laws."""
    found = []
    for path in files(root):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        found += [f"{path}: {breach}" for breach in breaches_in(path, text)]
    return found


# --- Self-test: a lawful tree, and one breach of each law -----------------------------------------------------------

LAWFUL = {
    "lib/support/arena.h": "#include <stddef.h>\n",
    "lib/support/arena.c": '#include "lib/support/arena.h"\n',
    "lib/capi/op.cpp": '#include "lib/capi/op.h"\n#include "mlir/IR/Operation.h"\n#include <vector>\n',
    "lib/ir/walk.c": '#include "lib/capi/op.h"\n#include "mlir-c/IR.h"\n',
    "lib/transforms/fuse/fuse.c": '#include "lib/analysis/reuse.h"\n#include "lib/transforms/fuse/cost.h"\n'
    '#include "lib/transforms/passes.h"\n#include "dialects/tile/tile.h"\n#include "lib/layout/layout.h"\n',
    "lib/target/cpu/cpu.c": '#include "lib/jit/jit.h"\n#include "lib/runtime/tessera.h"\n',
    "lib/conversion/tile_to_vector/flow/a.c": '#include "lib/conversion/tile_to_vector/memory/b.h"\n',
    "lib/conversion/tile_to_gpu/c.c": "  tileBuildAdd(b, x, tileLoadOpGetSource(op));\n",
    "tools/tile-opt/main.c": '#include "lib/pipelines/register.h"\n#include "lib/runtime/pool.h"\n',
    "README.md": "See ./work/here and https://example.org/home/page.\n",
}
UNLAWFUL = [  # one file each, and a word of the one breach it must cause
    ("lib/support/a.c", '#include "lib/ir/walk.h"\n', "may include nothing else"),
    ("lib/layout/a.c", '#include "lib/machine/machine.h"\n', "may include lib/support"),
    ("lib/layout/b.c", "#include <mlir-c/IR.h>\n", "knows no MLIR"),
    ("lib/runtime/a.c", '#include "mlir-c/IR.h"\n', "knows no MLIR"),
    ("lib/capi/a.cpp", '#include "lib/ir/walk.h"\n', "lib/capi may include"),
    ("lib/ir/a.c", '#include "dialects/tile/tile.h"\n', "lib/ir may include"),
    ("lib/ir/a.h", '  #  include "mlir/IR/Value.h"\n', "C++ header mlir/IR/Value.h"),
    ("lib/ir/b.c", "#include <vector>\n", "C++ header vector"),
    ("lib/ir/c.c", '#include "walk.h"\n', "from the root"),
    ("dialects/tile/a.c", '#include "lib/analysis/reuse.h"\n', "dialects may include"),
    ("lib/analysis/a.c", '#include "lib/transforms/passes.h"\n', "lib/analysis may include"),
    ("lib/transforms/fuse/a.c", '#include "lib/transforms/schedule/grid.h"\n', "lib/transforms may include"),
    ("lib/conversion/x_to_y/search.c", '#include "lib/search/construct.h"\n', "lib/conversion may include"),
    ("lib/search/a.c", '#include "lib/ir/walk.h"\n', "lib/search may include"),
    ("lib/search/b.c", "#include <mlir-c/IR.h>\n", "knows no MLIR"),
    ("lib/conversion/tile_to_nvvm/a.c", '#include "lib/conversion/tile_to_vector/b.h"\n', "lib/conversion may"),
    ("lib/target/cpu/a.c", '#include "lib/runtime/pool.h"\n', "lib/target may include"),
    ("lib/interpreter/a.c", '#include "lib/layout/layout.h"\n', "lib/interpreter may include"),
    ("lib/emulator/machine/a.c", '#include "lib/ir/walk.h"\n', "lib/emulator/machine may include"),
    ("lib/emulator/compile/a.c", '#include "lib/target/target.h"\n', "lib/emulator/compile may include"),
    ("tools/tile-exec/main.c", '#include "lib/ir/walk.h"\n', "tools/tile-exec may include"),
    ("dialects/tile/a.cpp", "int x;\n", "is C++"),
    ("test/a_test.cc", "int x;\n", "is C++"),
    ("lib/conversion/tile_to_gpu/a.c", "  tileSyncOpCreate(&builder);\n", "decides by tileSyncOpCreate"),
    ("lib/conversion/tile_to_nvvm/b.c", "  x = tileThirdBitOf(machine, load);\n", "decides by tileThirdBitOf"),
    ("tools/tile-opt/a.c", "  FILE *out = open_mem" "stream(&text, &size);\n", "use lib/support/text.h"),
    ("lib/ir/long.c", "\n" * (LINES_AT_MOST + 1), "split it"),
    ("docs/a.md", "see /" + "work/tree/file\n", "a path of one machine"),
]


def write(root, path, text):
    os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
    with open(os.path.join(root, path), "w") as file:
        file.write(text)


def self_test():
    wrong = 0
    with tempfile.TemporaryDirectory() as root:
        for path, text in LAWFUL.items():
            write(root, path, text)
        found = check(root)
        if found:
            wrong += 1
            print("a lawful tree is refused:", *found, sep="\n  ")
        for path, text, word in UNLAWFUL:
            write(root, path, text)
            found = check(root)
            os.remove(os.path.join(root, path))
            if len(found) != 1 or not found[0].startswith(path) or word not in found[0]:
                wrong += 1
                print(f"{path}: wanted one breach with '{word}', found {found}")
    print(f"self-test: {len(UNLAWFUL) + 1 - wrong} of {len(UNLAWFUL) + 1} trees judged rightly")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1 or not os.path.isdir(arguments[0]):
        print(__doc__, file=sys.stderr)
        return 1
    found = check(arguments[0])
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(found)} breaches of the laws in {sum(1 for _ in files(arguments[0]))} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
