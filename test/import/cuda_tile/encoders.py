"""Compares the rows of cuda_tile's ops.def with the encoders of the package cuda-tile: encoders.py OPS.DEF

Opcodes, versions, and the order of results, flags, attributes and operands must agree. Prints what differs, then counts.
The encoders are read as text (cuda/tile/_bytecode/encodings.py); nothing is run.
"""
import importlib.util
import os
import re
import sys

table = open(sys.argv[1], encoding="utf-8").read()
rows = {}
for cname, body in re.findall(r"TESSERA_OP\((\w+),(.*?)(?=\nTESSERA_OP|\Z)", table, re.S):
    columns = {}
    for key, text in re.findall(r"\.(\w+)\s*=((?:\s*\"(?:[^\"\\]|\\.)*\")+)", body):
        columns[key] = "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", text))
    rows[cname] = columns


def names(column, kind=""):
    return [entry.split(":")[0].strip() for entry in column.split(", ") if entry and kind in entry]


package = importlib.util.find_spec("cuda.tile").submodule_search_locations[0]
source = open(os.path.join(package, "_bytecode", "encodings.py"), encoding="utf-8").read()
AWAY = {"Module", "PreviewCall"}  # a file has no op `module`; preview features are refused
RENAMED = {"global_": "global", "from_": "from"}
counts, wrong = 0, 0


def expect(op, what, ours, theirs):
    global wrong
    if ours != theirs:
        wrong += 1
        print(f"{op}: {what}: the row has {ours}, the encoder {theirs}")


for op, comment, parameters, body in re.findall(r"\ndef encode_(\w+)Op\((.*?)\n(.*?)\n\) -> [^\n]*\n(.*?)(?=\n\n\n|\Z)", source, re.S):
    if op in AWAY:
        continue
    if op not in rows:
        wrong += 1
        print(f"{op}: has no row")
        continue
    counts += 1
    row = rows[op]
    since = {RENAMED.get(n, n): v for n, v in re.findall(r"(\w+): [^\n]*# since 13\.(\d)", parameters)}
    of_op = re.search(r"# since 13\.(\d)", comment)
    column = row["bytecode"]
    expect(op, "opcode", column.split()[0].rstrip(","), re.search(r"# Opcode\n    encode_varint\((\d+)", body).group(1))
    mine = re.match(r"\d+ since 13\.(\d)", column)
    expect(op, "version", mine.group(1) if mine else "1", of_op.group(1) if of_op else "1")
    later = dict(re.findall(r", (\w+) since 13\.(\d)", column))
    if not of_op or op == "AtomicRedViewTko":
        theirs = {n.replace("result_token_type", "result_token").replace("symbol_visibility", "visibility"): v
                  for n, v in since.items() if not of_op or v != of_op.group(1)}
        if op != "Entry":
            expect(op, "later parts", later, {n: v for n, v in theirs.items() if not n.endswith("_type")})
    flags = re.findall(r"bool\((\w+)\)|\((\w+) is not None\)", body.split("# Attributes")[0].split("# Operands")[0])
    flags = [RENAMED.get(a or b, a or b) for a, b in flags]
    attributes = re.findall(r"encode_opattr_\w+\((?:\w+, )?(\w+)\)", body)
    attributes = [RENAMED.get(n, n).replace("symbol_visibility", "visibility") for n in attributes]
    operands = re.findall(r"encode_(?:unsized_variadic_operands|sized_variadic_operands|optional_operand|operand)\((\w+),", body)
    operands = [RENAMED.get(n, n) for n in operands]
    if op in ("Entry", "Global"):
        continue
    kinds = dict(entry.split(": ", 1) for entry in row.get("attributes", "").split(", ") if entry)
    expect(op, "attributes", [n for n, kind in kinds.items() if kind != "unit"], attributes)
    optional = [n for n in names(row.get("operands", ""), ": optional")] if row.get("operands", "").count("optional") + row.get("operands", "").count("variadic") > 1 else []
    flagged = [n for n, kind in kinds.items() if kind == "unit" or (kind.startswith("optional") and "flags" not in kind)]
    expect(op, "flags", flagged + optional, flags)
    expect(op, "operands", names(row.get("operands", "")), operands)
print(f"{counts} ops compared, {wrong} differences")
