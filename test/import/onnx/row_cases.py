"""The cases of rows.py: a node, or a few, with inputs, for every row of lib/import/onnx/operators.def."""
import random

import numpy as np

import model_writer as w
from model_writer import BOOL, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8, graph, node, tensor, value

NEWEST = 28
KINDS = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64, "bool": BOOL, "float16": FLOAT16, "float64": w.DOUBLE}
draws = random.Random(17)  # the same numbers in every version


class Fixed(np.ndarray):
    """An input that is a constant of the model."""


def fixed(items, kind="i8"):
    return np.asarray(items, kind).view(Fixed)


def drawn(sizes):
    return np.array([draws.random() for _ in range(int(np.prod(sizes)))]).reshape(sizes)


def reals(*sizes, low=-2.0, high=2.0, kind="f4"):
    return (low + (high - low) * drawn(sizes)).astype(kind)


def integers(*sizes, low=-9, high=9, kind="i8"):
    return np.floor(low + (high - low) * drawn(sizes)).astype(kind)


def truths(*sizes):
    return drawn(sizes) < 0.5


class Case:
    """Nodes, the inputs by name, the results by name and kind; `wanted`: numpy's results."""

    def __init__(self, nodes, inputs, results, opset, domain, wanted):
        self.nodes, self.inputs, self.results, self.opset, self.domain, self.wanted = nodes, inputs, results, opset, domain, wanted


CASES = []


def program(nodes, inputs, results, opset=NEWEST, domain="", wanted=None):
    """`nodes`: (operator, inputs, outputs, attributes). Names get the number of the case."""
    CASES.append(Case(nodes, inputs, results, opset, domain, wanted))


def case(operator, *inputs, gives=None, opset=NEWEST, domain="", wanted=None, **attributes):
    """One node. None: an input that is left out. `gives`: the kinds of the results, those of the first input."""
    named = {f"i{k}": item for k, item in enumerate(inputs) if item is not None}
    names = [f"i{k}" if item is not None else "" for k, item in enumerate(inputs)]
    gives = gives or (KINDS[inputs[0].dtype.name], )
    results = {f"o{k}": kind for k, kind in enumerate(gives) if kind}
    program([(operator, names, [f"o{k}" if kind else "" for k, kind in enumerate(gives)], attributes)], named, results, opset, domain, wanted)


