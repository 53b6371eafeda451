"""Writes the TTIR of kernels.py and operations.py into this folder: python make.py. It needs the package triton (3.9), and no GPU."""
import os
import re

import kernels
import operations
import triton
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = GPUTarget("cuda", 80, 32)


def ttir(kernel, signature, constants):
    attributes = {(i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind[0] == "*"}
    source = ASTSource(kernel, {**signature, **dict.fromkeys(constants, "constexpr")}, constants, attributes)
    backend = triton.compiler.make_backend(TARGET)
    options, context, stages = backend.parse_options({}), ir.context(), {}
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(TARGET, options, backend.get_codegen_implementation(options), backend.get_module_map(),
                            context)
    backend.add_stages(stages, options, source.language)
    return str(stages["ttir"](module, {}))


def write(name, pointers, scalars, **constants):
    signature = {**{p: kind for kind, names in pointers.items() for p in names.split()},
                 **{s: kind for kind, names in scalars.items() for s in names.split()}}
    kernel = getattr(kernels, name, None) or getattr(operations, name)
    signature = {argument: signature[argument] for argument in kernel.arg_names if argument in signature}
    text = ttir(kernel, signature, constants)
    text = re.sub(r'loc\("[^"]*/(triton/language/[^"]*|kernels\.py|operations\.py)"', r'loc("\1"', text)
    with open(os.path.join(HERE, f"{name}.ttir"), "w", encoding="utf-8") as file:
        file.write(text)


write("add", {"*fp32": "x y out"}, {"i32": "n"}, BLOCK=1024)
write("softmax", {"*fp32": "out x"}, {"i32": "stride_x stride_out rows columns"}, BLOCK=1024)
write("layernorm", {"*fp16": "x y", "*fp32": "w b mean_out rstd_out"}, {"i32": "stride n", "fp32": "eps"}, BLOCK=256)
write("matmul", {"*fp16": "a b c"}, {"i32": "M N K stride_am stride_ak stride_bk stride_bn stride_cm stride_cn"},
      BM=64, BN=64, BK=32, GROUP=8, ACTIVATION="leaky_relu")
write("attention", {"*fp16": "q k v out"}, {"fp32": "scale", "i32": "stride_h stride_m n heads"}, CAUSAL=True, D=64,
      BM=64, BN=32)
write("elementwise", {"*fp32": "x y out", "*i32": "i integers", "*fp16": "halves"}, {"i32": "n"}, BLOCK=128)
write("reductions", {"*fp32": "x out", "*i32": "i integers"}, {}, BLOCK=64, ROWS=8)
write("shapes", {"*fp32": "x out", "*i32": "i integers"}, {}, BLOCK=32)
write("atomics", {"*i32": "x counts ticket", "*fp32": "sums"}, {"i32": "n"}, BLOCK=64)
write("descriptors", {"*fp32": "x out", "*i32": "rows"}, {"i32": "M N"}, BM=8, BN=16)
write("control", {"*fp32": "x out"}, {"i32": "n limit"}, BLOCK=64)
