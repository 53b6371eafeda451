"""Damages models and imports each: a program or an error, never a crash. Usage: mutants.py FOLDER [COUNT [SEED]]

A mutant lies in FOLDER/mutant.onnx while it is read: after a crash it is still there.
"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tessera
from model_writer import save, varint
from programs import MODELS


def damage(data, generator):
    data = bytearray(data)
    for _ in range(generator.choice([1, 1, 1, 2])):
        at, kind = generator.randrange(len(data)), generator.choice([0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 3, 4, 5])
        if kind == 0:
            data[at] = generator.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << generator.randrange(8)
        elif kind == 2:
            del data[at:at + generator.choice([1, 2, 9])]
        elif kind == 3:
            data[at:at] = bytes(generator.randrange(256) for _ in range(generator.choice([1, 3])))
        elif kind == 4:  # a number that does not fit
            data[at:at + 1] = varint(generator.choice([0, 1, 127, 1 << 31, 1 << 62, -1, -(1 << 63)]))
        else:  # a piece again, elsewhere
            size = generator.randrange(1, 40)
            other = generator.randrange(len(data))
            data[other:other] = data[at:at + size]
        if generator.randrange(30) == 0:
            del data[at:]
        if not data:
            break
    return bytes(data)


def main():
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    generator = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 11)
    names, imported, refused = sorted(MODELS), 0, 0
    path = os.path.join(folder, "mutant.onnx")
    for number in range(count):
        save(path, damage(MODELS[names[number % len(names)]], generator))
        try:
            tessera.load(path)
            imported += 1
        except tessera.Error:
            refused += 1
    os.remove(path)
    print(f"{count} mutants: {refused} refused, {imported} still programs, no crash")


if __name__ == "__main__":
    main()