def elementwise():
    for name in "Ceil Cos Erf Exp Floor Round Sin Sinh Cosh Tanh Tan Atan Asinh Abs Neg Sign Reciprocal Relu Sigmoid HardSwish Softplus Softsign Mish Identity".split():
        case(name, reals(3, 5))
    case("Acos", reals(7, low=-1, high=1))
    case("Asin", reals(7, low=-1, high=1))
    case("Atanh", reals(7, low=-0.9, high=0.9))
    case("Acosh", reals(7, low=1, high=9))
    case("Log", reals(7, low=0.1, high=9))
    case("Sqrt", reals(7, low=0, high=9))
    case("Abs", integers(7))
    case("Neg", integers(7))
    case("Sign", integers(7))
    case("Relu", integers(7))
    case("Not", truths(7))
    case("BitwiseNot", integers(7))
    case("HardSigmoid", reals(9), alpha=0.3, beta=0.4)
    case("LeakyRelu", reals(9), alpha=0.2)
    case("Elu", reals(9), alpha=1.5)
    case("Celu", reals(9), alpha=1.5)
    case("Selu", reals(9))
    case("ThresholdedRelu", reals(9), alpha=0.7)
    case("Gelu", reals(9))
    case("Gelu", reals(9), approximate="tanh")
    case("Swish", reals(9), alpha=1.3)
    case("Shrink", reals(9), bias=0.2, lambd=0.7)
    case("PRelu", reals(2, 3, 4), reals(3, 1))
    for name in ("Add", "Sub", "Mul"):
        case(name, reals(2, 3, 5), reals(3, 1))
        case(name, integers(4), integers(3, 4))
    case("Div", reals(2, 3, 5), reals(5, low=0.5))
    case("Div", integers(3, 4, low=0), integers(4, low=1))
    case("Pow", reals(3, 4, low=0.1), reals(4))
    case("Mod", integers(3, 4), fixed([3, -4, 5, -2]))
    case("Mod", reals(3, 4), reals(4, low=0.5), fmod=1)
    case("BitShift", integers(6, low=0, kind="u1"), fixed([0, 1, 2, 3, 1, 0], "u1"), direction="LEFT")
    case("BitShift", integers(3, low=0, kind="u1"), fixed([1, 2, 0], "u1"), direction="RIGHT")
    for name in ("And", "Or", "Xor"):
        case(name, truths(3, 5), truths(5))
        case("Bitwise" + name, integers(3, 5), integers(5))
    for name in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        case(name, integers(4, 5, low=-2, high=2), integers(5, low=-2, high=2), gives=(BOOL, ))
        case(name, reals(4, 5), reals(5), gives=(BOOL, ))
    case("Where", truths(3, 1), reals(3, 4), reals(4), gives=(FLOAT, ))
    for name in ("Max", "Min", "Sum", "Mean"):
        case(name, reals(3, 4), reals(4), reals(3, 1))
    case("Clip", reals(3, 5), fixed(-0.5, "f4"), fixed(0.75, "f4"))
    case("Clip", reals(3, 5), opset=10, min=-0.5, max=0.75)
    holes = np.array([1, np.nan, np.inf, -np.inf, 0], "f4")
    case("IsNaN", holes, gives=(BOOL, ))
    case("IsInf", holes, gives=(BOOL, ), detect_negative=0)
    case("Cast", reals(3, 5, low=-9, high=9), gives=(INT32, ), to=INT32)
    case("Cast", integers(3, 5), gives=(BOOL, ), to=BOOL)
    case("CastLike", reals(3, 5), fixed([0], "f2"), gives=(FLOAT16, ))
    case("BitCast", reals(4), gives=(INT32, ), to=INT32)
    case("SwiGLU", reals(3, 4), reals(3, 4), alpha=1.2)
    case("Dropout", reals(3, 4))
    old = dict(opset=6, axis=1, broadcast=1)
    a, b, c, d = reals(2, 3, 4, low=0.5), reals(3, low=0.5), truths(2, 3, 4), truths(3)
    for name, way in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("Pow", np.power)):
        case(name, a, b, wanted=lambda way=way: way(a, b[:, None]), **old)
    for name, way in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
        case(name, c, d, wanted=lambda way=way: way(c, d[:, None]), **old)
    i, j = integers(2, 3, 4, low=0, high=3, kind="i4"), integers(3, low=0, high=3, kind="i4")
    for name, way, x, y in (("Equal", np.equal, i, j), ("Less", np.less, a, b), ("Greater", np.greater, a, b)):
        case(name, x, y, gives=(BOOL, ), wanted=lambda way=way, x=x, y=y: way(x, y[:, None]), **old)
    case("Dropout", a, opset=6, is_test=1, wanted=lambda: a)


def shapes():
    x = reals(2, 3, 4)
    case("Constant", gives=(FLOAT, ), value=("tensor", tensor("", FLOAT, [3], [1.0, -2.0, 0.5])))
    case("ConstantOfShape", fixed([2, 3]), gives=(INT64, ), value=("tensor", tensor("", INT64, [1], [7])))
    case("Shape", x, gives=(INT64, ), start=1)
    case("Size", x, gives=(INT64, ))
    case("Reshape", x, fixed([0, -1]))
    case("Flatten", x, axis=2)
    case("Squeeze", reals(3, 1, 2, 1), fixed([1]))
    case("Unsqueeze", x, fixed([0, -1]))
    case("Transpose", x, perm=[2, 0, 1])
    case("Concat", x, reals(2, 1, 4), x, axis=1)
    case("Expand", reals(3, 1), fixed([2, 1, 4]))
    case("Slice", reals(5, 6), fixed([4, 1]), fixed([-9, 5]), fixed([0, 1]), fixed([-2, 1]))
    case("Slice", reals(5, 6), opset=9, starts=[1, -4], ends=[4, 100], axes=[0, 1])
    case("Split", reals(5, 2), fixed([2, 3]), gives=(FLOAT, FLOAT), axis=0)
    case("DepthToSpace", reals(1, 8, 2, 3), blocksize=2, mode="CRD")
    case("SpaceToDepth", reals(1, 2, 4, 6), blocksize=2)
    case("Gather", x, fixed([[2, 0], [-1, 1]]), axis=1)
    case("GatherElements", x, fixed(integers(2, 3, 2, low=-4, high=4)), axis=2)
    case("GatherND", x, fixed([[0, 2], [1, -1]]))
    case("Tile", x, fixed([1, 2, 3]))
    case("Pad", x, fixed([0, 1, 2, 1, 0, 1]), fixed(1.5, "f4"))
    case("Pad", reals(4, 5), fixed([1, 2, 2, 1]), mode="reflect")
    case("Pad", x, opset=10, pads=[0, 1, 2, 1, 0, 1], value=0.5)
    case("Trilu", reals(3, 4), fixed(1), upper=1)
    case("EyeLike", integers(3, 4), k=1, dtype=FLOAT, gives=(FLOAT, ))
    case("OneHot", fixed([2, 0, -1]), fixed(4), fixed([-1, 3], "f4"), gives=(FLOAT, ), axis=0)
    case("Range", fixed(2), fixed(11), fixed(3))
    case("ReverseSequence", reals(4, 3), fixed([2, 4, 1]), time_axis=0, batch_axis=1)
    case("CenterCropPad", reals(4, 7), fixed([6, 3]))


