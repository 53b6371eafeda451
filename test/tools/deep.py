"""Text of MLIR that nests deep or has long integers, in every way, through every reader: a located error, no crash. At the limit: no crash either.

Use: deep.py BIN WORK. Prints "N texts, 0 wrong".
"""
import subprocess
import sys
from pathlib import Path

import tessera

BIN, WORK = Path(sys.argv[1]), Path(sys.argv[2])


def chain(sigil, first, link, last):
    return lambda n: f"{sigil}a0 = {first}\n" + "".join(f"{sigil}a{i + 1} = {link % f'{sigil}a{i}'}\n" for i in range(n)) + last % f"{sigil}a{n}"


def attribute(opening, middle, closing):
    return lambda n: f"module attributes {{x.a = {opening * n}{middle}{closing * n}}} {{}}"


BODY = "func.func @main(%c: i1, %m: memref<1xi64>) {\n%i = arith.constant 0 : index\n%v = arith.constant 1 : i64\n"
KINDS = {
    "regions": lambda n: '"builtin.module"() ({\n' * n + "}) : () -> ()\n" * n,
    "scf.if": lambda n: BODY + "scf.if %c {\n" * n + "memref.store %v, %m[%i] : memref<1xi64>\n" + "}\n" * n + "return\n}\n",
    "types": lambda n: "func.func private @f() -> " + "tuple<" * n + "i1" + ">" * n,
    "function types": lambda n: "func.func private @f(" + "() -> (" * n + ")" * n + ")",
    "arrays": attribute("[", "", "]"),
    "dictionaries": attribute("{b = ", "1", "}"),
    "affine parentheses": lambda n: "module attributes {x.a = affine_map<(d0) -> (" + "(" * n + "d0" + ")" * n + ")>} {}",
    "affine minus": lambda n: "module attributes {x.a = affine_map<(d0) -> (" + "- " * (10 * n) + "d0" + ")>} {}",
    "affine sum": lambda n: "module attributes {x.a = affine_map<(d0) -> (d0" + " + d0 floordiv 3" * (5 * n) + ")>} {}",
    "locations": lambda n: "module {} loc(" + 'callsite("a" at ' * n + '"b"' + ")" * n + ")",
    "attribute aliases": chain("#", "1 : i64", "[%s]", "module attributes {x.a = %s} {}"),
    "type aliases": chain("!", "i64", "tuple<%s>", "func.func private @f() -> %s"),
    "digits": lambda n: "module attributes {x.a = 1" + "7" * n + "} {}",
    "digits of a size": lambda n: "func.func private @f() -> tensor<1x" + "7" * n + "xf32>",
    "hexadecimal digits": lambda n: "module attributes {x.a = 0x" + "e" * n + "} {}",
    "dense": lambda n: "module attributes {x.a = dense<" + "[" * n + "1" + "]" * n + "> : tensor<1xi32>} {}",
}


def tools(file):
    return [[BIN / "tile-opt", file, "--canonicalize"], [BIN / "tile-run", file], [BIN / "tile-run", file, "--target=interpret"],
            [BIN / "tile-translate", file, "--tile-to-llvmir"]]


def ends_well(kind, n):
    """Does each reader end with an error that has a place? At a depth that is allowed: or without one."""
    file = WORK / "deep.mlir"
    file.write_text(KINDS[kind](n))
    must_refuse, wrong = n > 1000, []
    for command in tools(file):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        told = "deep.mlir:" in done.stderr and "accepts at most" in done.stderr
        if done.returncode not in (0, 1) or "crashed" in done.stderr or "out of stack" in done.stderr or (must_refuse and not told):
            wrong.append(f"{kind}, {n}: {command[0].name} ended with {done.returncode}: {done.stderr[-200:]}")
    try:
        tessera.load(file)
        refused = ""
    except tessera.Error as error:
        refused = str(error)
    if must_refuse and "accepts at most" not in refused:
        wrong.append(f"{kind}, {n}: Python: {refused[:200]}")
    return wrong


def pieces():
    """Types, attributes and pipelines by themselves."""
    context, module, deep = tessera.Context(), tessera.parse("module {}"), 20000
    for read, text in ((context.type, "tuple<" * deep), (context.attribute, "[" * deep), (module.run_passes, "any(" * deep)):
        try:
            read(text)
            yield f"{text[:20]}…: accepted"
        except tessera.Error as error:
            if "accepts at most" not in str(error):
                yield f"{text[:20]}…: {str(error)[-200:]}"
    for tool in ("tile-opt", "tile-run"):
        (WORK / "m.mlir").write_text("func.func @main() { return }")
        done = subprocess.run([BIN / tool, WORK / "m.mlir", "--pass-pipeline=" + "any(" * 30000], capture_output=True, text=True)
        if done.returncode != 1 or "accepts at most" not in done.stderr:
            yield f"{tool} --pass-pipeline: {done.returncode} {done.stderr[-200:]}"


wrong = [line for kind in KINDS for n in (450, 200000) for line in ends_well(kind, n)] + list(pieces())
print("\n".join(wrong))
print(f"{2 * len(KINDS)} texts, {len(wrong)} wrong")
