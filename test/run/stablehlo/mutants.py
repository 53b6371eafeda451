"""Damages programs of StableHLO and converts each to linalg: a program or an error, never a crash.

Usage: mutants.py FOLDER [COUNT [SEED]]

The programs are those of this folder. A mutant changes numbers, names of ops, types or operands, or a type everywhere, so
that many mutants are still read; others lose or repeat pieces of text. What the unmodified parser of MLIR crashes on
(test/fuzz/upstream.txt) is left out. A mutant lies in FOLDER/mutant.mlir while it is read: after a crash it is still
there.
"""
import glob
import os
import random
import re
import sys

import tessera

HERE = os.path.dirname(os.path.abspath(__file__))
UPSTREAM = os.path.join(HERE, os.pardir, os.pardir, "fuzz", "upstream.txt")
NUMBERS = ["0", "1", "2", "-1", "7", "64", "-3", "1000000", "2147483647", "-9223372036854775808", "9223372036854775807", "0x7FC00000", "1.5e300"]
TYPES = ["f32", "f64", "f16", "bf16", "i1", "i8", "i32", "ui32", "i64", "ui8", "complex<f32>", "index", "f8E4M3FN", "i4", "tensor<2xf32>"]
WORDS = ["LT", "EQ", "TOTALORDER", "SIGNED", "FLOAT", "true", "false", "NO_TRANSPOSE", "ADJOINT", "FFT", "IRFFT", "[]", "[0]", "[1, 0]", "dense<0>",
         "array<i64>", "array<i64: 1>", "unit", "@sort", "\"\""]


def programs():
    texts = []
    for path in sorted(glob.glob(os.path.join(HERE, "*.mlir"))):
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("//")]
        texts.append("".join(lines))
    return texts


def another(pattern, text, generator, choose):
    """`text` with one occurrence of the pattern replaced, or all equal ones."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    place = generator.choice(found)
    put = choose(place[0])
    if generator.randrange(4) == 0:  # everywhere: types then still agree
        return re.sub(r"(?<![\w.%#])" + re.escape(place[0]) + r"(?![\w.])", lambda _: put, text)
    return text[:place.start()] + put + text[place.end():]


def damage(text, names, generator):
    for _ in range(generator.choice([1, 1, 1, 2])):
        kind = generator.randrange(9)
        if kind == 0:
            text = another(r"(?<![\w.%#])-?\d+(?![\w.])", text, generator, lambda old: generator.choice(NUMBERS))
        elif kind == 1:  # a size
            text = another(r"(?<=[<x])\d+(?=x)", text, generator, lambda old: generator.choice(["0", "1", "2", "3", "5", "?", "4096", "4294967296", "-1"]))
        elif kind == 2:
            text = another(r"\b(?:stablehlo|chlo)\.\w+", text, generator, lambda old: generator.choice(names))
        elif kind == 3:
            text = another(r"%\w+(?::\d+)?", text, generator, lambda old: generator.choice(re.findall(r"%\w+", text) or ["%x"]))
        elif kind == 4:
            text = another(r"\b(?:bf16|f\d+|u?i\d+)\b", text, generator, lambda old: generator.choice(TYPES))
        elif kind == 5:
            text = another(r"\b[A-Z]\w+\b|\btrue\b|\bfalse\b|\[[\d, ]*\]|array<[^>]*>|@\w+", text, generator, lambda old: generator.choice(WORDS))
        elif kind == 6:  # a line that is gone, or there twice
            lines = text.splitlines(keepends=True)
            at = generator.randrange(len(lines))
            lines[at:at + 1] = generator.choice([[], [lines[at]] * 2])
            text = "".join(lines)
        elif kind == 7:  # a tensor of another rank
            text = another(r"tensor<[^<>]*>", text, generator,
                           lambda old: generator.choice([old.replace("tensor<", "tensor<2x"), re.sub(r"<\d+x", "<", old), "tensor<*xf32>", "tensor<f32>"]))
        else:
            at = generator.randrange(len(text) + 1)
            text = text[:at] + generator.choice(["", "}", "{", "(", "<", "\0", "\u00e9", "%", "!", text[at + 3:at + 40]]) + text[at + generator.choice([0, 1, 9]):]
    return text


def main():
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    generator = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 11)
    texts, path, imported, refused = programs(), os.path.join(folder, "mutant.mlir"), 0, 0
    with open(UPSTREAM, encoding="utf-8") as file:
        crashes = [re.compile(line.split("\t")[0]) for line in file if not line.startswith("#") and "\t" in line]
    names = sorted({name for text in texts for name in re.findall(r"\b(?:stablehlo|chlo)\.\w+", text)})
    for number in range(count):
        text = damage(texts[number % len(texts)], names, generator)
        while any(crash.search(text) for crash in crashes):
            text = damage(texts[number % len(texts)], names, generator)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            tessera.load(path).run_passes("convert-stablehlo-to-linalg")
            imported += 1
        except tessera.Error:
            refused += 1
    os.remove(path)
    print(f"{count} mutants: {refused} refused, {imported} still programs, no crash")


if __name__ == "__main__":
    main()
