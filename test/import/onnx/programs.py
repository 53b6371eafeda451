"""Writes the models of the tests into a folder. Usage: programs.py FOLDER"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model_writer import BOOL, FLOAT, INT64, graph, model, node, save, tensor, value

random.seed(7)


def numbers(count):
    return [random.uniform(-1, 1) for _ in range(count)]


MODELS = {
    # Broadcasting, activations, a comparison, a constant of more than 1 KB at an odd address.
    "elementwise": model(
        [node("Add", ["x", "w"], ["sum"]), node("HardSigmoid", ["sum"], ["gate"], alpha=0.3), node("Relu", ["sum"], ["kept"]),
         node("Mul", ["gate", "kept"], ["scaled"]), node("Less", ["scaled", "half"], ["small"]),
         node("Where", ["small", "x", "scaled"], ["y"]), node("Mod", ["i", "three"], ["rest"])],
        [value("x", FLOAT, [5, 3, 97]), value("i", INT64, [7])],
        [value("y", FLOAT, [5, 3, 97]), value("rest", INT64, [7])],
        [tensor("w", FLOAT, [3, 97], numbers(291)), tensor("half", FLOAT, [], [0.25]), tensor("three", INT64, [], [3])]),
    # Shape arithmetic of dynamic sizes: all of it goes.
    "shapes": model(
        [node("Shape", ["x"], ["shape"]), node("Gather", ["shape", "zero"], ["batch"], axis=0),
         node("Unsqueeze", ["batch", "first"], ["batches"]), node("Concat", ["batches", "heads"], ["wanted"], axis=0),
         node("Reshape", ["x", "wanted"], ["split"]), node("Transpose", ["split"], ["turned"], perm=[0, 2, 1, 3]),
         node("Reshape", ["turned", "flat"], ["rows"]), node("Slice", ["rows", "start", "end", "last"], ["part"]),
         node("Pad", ["part", "pads"], ["y"], mode="reflect")],
        [value("x", FLOAT, ["N", "T", 12])], [value("y", FLOAT, ["N", "K"])],
        [tensor("zero", INT64, [], [0]), tensor("first", INT64, [1], [0]), tensor("heads", INT64, [3], [-1, 3, 4]),
         tensor("flat", INT64, [2], [0, -1]), tensor("start", INT64, [1], [1]), tensor("end", INT64, [1], [-1]),
         tensor("last", INT64, [1], [1]), tensor("pads", INT64, [4], [0, 2, 0, 1])]),
    # Two sizes that may be 1 when the program runs.
    "open": model([node("Add", ["x", "y"], ["z"])], [value("x", FLOAT, ["A", 3]), value("y", FLOAT, ["B", 3])],
                  [value("z", FLOAT, ["C", 3])]),
    "gather": model(
        [node("Gather", ["table", "i"], ["rows"], axis=0), node("Trilu", ["rows"], ["lower"], upper=0),
         node("Tile", ["lower", "twice"], ["y"])],
        [value("i", INT64, [4])], [value("y", FLOAT, [4, 10])],
        [tensor("table", FLOAT, [9, 5], numbers(45)), tensor("twice", INT64, [2], [1, 2])]),
    # What goes wrong, and the node it goes wrong at.
    "cycle": model([node("Relu", ["b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")], [],
                   [value("b", FLOAT, [2])]),
    "operator": model([node("Relux", ["x"], ["y"], "odd")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])]),
    "opset": model([node("Relu", ["x"], ["y"], "old")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])], opset=5),
    "attribute": model([node("Relu", ["x"], ["y"], "one", alpha=1.0)], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])]),
    "type": model([node("Sin", ["x"], ["y"], "wave")], [value("x", INT64, [2])], [value("y", INT64, [2])]),
    "text": model([node("Identity", ["x"], ["y"])], [value("x", 8, [2])], [value("y", 8, [2])]),
    "missing": model([node("Add", ["x", "w"], ["y"], "sum")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])]),
    "short": model([node("Add", ["x", "w"], ["y"], "sum")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])],
                   [tensor("w", FLOAT, [3], [1.0, 2.0])]),
    "broadcast": model([node("Add", ["x", "w"], ["y"], "sum")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])],
                       [tensor("w", FLOAT, [3], [1.0, 2.0, 3.0])]),
    "outside": model([node("Add", ["x", "w"], ["y"], "sum")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])],
                     [tensor("w", FLOAT, [2], [], {"location": "../weights.bin", "offset": 0, "length": 8})]),
    "beside": model([node("Add", ["x", "w"], ["y"], "sum")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])],
                    [tensor("w", FLOAT, [2], [], {"location": "beside.bin", "offset": 3, "length": 8})]),
    "link": model([node("Add", ["x", "w"], ["y"], "sum")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])],
                  [tensor("w", FLOAT, [2], [], {"location": "link.bin"})]),
}


def main():
    folder = sys.argv[1]
    os.makedirs(os.path.join(folder, "models"), exist_ok=True)
    for name, data in MODELS.items():
        save(os.path.join(folder, "models", name + ".onnx"), data)
    save(os.path.join(folder, "models", "cut.onnx"), MODELS["elementwise"][:500])
    save(os.path.join(folder, "models", "none.onnx"), b"")
    save(os.path.join(folder, "weights.bin"), bytes(8))
    save(os.path.join(folder, "models", "beside.bin"), bytes(3) + bytes.fromhex("0000803f00000040"))
    if not os.path.lexists(os.path.join(folder, "models", "link.bin")):
        os.symlink("../weights.bin", os.path.join(folder, "models", "link.bin"))


if __name__ == "__main__":
    main()
