"""onnxruntime as a contender of the tables: operators as ONNX models of one to three nodes, whose inputs are the operator's
arrays. A layout that ONNX does not have (channels last) is changed beforehand, and the result's back behind the clock."""
import numpy as np

OPSET = 20
EPSILON = 1e-5


def product(x, dtype="f32", sums=None, **_):
    if dtype == "bf16" or (dtype == "f16" and sums is None):  # none of the first; f16 sums in f16
        return None
    return [("MatMulInteger" if dtype == "i8" else "MatMul", "ab", {})], x, None


def image(x, stride=1, weights=(3, 2, 0, 1), groups=1, **_):
    arrays = [np.ascontiguousarray(x[0].transpose(0, 3, 1, 2)), np.ascontiguousarray(np.atleast_3d(x[1]).transpose(weights))]
    return [("Conv", "ab", dict(strides=[stride, stride], group=groups))], arrays, lambda y: y.transpose(0, 2, 3, 1)


def depthwise(x, c, stride=1, **_):
    return image([x[0], x[1][:, :, None, :]], stride, (3, 2, 0, 1), c)


def one(kind, inputs="a", **attributes):
    return lambda x, **_: ([(kind, inputs, attributes)], x, None)


def function(x, of, **_):
    return {"gelu": [("Gelu", "a", {})], "exp": [("Exp", "a", {})], "tanh": [("Tanh", "a", {})],
            "silu": [("Sigmoid", "a", {}), ("Mul", "a#", {})]}[of], x, None


def reduction(kind, axis):
    return lambda x, **_: ([(kind, "ab", dict(keepdims=0))], [x[0], np.array([axis])], None)


FORMS = {
    "gemm": product, "gemm_weights": product, "batched": product,
    "gemm_bias_relu": lambda x, **_: ([("MatMul", "ab", {}), ("Add", "#c", {}), ("Relu", "#", {})], x, None),
    "conv": image, "depthwise": depthwise,
    "conv_channels_first": lambda x, stride=1, **_: ([("Conv", "ab", dict(strides=[stride, stride]))], x, None),
    "row_softmax": one("Softmax", axis=1), "layernorm": one("LayerNormalization", "abc", axis=1, epsilon=EPSILON),
    "add": one("Add", "ab"), "function": function, "transpose": one("Transpose"),
    "row_sum": reduction("ReduceSum", 1), "column_sum": reduction("ReduceSum", 0), "row_max": reduction("ReduceMax", 1),
}


def model(onnx, nodes, arrays):
    """The nodes one behind the other. An input "a" is the first array, and "#" what the node before gives."""
    helper = onnx.helper
    kinds = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in arrays]
    made = [helper.make_node(kind, [f"y{i - 1}" if name == "#" else name for name in inputs], [f"y{i}"], **attributes)
            for i, (kind, inputs, attributes) in enumerate(nodes)]
    result = onnx.TensorProto.INT32 if nodes[0][0] == "MatMulInteger" else kinds[0]
    graph = helper.make_graph(made, "operator", [helper.make_tensor_value_info("abc"[i], kind, array.shape)
                                                 for i, (kind, array) in enumerate(zip(kinds, arrays))],
                              [helper.make_tensor_value_info(f"y{len(nodes) - 1}", result, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


class Onnxruntime:
    """A contender of tile-bench (worker.py)."""

    def __init__(self, threads, paths):
        import onnx
        import onnxruntime
        self.onnx, self.library, self.threads = onnx, onnxruntime, threads
        self.version = onnxruntime.__version__

    def prepare(self, order, arrays):
        form = FORMS.get(order["operator"])
        form = form and form(arrays, **order["arguments"])
        if not form:
            return None
        nodes, arrays, finish = form
        options = self.library.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        session = self.library.InferenceSession(model(self.onnx, nodes, arrays).SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in zip("abc", arrays):
            binding.bind_cpu_input(name, array)
        output = session.get_outputs()[0].name
        binding.bind_output(output)
        session.run_with_iobinding(binding)
        kept = binding.get_outputs()[0]  # written again by each call
        binding.bind_ortvalue_output(output, kept)

        def result():
            session.run_with_iobinding(binding)
            return finish(kept.numpy()) if finish else kept.numpy()
        return (lambda: session.run_with_iobinding(binding)), result
