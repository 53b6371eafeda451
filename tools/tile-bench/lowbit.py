"""Products by weights of few bits, in the form in which exporters write them, beside onnxruntime's MatMulNBits and OpenBLAS on f32
weights. Weights are rows of n, groups of k share a scale, the zero is the middle of the codes; "nf4" has a table instead."""
import math

import numpy as np

NF4 = np.array([-1, -.6961928, -.52507305, -.3949175, -.28444138, -.18477343, -.09105004, 0, .0795803, .1609302, .2461123,
                .33791524, .44070983, .562617, .72295684, 1], "f4")
SHUT = "[[0], [1, 2]]"


def bits_of(bits):
    return 4 if bits == "nf4" else bits


class lowbit:
    """C[m,n] = A[m,k] W[n,k], W of codes of `bits` bits."""

    @staticmethod
    def codes(n, k, bits):
        """The text that unpacks %p, and the value that it makes."""
        width = bits_of(bits)
        per, whole = 8 // width, f"tensor<{n}x{k}xi8>"
        codes, text = "%p", ""
        if per > 1:
            parts = f"tensor<{n}x{k // per}x{per}xi8>"
            text = f"""
  %shifts = arith.constant dense<[{', '.join(str(i * width) for i in range(per))}]> : tensor<{per}xi8>
  %mask = arith.constant {2 ** width - 1} : i8
  %ue = tensor.empty() : {parts}
  %u = linalg.generic {{indexing_maps = [affine_map<(n, k, t) -> (n, k)>, affine_map<(n, k, t) -> (t)>, affine_map<(n, k, t) -> (n, k, t)>],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%p, %shifts : tensor<{n}x{k // per}xi8>, tensor<{per}xi8>) outs(%ue : {parts}) {{
  ^bb0(%a: i8, %t: i8, %o: i8):
    %v = arith.shrui %a, %t : i8
    %vm = arith.andi %v, %mask : i8
    linalg.yield %vm : i8
  }} -> {parts}
  %uc = tensor.collapse_shape %u {SHUT} : {parts} into {whole}"""
            codes = "%uc"
        return text, codes

    @staticmethod
    def program(m, n, k, bits, group=128):
        width, groups = bits_of(bits), k // group
        per, whole = 8 // width, f"tensor<{n}x{k}xi8>"
        text, codes = lowbit.codes(n, k, bits)
        convert = (f"""    %i = arith.index_castui %a : i8 to index
    %d = tensor.extract %table[%i] : tensor<16xf32>""" if bits == "nf4" else """    %f = arith.uitofp %a : i8 to f32
    %d = arith.subf %f, %middle : f32""")
        cut = f"tensor<{n}x{groups}x{group}x"
        return f"""func.func @main(%x: tensor<{m}x{k}xf32>, %p: tensor<{n}x{k // per}xi8>, %s: tensor<{n}x{groups}xf32>) -> tensor<{m}x{n}xf32> {{{text}
  %middle = arith.constant {2.0 ** (width - 1)} : f32
  %table = arith.constant dense<[{', '.join('%.9e' % v for v in NF4)}]> : tensor<16xf32>
  %q = tensor.expand_shape {codes} {SHUT} output_shape [{n}, {groups}, {group}] : {whole} into {cut}i8>
  %we = tensor.empty() : {cut}f32>
  %w = linalg.generic {{indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%q, %s : {cut}i8>, tensor<{n}x{groups}xf32>) outs(%we : {cut}f32>) {{
  ^bb0(%a: i8, %b: f32, %o: f32):
{convert}
    %y = arith.mulf %d, %b : f32
    linalg.yield %y : f32
  }} -> {cut}f32>
  %b = tensor.collapse_shape %w {SHUT} : {cut}f32> into tensor<{n}x{k}xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %b : tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""

    peer_program = staticmethod(lambda **arguments: None)

    @staticmethod
    def arrays(random, m, n, k, bits, group=128):
        per = 8 // bits_of(bits)
        return [random.uniform(-1, 1, (m, k)).astype("f4"), random.integers(-128, 128, (n, k // per)).astype("i1"),
                random.uniform(.01, .1, (n, k // group)).astype("f4")]

    @staticmethod
    def weights(arrays, m, n, k, bits, group=128):
        """n × k, in 64 bits."""
        width = bits_of(bits)
        shifts = np.arange(8 // width) * width
        codes = (arrays[1].view("u1")[:, :, None] >> shifts & 2 ** width - 1).reshape(n, k)
        numbers = NF4[codes].astype("f8") if bits == "nf4" else codes - 2.0 ** (width - 1)
        return numbers * np.repeat(arrays[2].astype("f8"), group, 1)

    @staticmethod
    def exact(arrays, **arguments):
        w, x = lowbit.weights(arrays, **arguments), arrays[0].astype("f8")
        return x @ w.T, abs(x) @ abs(w).T * 2 * math.sqrt(arguments["k"])

    @staticmethod
    def dense(arrays, **arguments):
        return [arrays[0], np.ascontiguousarray(lowbit.weights(arrays, **arguments).T.astype("f4"))]

    @staticmethod
    def work(m, n, k, bits, group=128):
        return 2 * m * n * k, n * k * bits_of(bits) // 8 + 4 * (n * k // group + m * k + m * n)

    @staticmethod
    def torch(torch, x, **arguments):
        return None

    @staticmethod
    def matmul_n_bits(arrays, threads, m, n, k, bits, group=128, level=1):
        """onnxruntime's node, its rows in f32 (level 1) or i8 (level 4); null where it has none."""
        if bits not in (2, 4, 8):
            return None
        import onnx
        import onnxruntime
        packed = arrays[1].view("u1").reshape(n, k // group, group * bits // 8)
        tensors = [onnx.numpy_helper.from_array(packed, "b"), onnx.numpy_helper.from_array(arrays[2].reshape(-1), "s")]
        node = onnx.helper.make_node("MatMulNBits", ["x", "b", "s"], ["y"], domain="com.microsoft", K=k, N=n, bits=bits,
                                     block_size=group, accuracy_level=level)
        values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in (("x", [m, k]), ("y", [m, n]))]
        graph = onnx.helper.make_graph([node], "g", values[:1], values[1:], tensors)
        model = onnx.helper.make_model(graph, ir_version=10, opset_imports=[onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, {"x": arrays[0]})[0]


class lowbit_rows(lowbit):
    """The same with rows of i8, as tile-quantize-activations writes it: a step for each row and group, sums of integers."""

    @staticmethod
    def program(m, n, k, bits, group=128):
        width, groups = bits_of(bits), k // group
        per, whole = 8 // width, f"tensor<{n}x{k}xi8>"
        text, codes = lowbit.codes(n, k, bits)
        x, step, q8, w16 = f"tensor<{m}x{groups}x{group}xf32>", f"tensor<{m}x{groups}xf32>", f"tensor<{m}x{groups}x{group}xi8>", f"tensor<{n}x{groups}x{group}xi16>"
        dots, cut, out = f"tensor<{m}x{n}x{groups}xi32>", f"tensor<{n}x{groups}x{group}xi8>", f"tensor<{m}x{n}xf32>"
        row, cell = "affine_map<(m, g, k) -> (m, g, k)>", "affine_map<(m, g, k) -> (m, g)>"
        return f"""func.func @main(%x: tensor<{m}x{k}xf32>, %p: tensor<{n}x{k // per}xi8>, %s: tensor<{n}x{groups}xf32>) -> {out} {{{text}
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %most = arith.constant 127.0 : f32
  %least = arith.constant -127.0 : f32
  %small = arith.constant {2.0 ** -119:.9e} : f32
  %middle = arith.constant {2 ** (width - 1)} : i16
  %q = tensor.expand_shape {codes} {SHUT} output_shape [{n}, {groups}, {group}] : {whole} into {cut}
  %xg = tensor.expand_shape %x {SHUT} output_shape [{m}, {groups}, {group}] : tensor<{m}x{k}xf32> into {x}
  %le = tensor.empty() : {step}
  %lf = linalg.fill ins(%zero : f32) outs(%le : {step}) -> {step}
  %l = linalg.generic {{indexing_maps = [{row}, {cell}], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%xg : {x}) outs(%lf : {step}) {{
  ^bb0(%a: f32, %o: f32):
    %v = math.absf %a : f32
    %y = arith.maximumf %o, %v : f32
    linalg.yield %y : f32
  }} -> {step}
  %d = linalg.generic {{indexing_maps = [affine_map<(m, g) -> (m, g)>, affine_map<(m, g) -> (m, g)>], iterator_types = ["parallel", "parallel"]}} ins(%l : {step}) outs(%le : {step}) {{
  ^bb0(%a: f32, %o: f32):
    %y = arith.divf %a, %most : f32
    linalg.yield %y : f32
  }} -> {step}
  %qe = tensor.empty() : {q8}
  %r8 = linalg.generic {{indexing_maps = [{row}, {cell}, {row}], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%xg, %l : {x}, {step}) outs(%qe : {q8}) {{
  ^bb0(%a: f32, %b: f32, %o: i8):
    %t = arith.cmpf oge, %b, %small : f32
    %i = arith.divf %most, %b : f32
    %j = arith.select %t, %i, %zero : f32
    %v = arith.mulf %a, %j : f32
    %w = math.roundeven %v : f32
    %g = arith.maxnumf %w, %least : f32
    %h = arith.minnumf %g, %most : f32
    %y = arith.fptosi %h : f32 to i8
    linalg.yield %y : i8
  }} -> {q8}
  %we = tensor.empty() : {w16}
  %w = linalg.generic {{indexing_maps = [{row}, {row}], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%q : {cut}) outs(%we : {w16}) {{
  ^bb0(%a: i8, %o: i16):
    %v = arith.extui %a : i8 to i16
    %y = arith.subi %v, %middle : i16
    linalg.yield %y : i16
  }} -> {w16}
  %ie = tensor.empty() : {dots}
  %if = linalg.fill ins(%none : i32) outs(%ie : {dots}) -> {dots}
  %i = linalg.generic {{indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (m, n, g)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%r8, %w : {q8}, {w16}) outs(%if : {dots}) {{
  ^bb0(%a: i8, %b: i16, %o: i32):
    %v = arith.extsi %a : i8 to i32
    %y = arith.extsi %b : i16 to i32
    %t = arith.muli %v, %y : i32
    %z = arith.addi %o, %t : i32
    linalg.yield %z : i32
  }} -> {dots}
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n, g) -> (m, n, g)>, affine_map<(m, n, g) -> (n, g)>, affine_map<(m, n, g) -> (m, g)>, affine_map<(m, n, g) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%i, %s, %d : {dots}, tensor<{n}x{groups}xf32>, {step}) outs(%f : {out}) {{
  ^bb0(%a: i32, %b: f32, %c: f32, %o: f32):
    %v = arith.sitofp %a : i32 to f32
    %y = arith.mulf %v, %b : f32
    %t = arith.mulf %y, %c : f32
    %z = arith.addf %o, %t : f32
    linalg.yield %z : f32
  }} -> {out}
  return %r : {out}
}}
"""

    @staticmethod
    def exact(arrays, m, n, k, bits, group=128):
        """Whoever rounds rows to i8 is off by at most half a step for each element."""
        w, x = lowbit.weights(arrays, m, n, k, bits, group), arrays[0].astype("f8")
        half = np.repeat(abs(x).reshape(m, -1, group).max(2), group, 1) / 254
        return x @ w.T, half @ abs(w).T * 2.0 ** 24 + abs(x) @ abs(w).T * 2 * math.sqrt(k)


class MatMulNBits:
    """A contender of tile-bench (worker.py)."""

    def __init__(self, threads, paths):
        import onnx  # noqa: F401
        import onnxruntime
        self.threads, self.version = threads, f"onnxruntime {onnxruntime.__version__}"

    def prepare(self, order, arrays):
        level = {"lowbit": 1, "lowbit_rows": 4}.get(order["operator"])
        call = level and lowbit.matmul_n_bits(arrays, self.threads, level=level, **order["arguments"])
        return call and (call, call)


TABLE = [("lowbit", dict(m=m, n=4096, k=4096, bits=bits)) for bits in (4, "nf4", 2, 8) for m in (1, 4, 16, 128)] + [
    ("lowbit_rows", dict(m=m, n=4096, k=4096, bits=bits)) for bits in (4, 2, 1, 8) for m in (1, 4, 16, 128)]
TINY = [("lowbit", dict(m=m, n=17, k=64, bits=bits, group=32)) for m, bits in ((1, 4), (3, "nf4"), (5, 2), (2, 8))] + [
    ("lowbit_rows", dict(m=m, n=17, k=128, bits=bits, group=32)) for m, bits in ((1, 4), (9, 2))]
