"""Kernels written in Python (docs/python-kernels.md): what the package tessera shows of them."""
from . import language, walk
from .autotune import autotune
from .builder import bf16, bool_, f8e4m3fn, f8e5m2, f8e8m0fnu, f16, f32, f64, i8, i16, i32, i64, index
from .cutile import from_cutile
from .errors import CompileError
from .kernel import func, kernel
from .launch import Array, Constant, Sparse
from .triton import from_triton

PUBLIC = {
    "Array": Array, "autotune": autotune, "CompileError": CompileError, "Constant": Constant, "from_cutile": from_cutile,
    "from_triton": from_triton, "func": func, "kernel": kernel, "Sparse": Sparse, "bf16": bf16, "bool_": bool_,
    "f8e4m3fn": f8e4m3fn, "f8e5m2": f8e5m2, "f8e8m0fnu": f8e8m0fnu, "f16": f16, "f32": f32, "f64": f64, "i8": i8, "i16": i16, "i32": i32,
    "i64": i64, "index": index, **{name: function for name, function in language.FUNCTIONS.items() if name != "load"}
}  # yapf: disable
_ = walk
