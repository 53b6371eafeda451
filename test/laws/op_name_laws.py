"""Checks that C code names ops through their tables: a renamed op must not compile, so no op's name is a string.

Usage: op_name_laws.py ROOT      check that tree; prints one line per breach, exits 1 if there is any
       op_name_laws.py --self-test   break each law once and see that just that breach is found

1. own:       no string is the name of an own op (dialects/*/ops.def) outside dialects/: use tileMmaOpIsA, tileMmaOpBuild.
2. upstream:  no string is the name of an upstream op outside lib/ir/upstream/: use "upstream/arith.h". Names that look
              alike but are attributes, intrinsics or libraries' words are in NOT_OPS.
3. segments:  operandSegmentSizes and resultSegmentSizes stand in lib/ir and lib/capi only: Create fills them.
4. text:      no C code but lib/ir/template.c parses operations from a string: IR as text is a template file beside its
              user (lib/ir/template.h). Tools and tests read files.
5. positions: nobody counts operands or results: no literal number in mlirOperationGetOperand, SetOperand, GetResult,
              tileOperandType, tileResultType outside lib/ir and lib/capi. Use tileLoadOpGetSource; for an op of any
              kind tileOnlyOperand, tileOnlyResult, tileBinaryLhs, tileBinaryRhs (lib/ir/support.h).
6. builds:    no op is built by its name (tileBuild, tileBuildValue) outside lib/ir: generated builders check operands.
              Free is tile_to_rocdl/matrix_core.c: the names of its instructions come from machine files.
7. kinds:     no op is tested by a name (tileOpIs) outside lib/ir: IsA, tileOpKind, tileUpstreamIsOneOf.
8. marks:     no string is the name of a discardable attribute of ours (dialects/tile/discardable.def) outside
              dialects/: use tileOpGetSchedule, tileOpSetSchedule (dialects/tile/discardable.h).
9. fusion:    tile.group is the one mechanism. Groups are written by lib/transforms/fuse (tileGroupWrap), the bodies of
              elementwise ops composed by dialects/tile/group_compose.c (mlirExtPopulateElementwiseFusion). What one
              kernel computes is asked (tileEpilogueFind, tileGroupLaunchRead, tileAttentionFind) by lib/analysis, by
              lib/transforms/fuse, and by files of lib/conversion that name a group, which they take apart. What
              surrounds a launch is read once, as nodes: tileOutputUses is asked by that reader and launch_kernel.c. That
              a softmax meets a product is read by tileGroupGraphRead alone (tileSoftmaxMatch).
10. attributes: no C code but lib/ir parses attributes or types from a string: lib/ir/upstream/*.def has rows for
              attributes (TESSERA_WORDS, TESSERA_ATTRIBUTE), dialects/ builders for its own. lib/pipelines/read_text.c
              may: it reads what a user wrote.
11. prefixes: nobody asks what an op does by the beginning of its name (arith, math, linalg): that is a property of its
              row or an interface (tileOpIsElementwise, tileOpIsFunction, tileOpIsStructured). tileOpIsOfDialect is for
              dialects that a pass takes whole. Two questions are about the dialect math itself (OF_MATH).
12. owners:   an attribute that one of our ops alone has is asked by the op's accessor (tileLoadOpHasLate), not by its
              name in a string. Kernels carry registers and cluster without a row (KERNELS).
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
ATTRIBUTES = re.compile(r"\b(mlir(?:Attribute|Type)ParseGet|tileBuildAttribute(?:With)?)\(")
SEGMENTS = re.compile(r"\b(?:operand|result)SegmentSizes\b|\boperand_segment_sizes\b")
POSITIONS = re.compile(r"\b(mlirOperation(?:Get|Set)(?:Operand|Result)|tile(?:Operand|Result)Type)\(")
BUILDS = re.compile(r"\b(tileBuild(?:Value)?)\(")
KINDS = re.compile(r"\b(tileOpIs)\(")
PREFIXES = re.compile(r'tileOpIsOfDialect\(.*?, "(arith|math|linalg)"\)|(?:StartsWith|n?cmp)\((tileOpName)\(')
# Which functions are weighed as such on a CPU, and which C has a word for.
OF_MATH = ("lib/conversion/tile_to_vector/uses.c", "lib/transforms/source/outline_functions.c")
FREE = ("lib/ir/", "lib/capi/", "tools/tessera-opgen/")  # the table's engine and its generator
FUSION = {
    re.compile(r"\b(tileGroupWrap)\("): ("dialects/tile/group", "lib/transforms/fuse/"),
    re.compile(r"\b(mlirExtPopulate\w*Fusion)\("): ("dialects/tile/group_compose.c", "lib/capi/"),
    re.compile(r"\b(tileEpilogueFind|tileGroupLaunchRead|tileAttentionFind)\("): ("lib/analysis/", "lib/transforms/fuse/"),
    re.compile(r"\b(tileSoftmaxMatch|tileStructuredFindWeights|tileGroupGraphFormOnline)\("): ("lib/analysis/",),
    re.compile(r"\b(tileOutputUses)\("): ("lib/analysis/group/", "lib/conversion/linalg_to_tile/launch_kernel.c"),
}
ASKS = re.compile(r"\b(tileOpAttribute|tileIntegerOf|tileHas|tileKeyword(?:Of|Is)|tileArray(?:Count|At)"
                  r'|mlirOperation(?:Set|Get|Remove)\w*AttributeByName)\([^;{}"]*"(\w+)"')
ROW_WITH = re.compile(r'TESSERA_OP\((\w+), "[^"]+"(.*?)(?=\nTESSERA_OP|\Z)', re.S)
NAMES = re.compile(r'\.attributes\s*=\s*((?:"[^"]*"\s*)+)')
KERNELS = {"registers", "cluster"}
MARK = re.compile(r'TILE_DISCARDABLE\(\w+, "([^"]+)"')
NAMED_BY_MACHINES = "lib/conversion/tile_to_rocdl/matrix_core.c"
# What is no op: attributes of upstream's dialects, LLVM's intrinsics, keys of statistics and of machine files.
NOT_OPS = re.compile(
    r"bufferization\.(manual_deallocation|writable)|gpu\.(container_module|kernel|known_block_size|address_space)"
    r"|llvm\.(amdgcn|nvvm|x86|aarch64)\..*|llvm\.(emit_c_interface|noalias|readonly|writeonly|nocapture|align|byval)"
    r"|nvvm\.(kernel|grid_constant|maxnreg|reqntid|maxntid|minctasm|cluster_dim)"
    r"|rocdl\.(kernel|flat_work_group_size|reqd_work_group_size|max_flat_work_group_size|waves_per_eu)"
    r"|vector\.(bytes|registers)")
# Rooms that still break a law. Whoever has migrated a room deletes its line; the list only shrinks.
NOT_YET = {
    "own": [],
    "upstream": [],
    "text": [],
    "segments": [],
    "positions": [],
    "builds": [],
    "marks": [],
    "kinds": [],
    "fusion": [],
    "attributes": [],
    "prefixes": [],
    "owners": [],
}


def owned_attributes(root):
    """The names of attributes that one row alone has, of our dialects and no other."""
    owners = {}
    tables = [os.path.join("dialects", name, "ops.def") for name in ("tile", "sparse")]
    upstream = os.path.join("lib", "ir", "upstream")
    tables += [upstream + ".def"] + [os.path.join(upstream, name) for name in os.listdir(os.path.join(root, upstream))]
    for table in tables:
        with open(os.path.join(root, table), encoding="utf-8") as file:
            for op, row in ROW_WITH.findall(file.read()):
                named = NAMES.search(row)
                for part in "".join(re.findall(r'"([^"]*)"', named[1])).split(",") if named else []:
                    owners.setdefault(part.split(":")[0].strip(), []).append(table.startswith("dialects"))
    return {name for name, ours in owners.items() if ours == [True]} - KERNELS


def own_ops(root):
    """The names of own ops and of own discardable attributes, which ("!" in front) are no ops."""
    with open(os.path.join(root, "dialects/tile/discardable.def"), encoding="utf-8") as file:
        names = {"!" + name for name in MARK.findall(file.read())}
    folder = os.path.join(root, "dialects")
    for dialect in sorted(os.listdir(folder)):
        table = os.path.join(folder, dialect, "ops.def")
        if os.path.exists(table):
            with open(table, encoding="utf-8") as file:
                names.update(f"{dialect}.{name}" for name in ROW.findall(file.read()))
    return names


def inside(path, rooms):
    return any(path.startswith(room) for room in rooms)


def second_argument(text, start):
    """Of the call whose arguments begin at `start`."""
    depth, arguments = 0, [""]
    for letter in text[start:]:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += letter
    return (arguments + [""])[1].strip()


def calls_in(path, text):
    """Breaches by calls, which may be longer than a line."""
    text = re.sub(r"//[^\n]*", "", text)
    for law, pattern in (("positions", POSITIONS), ("builds", BUILDS), ("kinds", KINDS)):
        for call in pattern.finditer(text):
            is_free = path.startswith(FREE) or (law == "builds" and path == NAMED_BY_MACHINES)
            if not is_free and (law != "positions" or second_argument(text, call.end()).isdigit()):
                yield law, text.count("\n", 0, call.start()) + 1, call.group(1)


def fusions_in(path, text):
    takes_groups = path.startswith("lib/conversion/linalg_to_tile/") and re.search(r"\btileGroup(OpIsA|Body|Evaluate)\(", text)
    for pattern, rooms in FUSION.items():
        for call in pattern.finditer(re.sub(r"//[^\n]*", "", text)):
            if not path.startswith(rooms) and not (takes_groups and "lib/analysis/" in rooms):
                yield "fusion", text.count("\n", 0, call.start()) + 1, call.group(1)


def breaches_in(path, text, own):
    """Yields (law, line number, what)."""
    yield from calls_in(path, text)
    yield from fusions_in(path, text)
    for number, line in enumerate(text.split("\n"), 1):
        code = re.sub(r"(^|\s)//.*", "", line)
        for name in OWN_NAME.findall(code):
            if not path.startswith("dialects/") and (name in own or "!" + name in own):
                yield "own" if name in own else "marks", number, f'"{name}"'
        for name in UPSTREAM_NAME.findall(code):
            if not NOT_OPS.fullmatch(name) and not path.startswith("lib/ir/upstream"):
                yield "upstream", number, f'"{name}"'
        for name in PARSE.findall(code):
            if path != "lib/ir/template.c":
                yield "text", number, name
        for name in ATTRIBUTES.findall(code):
            if not path.startswith(FREE) and path != "lib/pipelines/read_text.c":
                yield "attributes", number, name
        for dialect, name in PREFIXES.findall(code):
            if not path.startswith(FREE) and not (dialect == "math" and path in OF_MATH):
                yield "prefixes", number, dialect or name
        for _, name in ASKS.findall(code):
            if "." + name in own and not path.startswith(FREE + ("dialects/",)):
                yield "owners", number, f'"{name}"'
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
    own = own_ops(root) | {"." + name for name in owned_attributes(root)}
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
            print(f"{path}:{number}: {what} breaks the law '{law}': see the head of op_name_laws.py")
            status = 1
    for law, rooms in NOT_YET.items():
        for room in rooms:
            if room not in dirty[law]:
                print(f"{room}: keeps the law '{law}'; delete it from NOT_YET")
                status = 1
    return status


def self_test():
    own = {"tile.mma", "!tile.schedule", ".late"}
    cases = [
        ("lib/a.c", 'is(op, "tile.mma")', ["own"]),
        ("lib/a.c", 'find("tile.other"); // "tile.mma"', []),
        ("lib/a.c", 'find(op, "tile.schedule")', ["marks"]),
        ("lib/a.c", 'return tileHas(op, "late") || tileHas(op, "vector");', ["owners"]),
        ("lib/a.c", 'mlirOperationSetAttributeByName(load, tileString("late"), unit)', ["owners"]),
        ("dialects/tile/a.c", 'tileHas(op, "late")', []),
        ("dialects/tile/discardable.def", '"tile.schedule"', []),
        ("dialects/tile/a.c", 'is(op, "tile.mma")', []),
        ("dialects/tile/a.c", 'is(op, "arith.addf")', ["upstream"]),
        ("lib/a.c", 'is = tileOpIsOfDialect(tileDefiningOp(value), "arith");', ["prefixes"]),
        ("lib/a.c", 'tileStringStartsWith(tileOpName(op), "linalg.")', ["prefixes"]),
        ("lib/a.c", 'strncmp(tileOpName(op).data, start, 5)', ["prefixes"]),
        ("lib/a.c", 'tileOpIsOfDialect(op, "gpu") || tileOpIsOfDialect(op, "scf")', []),
        ("lib/conversion/tile_to_vector/uses.c", 'tileOpIsOfDialect(op, "math")', []),
        ("lib/ir/a.c", 'tileOpIsOfDialect(op, "linalg")', []),
        ("lib/ir/upstream/arith.def", '"arith.addf"', []),
        ("lib/a.c", 'f("llvm.noalias", "llvm.nvvm.mma.m16", "nvvm.kernel")', []),
        ("lib/a.c", 'f("nvvm.read.ptx.sreg.")', ["upstream"]),
        ("lib/a.c", '{"operandSegmentSizes", sizes}', ["segments"]),
        ("lib/ir/a.c", '{"operandSegmentSizes", sizes}', []),
        ("lib/a.c", 'mlirModuleCreateParse(context, tileString(text))', ["text"]),
        ("lib/ir/template.c", 'mlirModuleCreateParse(context, tileString(text))', []),
        ("lib/a.c", 'mlirAttributeParseGet(context, tileString("#llvm.zero"))', ["attributes"]),
        ("lib/a.c", 'tileBuildAttribute(&b, "#llvm.zero")', ["attributes"]),
        ("dialects/a.c", 'mlirTypeParseGet(context, text)', ["attributes"]),
        ("lib/ir/a.c", 'mlirAttributeParseGet(context, text)', []),
        ("lib/pipelines/read_text.c", 'mlirAttributeParseGet(context, text)', []),
        ("lib/a.c", 'mlirOperationGetOperand(tileDefiningOp(f(a, 2)), 0)', ["positions"]),
        ("lib/a.c", 'mlirOperationSetOperand(op, 1,\n value)', ["positions"]),
        ("lib/a.c", 'tileResultType(op,\n   0)', ["positions"]),
        ("lib/a.c", 'mlirOperationGetResult(op, i); // mlirOperationGetResult(op, 0)', []),
        ("lib/ir/a.c", 'tileOperandType(op, 0)', []),
        ("lib/a.c", 'tileBuildValue(&b, tileMmaOpName, type, 3, operands, NULL)', ["builds"]),
        ("lib/a.c", 'tileBuildIndex(&b, 0)', []),
        ("lib/a.c", 'tileOpIs(op, name)', ["kinds"]),
        ("lib/transforms/schedule/a.c", 'tileGroupWrap(ops, 2, "register", schedule)', ["fusion"]),
        ("lib/transforms/fuse/a.c", 'tileGroupWrap(ops, 2, "register", schedule)', []),
        ("lib/transforms/fuse/a.c", 'mlirExtPopulateElementwiseFusion(patterns, all)', ["fusion"]),
        ("lib/conversion/linalg_to_tile/a.c", 'tileEpilogueFind(s, &producer, &epilogue)', ["fusion"]),
        ("lib/conversion/linalg_to_tile/a.c", 'tileGroupOpIsA(parent) && tileEpilogueFind(s, &producer, &epilogue)', []),
        ("lib/conversion/linalg_to_tile/a.c", 'tileGroupEvaluate(k, 1, 0); tileOutputUses(kernel, 0)', ["fusion"]),
        ("lib/transforms/fuse/a.c", 'tileSoftmaxMatch(value, target, &softmax)', ["fusion"]),
        ("lib/conversion/tile_to_gpu/a.c", 'tileGroupOpIsA(op) && tileAttentionFind(op, t, &ops)', ["fusion"]),
    ]
    right = sum([law for law, _, _ in breaches_in(path, text, own)] == laws for path, text, laws in cases)
    print(f"self-test: {right} of {len(cases)} cases judged rightly")
    return right != len(cases)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else check(sys.argv[1]))