def reductions():
    x = reals(2, 3, 5, low=0.1)
    for name in "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare".split():
        case("Reduce" + name, x, fixed([0, 2]), keepdims=0)
        case("Reduce" + name, x, opset=11, axes=[1])
    case("ReduceMax", integers(3, 4), fixed([1]))
    case("ArgMax", x, gives=(INT64, ), axis=2)
    case("ArgMin", x, gives=(INT64, ), axis=1, keepdims=0)
    equal = np.array([[1, 3, np.nan, 3], [2, 2, 0, 0]], "f4")
    case("ArgMax", equal[1:], gives=(INT64, ), axis=1, select_last_index=1)
    case("ArgMax", equal, gives=(INT64, ), axis=1, wanted=lambda: np.array([[2], [0]]))
    flat = x.reshape(2, 15)  # before opset 13 the axes from `axis` on are one
    share = np.exp(flat) / np.exp(flat).sum(1, keepdims=True)
    for name, way in (("Softmax", share), ("LogSoftmax", np.log(share)), ("Hardmax", flat == flat.max(1, keepdims=True))):
        case(name, x, axis=1)
        case(name, x, opset=11, axis=1, wanted=lambda way=way: way.reshape(2, 3, 5))


def normalizations():
    x, channels = reals(2, 4, 3, 5), [reals(4), reals(4), reals(4), reals(4, low=0.2)]
    case("LayerNormalization", x, reals(3, 5), reals(3, 5), axis=2)
    case("RMSNormalization", x, reals(5))
    case("BatchNormalization", x, *channels)
    m = [item[:, None, None] for item in channels]
    case("BatchNormalization", x, *channels, opset=6, is_test=1, wanted=lambda: (x - m[2]) / np.sqrt(m[3] + 1e-5) * m[0] + m[1])
    case("InstanceNormalization", x, channels[0], channels[1])
    case("GroupNormalization", x, channels[0], channels[1], num_groups=2)
    case("LpNormalization", x, axis=1, p=1, wanted=lambda: x / np.abs(x).sum(1, keepdims=True))
    case("MeanVarianceNormalization", x)
    sums = sum(np.pad(x, ((0, 0), (1, 1), (0, 0), (0, 0)))[:, k:k + 4]**2 for k in range(3))
    case("LRN", x, size=3, alpha=0.02, beta=0.6, bias=1.5, wanted=lambda: x / (1.5 + 0.02 / 3 * sums)**0.6)


def products():
    a, b, c = reals(3, 5), reals(5, 4), reals(4)
    case("MatMul", reals(2, 3, 5), reals(5, 4))
    case("Gemm", reals(5, 3), b, c, transA=1, alpha=0.5, beta=2.0)
    case("Gemm", a, b, c, opset=6, broadcast=1, wanted=lambda: a @ b + c)
    case("Einsum", reals(2, 3, 5), reals(2, 5, 4), equation="bij,bjk->bki")
    case("MatMulInteger", integers(3, 5, kind="u1", low=0), integers(5, 4, kind="i1"), fixed(3, "u1"), fixed(2, "i1"), gives=(INT32, ))
    scale, zero = lambda x: fixed(x, "f4"), lambda x: fixed(x, "u1")
    a8, b8 = integers(3, 5, low=0, high=200, kind="u1"), integers(5, 4, low=0, high=200, kind="u1")
    case("QLinearMatMul", a8, scale(0.1), zero(100), b8, scale(0.05), zero(90), scale(0.4), zero(110))
    codes, scales = integers(6, 2, 8, low=0, high=255, kind="u1"), reals(12, low=0.1, high=0.3)
    rows = reals(3, 32)
    case("MatMulNBits", rows, codes.view(Fixed), scales.view(Fixed), domain="com.microsoft", K=32, N=6, bits=4, block_size=16, wanted=lambda: rows @ (
        (np.stack([codes & 15, codes >> 4], -1).reshape(6, 2, 16).astype("f4") - 8) * scales.reshape(6, 2, 1)).reshape(6, 32).T)


