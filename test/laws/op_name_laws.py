"""Checks that C code names ops through their tables: a renamed op must not compile, so no op's name is a string.

Usage: op_name_laws.py ROOT      check that tree; prints one line per breach, exits 1 if there is any
       op_name_laws.py --self-test   break each law once and see that just that breach is found

1. own:       no string is the name of an own op (dialects/*/ops.def) outside dialects/: use tileMmaOpIsA, tileMmaOpBuild.
2. upstream:  no string is the name of an upstream op outside lib/ir/upstream/: use "upstream/arith.h". Names that look
              alike but are attributes, intrinsics or libraries' words are in NOT_OPS.
3. segments:  operandSegmentSizes and resultSegmentSizes stand in lib/ir and lib/capi only: Create fills them.
4. text:      no C code but lib/ir/template.c parses operations from a string: IR as text is a template file beside its
              user (lib/ir/template.h). Tools and tests read files.
IR that is written as text (.mlir templates) is not C code and not looked at.
"""
import os
import re
import sys

UPSTREAM = r"(?:arith|math|scf|memref|linalg|tensor|func|vector|gpu|nvvm|llvm|cf|rocdl|ub|affine|bufferization|builtin)"
ROW = re.compile(r'TESSERA_OP\(\w+, "([^"]+)"')
OWN_NAME = re.compile(r'"((?:tile|sparse)\.[a-z_0-9.]+)"')
UPSTREAM_NAME = re.compile(r'"(' + UPSTREAM + r'\.[a-z_0-9.]+)"')
PARSE = re.compile(r"\bmlir(?:Module|Operation)CreateParse\(")
SEGMENTS = re.compile(r"\b(?:operand|result)SegmentSizes\b|\boperand_segment_sizes\b")
# What is no op: attributes of upstream's dialects, LLVM's intrinsics, keys of statistics and of machine files.
NOT_OPS = re.compile(
    r"bufferization\.(manual_deallocation|writable)|gpu\.(container_module|kernel|known_block_size|address_space)"
    r"|llvm\.(amdgcn|nvvm|x86|aarch64)\..*|llvm\.(emit_c_interface|noalias|readonly|writeonly|nocapture|align|byval)"
    r"|nvvm\.(kernel|maxnreg|reqntid|maxntid|minctasm|cluster_dim)"
    r"|rocdl\.(kernel|flat_work_group_size|reqd_work_group_size|max_flat_work_group_size|waves_per_eu)"
    r"|vector\.(bytes|registers)")
# Rooms that still break a law. Whoever has migrated a room deletes its line; the list only shrinks.
NOT_YET = {
    "own": [
    ],
    "upstream": [
        "lib/analysis/",
    ],
    "text": [],
    "segments": [
    ],
}


def own_ops(root):
    names = set()
    folder = os.path.join(root, "dialects")
    for dialect in sorted(os.listdir(folder)):
        table = os.path.join(folder, dialect, "ops.def")
        if os.path.exists(table):
            with open(table, encoding="utf-8") as file:
                names.update(f"{dialect}.{name}" for name in ROW.findall(file.read()))
    return names


def inside(path, rooms):
    return any(path.startswith(room) for room in rooms)


def breaches_in(path, text, own):
    """Yields (law, line number, what)."""
    for number, line in enumerate(text.split("\n"), 1):
        code = re.sub(r"(^|\s)//.*|\.anchor = .*", "", line)  # a pass's definition says its anchor as text
        for name in OWN_NAME.findall(code):
            if name in own and not path.startswith("dialects/"):
                yield "own", number, f'"{name}"'
        for name in UPSTREAM_NAME.findall(code):
            if not NOT_OPS.fullmatch(name) and not path.startswith("lib/ir/upstream"):
                yield "upstream", number, f'"{name}"'
        for name in PARSE.findall(code):
            if path != "lib/ir/template.c":
                yield "text", number, name
        for name in SEGMENTS.findall(code):
            if not path.startswith(("lib/ir/", "lib/capi/")):
                yield "segments", number, name


def sources(root):
    for top in ("lib", "dialects", "tools"):
        for folder, _, files in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(files):
                if name.endswith((".c", ".h", ".def", ".cpp")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def all_breaches(root):
    own = own_ops(root)
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for law, number, what in breaches_in(path, file.read(), own):
                yield law, path, number, what


def check(root):
    status = 0
    dirty = {law: set() for law in NOT_YET}
    for law, path, number, what in all_breaches(root):
        waiting = [room for room in NOT_YET[law] if path.startswith(room)]
        dirty[law].update(waiting)
        if not waiting:
            print(f"{path}:{number}: {what} is a string ({law}); name the op through its table")
            status = 1
    for law, rooms in NOT_YET.items():
        for room in rooms:
            if room not in dirty[law]:
                print(f"{room}: keeps the law '{law}'; delete it from NOT_YET")
                status = 1
    return status


def self_test():
    own = {"tile.mma"}
    cases = [
        ("lib/a.c", 'tileOpIs(op, "tile.mma")', ["own"]),
        ("lib/a.c", 'find("tile.schedule"); // "tile.mma"', []),
        ("dialects/tile/a.c", 'tileOpIs(op, "tile.mma")', []),
        ("dialects/tile/a.c", 'tileOpIs(op, "arith.addf")', ["upstream"]),
        ("lib/a.c", 'tileOpNameStartsWith(op, "arith.")', []),
        ("lib/ir/upstream/arith.def", '"arith.addf"', []),
        ("lib/a.c", 'f("llvm.noalias", "llvm.nvvm.mma.m16", "nvvm.kernel")', []),
        ("lib/a.c", 'f("nvvm.read.ptx.sreg.")', ["upstream"]),
        ("lib/a.c", '{"operandSegmentSizes", sizes}', ["segments"]),
        ("lib/ir/a.c", '{"operandSegmentSizes", sizes}', []),
        ("lib/a.c", 'mlirModuleCreateParse(context, tileString(text))', ["text"]),
        ("lib/ir/template.c", 'mlirModuleCreateParse(context, tileString(text))', []),
    ]
    right = sum([law for law, _, _ in breaches_in(path, text, own)] == laws for path, text, laws in cases)
    print(f"self-test: {right} of {len(cases)} cases judged rightly")
    return right != len(cases)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else check(sys.argv[1]))
