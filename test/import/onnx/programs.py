"""Writes the models of the tests into a folder. Usage: programs.py FOLDER"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from model_writer import BOOL, FLOAT, INT4, INT32, INT64, UINT4, UINT8, graph, model, node, save, tensor, value

random.seed(7)


def numbers(count):
    return [random.uniform(-1, 1) for _ in range(count)]


def bits(m, n, k, width, block, zeros=(), **more):
    """A product by codes of onnxruntime's domain; `zeros`: its zero points."""
    groups = k // block
    tensors = [tensor("b", UINT8, [n, groups, block * width // 8], [random.randrange(256) for _ in range(n * k * width // 8)]),
               tensor("s", FLOAT, [n * groups], [random.uniform(.01, .1) for _ in range(n * groups)])]
    inputs = ["x", "b", "s"]
    if zeros == "codes":
        count = n * ((groups * width + 7) // 8)
        tensors.append(tensor("z", UINT8, [count], [random.randrange(256) for _ in range(count)]))
    elif zeros == "numbers":
        tensors.append(tensor("z", FLOAT, [n * groups], [random.uniform(0, 9) for _ in range(n * groups)]))
    inputs += ["z"] if zeros else []
    product = node("MatMulNBits", inputs, ["y"], "few", "com.microsoft", **{"K": k, "N": n, "bits": width, "block_size": block} | more)
    return model([product], [value("x", FLOAT, [m, k])], [value("y", FLOAT, [m, n])], tensors, domain="com.microsoft")


# Node 1 leads back to node 0.
TREES = {
    "tree_roots": [0], "nodes_featureids": [0, 1], "nodes_modes": ("tensor", tensor("modes", UINT8, [2], [0, 1])),
    "nodes_splits": ("tensor", tensor("splits", FLOAT, [2], [0.5, 1.5])), "nodes_truenodeids": [0, 0], "nodes_trueleafs": [1, 0],
    "nodes_falsenodeids": [1, 1], "nodes_falseleafs": [0, 1], "leaf_targetids": [0, 0],
    "leaf_weights": ("tensor", tensor("weights", FLOAT, [2], [1.0, 2.0])),
}  # yapf: disable

MODELS = {
    "nibbles": bits("M", 35, 96, 4, 32), "nibbles-zeros": bits(3, 35, 96, 4, 32, "codes"), "nibbles-numbers": bits(2, 35, 64, 4, 16, "numbers"),
    "crumbs": bits(5, 20, 64, 2, 32), "bytes": bits(1, 20, 64, 8, 32, "codes"),
    "nibbles-ragged": bits(3, 35, 96, 4, 32, block_size=36), "nibbles-short": bits(3, 35, 96, 4, 32, N=36), "nibbles-width": bits(3, 35, 96, 4, 32, bits=3),
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
    # Boxes of all classes at once, and what is equal, with dynamic sizes.
    "chosen": model(
        [node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["picked"]),
         node("Unique", ["i"], ["u", "", "places", "counts"], axis=1, sorted=0)],
        [value("boxes", FLOAT, ["B", "N", 4]), value("scores", FLOAT, ["B", 3, "N"]), value("i", INT64, [2, "N"])],
        [value("picked", INT64, ["M", 3]), value("u", INT64, [2, "U"]), value("places", INT64, ["N"]), value("counts", INT64, ["U"])],
        [tensor("most", INT64, [1], [3]), tensor("overlap", FLOAT, [1], [.1]), tensor("least", FLOAT, [1], [-.5])]),
    # Images between their pixels, and a transform of a signal.
    "sampled": model(
        [node("GridSample", ["x", "grid"], ["y"], mode="cubic", padding_mode="reflection"),
         node("STFT", ["signal", "step", "window"], ["waves"])],
        [value("x", FLOAT, ["B", 3, 5, 7]), value("grid", FLOAT, ["B", 4, 6, 2]), value("signal", FLOAT, ["B", 50, 1])],
        [value("y", FLOAT, ["B", 3, 4, 6]), value("waves", FLOAT, ["B", 12, 7, 2])],
        [tensor("step", INT64, [], [3]), tensor("window", FLOAT, [13], numbers(13))]),
    # A sequence that leaves no trace; and what cannot be done with one.
    "listed": model(
        [node("SplitToSequence", ["x", "three"], ["parts"], axis=1), node("SequenceAt", ["parts", "last"], ["end"]),
         node("SequenceInsert", ["parts", "end", "zero"], ["more"]), node("SequenceErase", ["more", "one"], ["kept"]),
         node("ConcatFromSequence", ["kept"], ["y"], axis=1)],
        [value("x", FLOAT, [5, 8])], [value("y", FLOAT, [5, 7]), value("kept", FLOAT, ["K", "L"])],
        [tensor("three", INT64, [], [3]), tensor("last", INT64, [], [-1]), tensor("zero", INT64, [], [0]), tensor("one", INT64, [], [1])]),
    "listed-outside": model(
        [node("SequenceConstruct", ["x", "x"], ["both"]), node("SequenceAt", ["both", "two"], ["y"], "third")],
        [value("x", FLOAT, [3])], [value("y", FLOAT, [3])], [tensor("two", INT64, [], [2])]),
    "listed-sum": model([node("SequenceConstruct", ["x", "x"], ["both"]), node("Add", ["both", "x"], ["y"], "sum")],
                        [value("x", FLOAT, [3])], [value("y", FLOAT, [3])]),
    # Weights of 4 bits as exporters quantize them, in blocks of 32 with zero points; and a few that lie within bytes.
    "quantized-4": model(
        [node("DequantizeLinear", ["w", "s", "z"], ["wide"], axis=1, block_size=32),
         node("Transpose", ["wide"], ["turned"], perm=[1, 0]), node("MatMul", ["x", "turned"], ["y"]),
         node("DequantizeLinear", ["odd", "half"], ["few"])],
        [value("x", FLOAT, [1, 96])], [value("y", FLOAT, [1, 35]), value("few", FLOAT, [3, 5])],
        [tensor("w", UINT4, [35, 96], [random.randrange(16) for _ in range(35 * 96)]),
         tensor("s", FLOAT, [35, 3], [random.uniform(.01, .1) for _ in range(105)]),
         tensor("z", UINT4, [35, 3], [random.randrange(16) for _ in range(105)]),
         tensor("odd", INT4, [3, 5], [(5 * i) % 16 - 8 for i in range(15)]), tensor("half", FLOAT, [], [.5])], opset=21),
    "quantized-sum": model([node("Add", ["x", "w"], ["y"], "sum")], [value("x", INT4, [3])], [value("y", INT4, [3])],
                           [tensor("w", INT4, [3], [1, 2, 3])], opset=21),
    # Two sizes that may be 1 when the program runs.
    "open": model([node("Add", ["x", "y"], ["z"])], [value("x", FLOAT, ["A", 3]), value("y", FLOAT, ["B", 3])],
                  [value("z", FLOAT, ["C", 3])]),
    # Pixels that are repeated a whole number of times, and a window that neither overlaps nor leaves gaps.
    "pixels": model(
        [node("Resize", ["x", "", "scales"], ["r"], mode="nearest", coordinate_transformation_mode="asymmetric",
              nearest_mode="floor"),
         node("Resize", ["x", "", "scales"], ["c"], mode="nearest"), node("ConvTranspose", ["x", "t", "b"], ["u"], strides=[2, 3])],
        [value("x", FLOAT, ["N", 3, "H", "W"])],
        [value("r", FLOAT, ["N", 3, "I", "J"]), value("c", FLOAT, ["N", 3, "K", "L"]), value("u", FLOAT, ["N", 2, "P", "Q"])],
        [tensor("scales", FLOAT, [4], [1.0, 1.0, 2.0, 3.0]), tensor("t", FLOAT, [3, 2, 2, 3], [i - 7.0 for i in range(36)]),
         tensor("b", FLOAT, [2], [0.5, -2.0])]),
    "gather": model(
        [node("Gather", ["table", "i"], ["rows"], axis=0), node("Trilu", ["rows"], ["lower"], upper=0),
         node("Tile", ["lower", "twice"], ["y"])],
        [value("i", INT64, [4])], [value("y", FLOAT, [4, 10])],
        [tensor("table", FLOAT, [9, 5], numbers(45)), tensor("twice", INT64, [2], [1, 2])]),
    # A convolution in groups with padding, a pool that rounds up, a normalization, a reduction, a product.
    "image": model(
        [node("Conv", ["x", "k", "c"], ["conv"], group=2, strides=[2, 1], pads=[1, 0, 1, 2], dilations=[1, 2]),
         node("LayerNormalization", ["conv", "g"], ["norm"]),
         node("AveragePool", ["norm"], ["pool"], kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1),
         node("MaxPool", ["norm"], ["most"], kernel_shape=[3, 2], auto_pad="SAME_LOWER"),
         node("ConvTranspose", ["pool", "t"], ["up"], strides=[2, 3], output_padding=[1, 0]),
         node("ReduceLogSumExp", ["most"], ["sums"], axes=[1, 3], keepdims=0), node("Softmax", ["sums"], ["s"]),
         node("ArgMax", ["most"], ["place"], axis=2, keepdims=0),
         node("Resize", ["up", "", "scales"], ["y"], mode="linear", coordinate_transformation_mode="align_corners")],
        [value("x", FLOAT, [2, 4, 9, 11])],
        [value("y", FLOAT, ["N", 2, "H", "W"]), value("s", FLOAT, ["N", "S"]), value("place", INT64, ["N", 6, "P"])],
        [tensor("k", FLOAT, [6, 2, 3, 2], numbers(72)), tensor("c", FLOAT, [6], numbers(6)),
         tensor("g", FLOAT, [11], numbers(11)), tensor("t", FLOAT, [6, 2, 3, 3], numbers(108)),
         tensor("scales", FLOAT, [4], [1.0, 1.0, 1.7, 0.6])]),
    # Both directions, lengths of sequences; a GRU whose reset gate comes after the product.
    "recurrent": model(
        [node("LSTM", ["x", "w", "r", "b", "lengths"], ["y", "h", "c"], direction="bidirectional", hidden_size=3),
         node("GRU", ["x", "gw", "gr", "gb"], ["gy", "gh"], hidden_size=3, linear_before_reset=1, direction="reverse")],
        [value("x", FLOAT, [5, 2, 4])],
        [value("y", FLOAT, [5, 2, 2, 3]), value("c", FLOAT, [2, 2, 3]), value("gy", FLOAT, [5, 1, 2, 3])],
        [tensor("w", FLOAT, [2, 12, 4], numbers(96)), tensor("r", FLOAT, [2, 12, 3], numbers(72)),
         tensor("b", FLOAT, [2, 24], numbers(48)), tensor("lengths", INT32, [2], [5, 3]),
         tensor("gw", FLOAT, [1, 9, 4], numbers(36)), tensor("gr", FLOAT, [1, 9, 3], numbers(27)),
         tensor("gb", FLOAT, [1, 18], numbers(18))]),
    # A branch and a loop that only the running program decides, updates at places, the greatest three.
    "control": model(
        [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Less", ["sum", "bound"], ["isLow"]),
         node("If", ["isLow"], ["chosen"],
              then_branch=("graph", graph([node("Mul", ["x", "x"], ["t"])], [], [value("t", FLOAT, [6])])),
              else_branch=("graph", graph([node("Neg", ["x"], ["e"])], [], [value("e", FLOAT, [6])]))),
         node("Loop", ["most", "", "chosen"], ["last", "rows"], body=("graph", graph(
             [node("Add", ["v", "x"], ["next"]), node("ReduceMax", ["next"], ["peak"], keepdims=0),
              node("Less", ["peak", "limit"], ["more"]), node("Identity", ["next"], ["row"])],
             [value("i", INT64, []), value("go", BOOL, []), value("v", FLOAT, [6])],
             [value("more", BOOL, []), value("next", FLOAT, [6]), value("row", FLOAT, [6])]))),
         node("ScatterElements", ["last", "places", "updates"], ["y"], reduction="add"),
         node("TopK", ["y", "three"], ["great", "which"])],
        [value("x", FLOAT, [6])],
        [value("y", FLOAT, [6]), value("rows", FLOAT, ["R", 6]), value("great", FLOAT, [3]), value("which", INT64, [3])],
        [tensor("bound", FLOAT, [], [0.5]), tensor("most", INT64, [], [9]), tensor("limit", FLOAT, [], [4.0]),
         tensor("places", INT64, [4], [5, 1, 1, -6]), tensor("updates", FLOAT, [4], [0.5, 0.25, 1.0, -2.0]),
         tensor("three", INT64, [1], [3])]),
    # One element, of rank 0 in one branch and of rank 1 in the other: both ways.
    "scalars": model(
        [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("ReduceSum", ["x"], ["sums"], keepdims=1),
         node("Less", ["sum", "bound"], ["isLow"]), node("Not", ["isLow"], ["isHigh"]),
         node("If", ["isLow"], ["a"],
              then_branch=("graph", graph([node("Neg", ["sum"], ["t"])], [], [value("t", FLOAT, [])])),
              else_branch=("graph", graph([node("Abs", ["sums"], ["e"])], [], [value("e", FLOAT, [1])]))),
         node("If", ["isHigh"], ["b"],
              then_branch=("graph", graph([node("Mul", ["sums", "sums"], ["u"])], [], [value("u", FLOAT, [1])])),
              else_branch=("graph", graph([node("Sqrt", ["bound"], ["f"])], [], [value("f", FLOAT, [])]))),
         node("Mul", ["x", "a"], ["scaled"]), node("Add", ["scaled", "b"], ["y"])],
        [value("x", FLOAT, [5])], [value("y", FLOAT, [5])], [tensor("bound", FLOAT, [], [0.5])]),
    # What goes wrong, and the node it goes wrong at.
    "cycle": model([node("Relu", ["b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")], [],
                   [value("b", FLOAT, [2])]),
    "operator": model([node("Relux", ["x"], ["y"], "odd")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])]),
    # Opset 6: axes of the second input that begin at an axis of the first, slopes of channels, results of no training.
    "aligned": model(
        [node("Add", ["x", "b"], ["sum"], axis=1, broadcast=1), node("PRelu", ["sum", "slope"], ["kept"]),
         node("Dropout", ["kept"], ["y"], is_test=1), node("Less", ["y", "row"], ["z"], broadcast=1)],
        [value("x", FLOAT, [2, 3, 4, 5])], [value("y", FLOAT, [2, 3, 4, 5]), value("z", BOOL, [2, 3, 4, 5])],
        [tensor("b", FLOAT, [3, 4], numbers(12)), tensor("slope", FLOAT, [3], numbers(3)), tensor("row", FLOAT, [5], numbers(5))],
        opset=6),
    "aligned-behind": model([node("Add", ["x", "b"], ["y"], "late", axis=2)], [value("x", FLOAT, [2, 3]), value("b", FLOAT, [3])],
                            [value("y", FLOAT, [2, 3])], opset=6),
    "aligned-long": model([node("Add", ["x", "b"], ["y"], "late", axis=1)], [value("x", FLOAT, [2, 3]), value("b", FLOAT, [3, 1])],
                          [value("y", FLOAT, [2, 3])], opset=6),
    "aligned-trains": model([node("Dropout", ["x"], ["y"], "drop")], [value("x", FLOAT, [2])], [value("y", FLOAT, [2])], opset=6),
    "trees": model([node("TreeEnsemble", ["x"], ["y"], "forest", "ai.onnx.ml", **TREES)], [value("x", FLOAT, ["N", 2])],
                   [value("y", FLOAT, ["N", 1])], domain="ai.onnx.ml"),
    "trees-leaf": model([node("TreeEnsemble", ["x"], ["y"], "forest", "ai.onnx.ml", **TREES | {"nodes_falsenodeids": [1, 2]})],
                        [value("x", FLOAT, ["N", 2])], [value("y", FLOAT, ["N", 1])], domain="ai.onnx.ml"),
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