def windows():
    x, image = reals(1, 4, 7, 6), reals(2, 2, 6, 5)
    case("Conv", x, reals(6, 2, 3, 2), reals(6), group=2, strides=[2, 1], pads=[1, 0, 1, 1], dilations=[1, 2])
    case("ConvTranspose", x, reals(4, 3, 3, 2), strides=[2, 1], pads=[1, 0, 0, 1], output_padding=[1, 0])
    case("MaxPool", image, gives=(FLOAT, INT64), kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0])
    case("AveragePool", image, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], count_include_pad=1)
    case("LpPool", image, kernel_shape=[2, 2], p=2)
    case("GlobalAveragePool", image)
    case("GlobalMaxPool", image)
    places = np.array([5, 2, 8, 15], "i8").reshape(1, 1, 2, 2)
    case("MaxUnpool", reals(1, 1, 2, 2), places.view(Fixed), kernel_shape=[2, 2], strides=[2, 2])
    case("ConvInteger", integers(1, 2, 4, 5, low=0, kind="u1"), integers(3, 2, 2, 2, low=0, kind="u1"), fixed(3, "u1"), gives=(INT32, ))
    image8, weights8 = integers(1, 2, 4, 5, low=0, high=200, kind="u1"), integers(3, 2, 2, 2, low=0, high=200, kind="u1")
    case("QLinearConv", image8, fixed(0.1, "f4"), fixed(100, "u1"), weights8, fixed(0.1, "f4"), fixed(90, "u1"), fixed(0.5, "f4"), fixed(100, "u1"))
    case("Resize", image, None, fixed([1, 1, 1.5, 2], "f4"), mode="linear")
    case("Resize", image, None, None, fixed([2, 2, 4, 7]), mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    doubled = lambda: image.repeat(2, 2).repeat(3, 3)
    case("Resize", image, fixed([1, 1, 2, 3], "f4"), opset=10, wanted=doubled)
    case("Upsample", image, fixed([1, 1, 2, 3], "f4"), opset=9, wanted=doubled)
    case("Upsample", image, opset=7, scales=[1.0, 1.0, 2.0, 3.0], wanted=doubled)
    grid = reals(2, 4, 3, 2, low=-1.1, high=1.1)
    case("GridSample", image, grid, mode="linear", padding_mode="border")
    case("AffineGrid", reals(2, 2, 3), fixed([2, 1, 3, 4]))
    case("RoiAlign", image, fixed([[0, 0, 4, 3], [1, 1, 3, 5]], "f4"), fixed([1, 0]), output_height=2, output_width=3)
    case("DeformConv", reals(1, 2, 5, 4), reals(3, 2, 2, 2), reals(1, 8, 4, 3), kernel_shape=[2, 2])
    case("Col2Im", reals(1, 8, 12), fixed([5, 4]), fixed([2, 2]))


def places():
    x, where = reals(3, 5), fixed([[1, 0, 4, -1], [2, 2, 0, 3]])
    source = reals(2, 4)
    case("ScatterElements", x, where, source, axis=1, reduction="add")
    put = x.copy()
    for r in range(2):
        for k in range(4):
            put[r, where[r, k]] = source[r, k]
    case("Scatter", x, where, source, opset=10, axis=1, wanted=lambda: put)
    case("ScatterElements", x, where, source, axis=1, wanted=lambda: put)
    case("ScatterND", reals(4, 3), fixed([[2], [0]]), reals(2, 3), reduction="max")
    case("TensorScatter", reals(2, 5, 3), reals(2, 2, 3), fixed([1, 3]), axis=1)
    case("CumSum", x, fixed(1), reverse=1)
    case("CumProd", x, fixed(0), exclusive=1)
    case("TopK", x, fixed([3]), gives=(FLOAT, INT64), largest=0)
    order = np.argsort(-x, 1, kind="stable")[:, :2]
    case("TopK", x, gives=(FLOAT, INT64), opset=9, k=2, wanted=lambda: (np.take_along_axis(x, order, 1), order))
    case("NonZero", integers(3, 4, low=0, high=2), gives=(INT64, ))
    case("Compress", x, fixed([True, False, True], "?"), axis=0)
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0, 2.1, 1, 3.2]]], "f4")
    case("NonMaxSuppression", boxes, np.array([[[0.9, 0.7, 0.5, 0.8]]], "f4"), fixed([3]), fixed([0.5], "f4"), gives=(INT64, ))
    case("Unique", integers(9, low=0, high=4), gives=(INT64, INT64, INT64, INT64))


