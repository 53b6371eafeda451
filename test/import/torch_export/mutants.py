"""Damages programs of torch.export and imports each: a program or an error, never a crash. Usage: mutants.py FOLDER [COUNT [SEED]]

A mutant lies in FOLDER/mutant.pt2 while it is read: after a crash it is still there.
"""
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import tessera
from programs import NAMES, members, packed

VALUES = [0, -1, 1, 12, 2**31, 2**62, -2**63, 1.5, "", "x", "torch.ops.aten.add.Tensor", True, None, [], {}, "Infinity"]


def places(value, found):
    """Every list and object of a JSON value with the keys below it."""
    if isinstance(value, dict):
        found.extend((value, key) for key in value)
        for item in value.values():
            places(item, found)
    elif isinstance(value, list):
        found.extend((value, index) for index in range(len(value)))
        for item in value:
            places(item, found)
    return found


def damage_json(data, generator):
    value = json.loads(data)
    for _ in range(generator.choice([1, 1, 2])):
        found = places(value, [])
        if not found:
            break
        owner, key = generator.choice(found)
        kind = generator.randrange(4)
        if kind == 0:
            del owner[key]
        elif kind == 1 and isinstance(owner[key], int):
            owner[key] += generator.choice([-2, -1, 1, 7, 2**40])
        elif kind == 2 and isinstance(owner, list):
            owner.insert(key, generator.choice(owner))
        else:
            owner[key] = generator.choice(VALUES)
    return json.dumps(value).encode()


def damage(files, generator):
    if generator.randrange(4):  # the program or the weights' description
        name = generator.choice([name for name in files if name.endswith(".json") and len(files[name]) > 20] +
                                [name for name in files if name.endswith("model.json")])
        return packed({**files, name: damage_json(files[name], generator)})
    data = bytearray(packed(files))
    for _ in range(generator.choice([1, 2, 9])):
        at = generator.randrange(len(data)) if generator.randrange(2) else len(data) - 1 - generator.randrange(900)
        data[at] = generator.randrange(256)
    return bytes(data[:generator.randrange(len(data))] if generator.randrange(9) == 0 else data)


def main():
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    generator = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 11)
    programs = [members(os.path.join(HERE, "Inputs", f"{name}.pt2")) for name in NAMES]
    path, imported, refused = os.path.join(folder, "mutant.pt2"), 0, 0
    for number in range(count):
        with open(path, "wb") as file:
            file.write(damage(programs[number % len(programs)], generator))
        try:
            tessera.load(path)
            imported += 1
        except tessera.Error:
            refused += 1
    os.remove(path)
    print(f"{count} mutants: {refused} refused, {imported} still programs, no crash")


if __name__ == "__main__":
    main()
