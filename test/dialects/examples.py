"""Whether every example of an op table stands, word for word, in a program: examples.py OPS.DEF PROGRAM ROWS.

Blanks do not count. ROWS: how many ops the table has. An example of several statements may be spread over the program; each op of it must be there.
"""
import re
import sys


def words(text):
    return " ".join(text.split())


def example_of(row):
    pieces = re.search(r"\.example\s*=((?:\s*\"(?:[^\"\\]|\\.)*\")+)", row)
    joined = "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", pieces.group(1))) if pieces else ""
    return joined.replace("\\n", "\n").replace('\\"', '"')


def statements(example):
    """Statements of an example: lines, a continued one (deeper, or in a region) with the line it belongs to."""
    found = []
    for line in example.split("\n"):
        if found and (line.startswith(" ") or line.startswith(("}", "^", "partition"))):
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found


table, program = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
rows = re.findall(r"TESSERA_OP\((\w+),.*?(?=\nTESSERA_OP|\Z)", table, re.S)
bodies = re.split(r"\nTESSERA_OP\(", table)[1:]
program = words(program)
missing = 0
for name, body in zip(rows, bodies):
    example = example_of(body)
    for statement in statements(example) if example else [f"(no example of {name})"]:
        if words(statement) not in program:
            missing += 1
            print(f"{name}: not in the program: {statement}")
if len(rows) != int(sys.argv[3]):
    print(f"{len(rows)} rows were found, expected {sys.argv[3]}")
sys.exit(missing > 0 or len(rows) != int(sys.argv[3]))