def signals():
    case("DFT", reals(1, 6, 1), None, fixed(1))
    case("DFT", reals(1, 5, 2), opset=19, axis=1, inverse=1)
    case("STFT", reals(1, 12, 1), fixed(3), reals(6), fixed(6))
    for name in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        case(name, fixed(7), gives=(FLOAT, ), periodic=0)
    case("MelWeightMatrix", fixed(4), fixed(16), fixed(8000), fixed(0.0, "f4"), fixed(4000.0, "f4"), gives=(FLOAT, ))


def networks():
    q, k, v = reals(1, 2, 3, 4), reals(1, 2, 5, 4), reals(1, 2, 5, 4)
    case("Attention", q, k, v, reals(3, 5))
    case("RotaryEmbedding", q, reals(6, 2), reals(6, 2), fixed([[0, 2, 5]]))
    case("FlexAttention", q, k, v, domain="ai.onnx.preview")
    case("LinearAttention", reals(1, 3, 8), reals(1, 3, 8), reals(1, 3, 8), q_num_heads=2, kv_num_heads=2, update_rule="linear", gives=(FLOAT, FLOAT))
    case("CausalConvWithState", reals(1, 3, 6), reals(3, 1, 3), reals(3), gives=(FLOAT, FLOAT))
    case("NegativeLogLikelihoodLoss", reals(4, 5), fixed([1, 0, 4, 2]), reduction="sum")
    case("SoftmaxCrossEntropyLoss", reals(4, 5), fixed([1, 0, 4, 2]), gives=(FLOAT, FLOAT))
    train = dict(domain="ai.onnx.preview.training")
    rate, step, w0 = fixed(0.1, "f4"), fixed(2), reals(5)
    case("Adagrad", rate, step, w0, reals(5), reals(5, low=0), gives=(FLOAT, FLOAT), decay_factor=0.1, norm_coefficient=0.01, epsilon=1e-3, **train)
    case("Adam", rate, step, w0, reals(5), reals(5), reals(5, low=0), gives=(FLOAT, FLOAT, FLOAT), alpha=0.9, beta=0.95, norm_coefficient=0.01, epsilon=1e-3, **train)
    case("Momentum", rate, step, w0, reals(5), reals(5), gives=(FLOAT, FLOAT), alpha=0.9, beta=0.8, mode="standard", norm_coefficient=0.01, **train)
    x = reals(4, 2, 3)
    for name, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        case(name, x, reals(1, gates * 5, 3), reals(1, gates * 5, 5), reals(1, gates * 10), gives=(FLOAT, FLOAT), hidden_size=5)
    case("QuantizeLinear", reals(3, 4), fixed(0.02, "f4"), fixed(10, "u1"), gives=(UINT8, ))
    case("DequantizeLinear", integers(3, 4, kind="i1"), fixed([0.1, 0.2, 0.3], "f4"), fixed([1, 0, -2], "i1"), gives=(FLOAT, ), axis=0)
    case("DynamicQuantizeLinear", reals(3, 4), gives=(UINT8, FLOAT, UINT8))


def inner(nodes, inputs, outputs):
    """A graph of an attribute. {x}: value x of the case around it."""
    def of(number):
        made = [node(operator, [numbered(number, name[1:-1]) if name.startswith("{") else name for name in ins], outs) for operator, ins, outs in nodes]
        return "graph", graph(made, [value(*item) for item in inputs], [value(*item) for item in outputs])
    return of


def control():
    x = reals(6)
    negated = inner([("Neg", ["{x}"], ["t"])], [], [("t", FLOAT, [6])])
    absolute = inner([("Abs", ["{x}"], ["e"])], [], [("e", FLOAT, [6])])
    program([("ReduceSum", ["x"], ["sum"], {"keepdims": 0}), ("Less", ["sum", "zero"], ["is"], {}),
             ("If", ["is"], ["y"], dict(then_branch=negated, else_branch=absolute))], {"x": x, "zero": fixed(0, "f4")}, {"y": FLOAT})
    body = inner([("Add", ["v", "{x}"], ["n"]), ("Identity", ["go"], ["on"]), ("Mul", ["n", "n"], ["row"])],
                 [("i", INT64, []), ("go", BOOL, []), ("v", FLOAT, [6])], [("on", BOOL, []), ("n", FLOAT, [6]), ("row", FLOAT, [6])])
    program([("Loop", ["most", "yes", "x"], ["last", "rows"], dict(body=body))], {"x": x, "most": fixed(3), "yes": fixed(True, "?")},
            {"last": FLOAT, "rows": FLOAT})
    step = inner([("Add", ["s", "r"], ["n"]), ("Neg", ["n"], ["out"])], [("s", FLOAT, [3]), ("r", FLOAT, [3])],
                 [("n", FLOAT, [3]), ("out", FLOAT, [3])])
    program([("Scan", ["s", "rows"], ["last", "all"], dict(num_scan_inputs=1, body=step))], {"s": reals(3), "rows": reals(4, 3)},
            {"last": FLOAT, "all": FLOAT})
    square = inner([("Mul", ["e", "e"], ["f"])], [("e", FLOAT, [2, 3])], [("f", FLOAT, [2, 3])])
    program([("SequenceEmpty", [], ["none"], dict(dtype=FLOAT)), ("SequenceInsert", ["none", "a"], ["one"], {}),
             ("SequenceInsert", ["one", "b", "zero"], ["two"], {}), ("SequenceConstruct", ["a", "b", "a"], ["three"], {}),
             ("SequenceErase", ["three", "zero"], ["rest"], {}), ("SequenceMap", ["rest"], ["squares"], dict(body=square)),
             ("SequenceAt", ["squares", "zero"], ["first"], {}), ("SequenceLength", ["two"], ["count"], {}),
             ("ConcatFromSequence", ["two"], ["joined"], dict(axis=1)), ("SplitToSequence", ["a"], ["parts"], dict(axis=1, keepdims=1)),
             ("SequenceAt", ["parts", "last"], ["part"], {})],
            {"a": reals(2, 3), "b": reals(2, 3), "zero": fixed(0), "last": fixed(1)}, {"first": FLOAT, "count": INT64, "joined": FLOAT, "part": FLOAT})
    a = reals(2, 3)
    program([("Optional", ["a"], ["maybe"], {}), ("OptionalHasElement", ["maybe"], ["has"], {}), ("OptionalGetElement", ["maybe"], ["got"], {})],
            {"a": a}, {"has": BOOL, "got": FLOAT}, wanted=lambda: (np.array(True), a))


def trees():
    """Three trees of all modes; sets of members; nan goes to the right where the node says so."""
    numbers = [0.3, -0.4, 1.1, 0.0, -1.2, 0.7, 0.5]
    return {
        "tree_roots": [0, 3, 5], "nodes_featureids": [0, 2, 1, 1, 0, 2, 2],
        "nodes_modes": ("tensor", tensor("modes", UINT8, [7], [0, 1, 6, 3, 6, 5, 2])),
        "nodes_splits": ("tensor", tensor("splits", FLOAT, [7], numbers)),
        "nodes_truenodeids": [1, 0, 2, 4, 4, 6, 7], "nodes_trueleafs": [0, 1, 1, 0, 1, 0, 1],
        "nodes_falsenodeids": [2, 1, 3, 5, 6, 8, 0], "nodes_falseleafs": [0, 1, 1, 1, 1, 1, 1],
        "nodes_missing_value_tracks_true": [1, 0, 0, 1, 0, 0, 0],
        "membership_values": ("tensor", tensor("members", FLOAT, [6], [0.5, -0.25, 0.125, float("nan"), 1.5, float("nan")])),
        "leaf_targetids": [0, 1, 2, 0, 1, 2, 0, 1, 2], "n_targets": 3,
        "leaf_weights": ("tensor", tensor("weights", FLOAT, [9], [0.5, -1.25, 2.0, 3.5, -0.75, 4.0, 1.5, 0.25, -2.5])),
    }  # yapf: disable


def walked(x, aggregate):
    """What those trees give, by hand."""
    def second(r):
        return 2 if r[1] in (0.5, -0.25, 0.125) else 3

    def leaves(r):
        first = (0 if r[2] < np.float32(-0.4) else 1) if r[0] <= np.float32(0.3) or np.isnan(r[0]) else second(r)
        middle = (4 if r[0] == 1.5 else 6) if r[1] > 0 or np.isnan(r[1]) else 5
        last = (7 if r[2] >= 0.5 else 0) if r[2] != np.float32(0.7) else 8
        return first, middle, last

    weights = [0.5, -1.25, 2.0, 3.5, -0.75, 4.0, 1.5, 0.25, -2.5]
    found = [[[weights[leaf] for leaf in leaves(r) if leaf % 3 == target] for target in range(3)] for r in x]
    return np.array([[aggregate(of) if of else 0.0 for of in row] for row in found])


def softmax(x):
    return np.exp(x) / np.exp(x).sum(1, keepdims=True)


def learned():
    case("Det", reals(3, 5, 5))
    case("Det", np.array([[[0, 2, 1], [0, 0, 3], [4, 5, 6]], [[1, 2, 3], [2, 4, 6], [0, 1, 5]]], "f4"))
    learning, x = dict(domain="ai.onnx.ml"), reals(9, 3)
    x[1, 0], x[2, 1], x[3, 2], x[4, 1], x[5, 0] = np.nan, np.nan, np.nan, -0.25, 1.5
    x[6:, 1] = 0.125
    case("Binarizer", reals(7), threshold=0.3, **learning)
    case("Binarizer", integers(7), threshold=-1.5, **learning)
    case("ArrayFeatureExtractor", reals(4, 6), fixed([[5, 0, 2]]), **learning)
    for kind, wanted in enumerate((lambda: walked(x, sum) / 3, lambda: softmax(walked(x, sum)), lambda: walked(x, min), lambda: walked(x, max))):
        case("TreeEnsemble", x, aggregate_function=kind, post_transform=int(kind == 1), wanted=wanted, **trees(), **learning)
    grams = dict(pool_int64s=[2, 3, 5, 4, 5, 6, 7, 8, 6, 7], ngram_counts=[0, 4], ngram_indexes=[0, 1, 2, 3, 4, 5, 6], max_gram_length=2, gives=(FLOAT, ))
    words = np.array([[1, 5, 3, 6, 7, 5, 6], [8, 7, 6, 7, 2, 2, 2]])
    case("TfIdfVectorizer", words, mode="TF", min_gram_length=2, max_skip_count=0, **grams)
    case("TfIdfVectorizer", words, mode="TFIDF", min_gram_length=1, max_skip_count=2, weights=[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], **grams)
    case("TfIdfVectorizer", words[0], mode="IDF", min_gram_length=1, max_skip_count=1, weights=[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], **grams)
    bits = truths(5)
    case("BitCast", bits, to=UINT8, gives=(UINT8, ), wanted=lambda: bits.astype("u1"))
    for mode, up in (("up", 1), ("down", 0)):
        numbers = np.array([0.3, 1, 1.5, 3, 5e-39, 6e4, 2.0**-20, np.nan], "f4")
        powers = np.where(numbers > 0, 2.0**(np.floor(np.log2(np.maximum(numbers, 2.0**-127))) + up * (np.log2(numbers) % 1 > 0)), numbers)
        powers[4] = 2.0**-127 if not up else 2.0**-126
        program([("Cast", ["i0"], ["power"], {"to": 24, "round_mode": mode}), ("Cast", ["power"], ["o0"], {"to": FLOAT})], {"i0": numbers}, {"o0": FLOAT},
                wanted=lambda powers=powers: powers.astype("f4"))


def numbered(number, name):
    return f"c{number}_{name}" if name else ""


for part in (elementwise, shapes, reductions, normalizations, products, windows, places, signals, networks, control, learned):
    part()
