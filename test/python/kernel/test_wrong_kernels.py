"""Kernels that are wrong: each is refused at its line and column, with a sentence. `«` marks the place."""
import importlib.util
import re

import numpy as np
import pytest

import tessera as ts

HEAD = '''import math
import numpy as np
import tessera as ts

TABLE, ARRAY, THREE = {{1: 2}}, np.zeros(3), 3

@ts.func
def twice(a):
    return a + a

@ts.func
def again(a):
    return again(a)

@ts.func
def adds_rows(a, b):
    return a + b

def plain(a):
    return a

@ts.kernel
def other(x: ts.Array[ts.f32, 4]):
    pass

@ts.kernel
def wrong(x: ts.Array[ts.f32, "M", "N"], y: ts.Array[ts.f32, "M", "N"], ids: ts.Array[ts.i32, "M"], n: ts.i32, W: ts.Constant):
    v = ts.load(x, (0, 0), (4, 8))
    i = ts.program_id(0)
    r = ts.load(ids, 0, 4)
{body}
'''

CASES = {
    # names
    "unknown name": ("w = v + «missing", "'missing' is not defined"),
    "unknown function of tessera": ("w = «ts.expp(v)", "module 'tessera' has no 'expp'"),
    "unknown attribute of a tile": ("w = «v.sizes", "4x8xf32 has no 'sizes'"),
    "unknown attribute of an array": ("w = «x.strides", "array x of .* has no 'strides'"),
    "a dictionary outside": ("w = v + «TABLE", "TABLE is a dict: a kernel reads numbers"),
    "an array outside": ("w = v + «ARRAY", "ARRAY is a ndarray.*arrays are its parameters"),
    "used before it is assigned": ("w = «late\nlate = v", "'late' is not defined"),
    "assigned on one way": ("if i > 0:\n    w = v\nts.store(y, (0, 0), «w)", "'w' is assigned on one way of the if only"),
    "assigned in a loop only": ("for k in range(n):\n    w = v\nts.store(y, (0, 0), «w)", "'w' is assigned in a loop only"),
    "the counter after the loop": ("for k in range(n):\n    pass\nw = «k", "'k' counts the turns of a loop"),
    # types
    "two types": ("w = «v + r[:, None]", r"\+: the operands are of types f32 and i32; convert one with \.astype"),
    "index and i32": ("w = «i + n", "of types index and i32"),
    "a float for an integer": ("w = «r + 1.5", r"1\.5 is not an integer, as an element of type i32 must be"),
    "an integer that does not fit": ("w = «r + 5000000000", "5000000000 does not fit i32, which holds -2147483648 to 2147483647"),
    "a float that does not fit": ("w = «v.astype(ts.f16) * 1e6", r"1000000\.0 does not fit f16, whose largest number is 65504"),
    "division of integers": ("w = «r / 2", r"/ of i32 is not defined: write // for the floor"),
    "division by zero": ("w = «r // 0", "//: the divisor is 0"),
    "a constant division by zero": ("w = «1 // 0", "//: integer division or modulo by zero"),
    "bits of floats": ("w = «v & v", "& of f32 is not defined: bits belong to integers"),
    "invert of floats": ("w = «~v", "~ of f32 is not defined"),
    "exp of integers": ("w = «ts.exp(r)", "ts.exp: exp of 4xi32: expected a float type"),
    "where of a number": ("w = «ts.where(v, v, 0)", "the condition is 4x8xf32, expected elements of type i1"),
    "an assertion of numbers": ("assert «v, 'no'", "the condition is 4x8xf32, expected elements of type i1"),
    "an unknown type": ("w = «v.astype('f4')", "a type is 'f4', expected one such as tessera.f32"),
    "a text in arithmetic": ("w = «v + 'a'", r"\+: an operand is 'a', expected a tile or a number"),
    "an array in arithmetic": ("w = «x + 1", r"\+ of array x of \?x\?xf32: read a tile of it by tessera.load"),
    "an array and a tile": ("w = «v + x", r"\+: an operand is array x"),
    "None in arithmetic": ("w = «v * None", r"\*: an operand is None"),
    "sum of bools": ("w = «ts.sum(v > 0)", "sum of i1: convert to an integer type first"),
    "negative of bools": ("w = «-(v > 0)", "- of i1 is not defined"),
    "sqrt by math": ("w = «math.sqrt(v)", r"math\.sqrt of what is known only when the kernel runs: use tessera\.sqrt"),
    "a power of integers": ("w = «r ** 20", r"\*\* of i32 needs a constant exponent"),
    # and, or, not, truth
    "and of tiles": ("w = («v > 0) and (v < 1)", "'and' of 4x8xi1 has no meaning element by element: write &"),
    "or of tiles": ("w = («v > 0) or (v < 1)", r"'or' of 4x8xi1 has no meaning element by element: write \|"),
    "not of a tile": ("w = «not (v > 0)", "'not' of 4x8xi1 has no meaning element by element: write ~"),
    "if of a tile": ("if «v > 0:\n    pass", "the condition is 4x8xi1, expected a scalar: choose elements by tessera.where"),
    "while of a tile": ("while «v > 0:\n    v = v - 1", "the condition is 4x8xi1, expected a scalar"),
    "a choice by a tile": ("w = 1.0 if «v > 0 else v", "the condition is 4x8xi1, expected a scalar"),
    "in of a tile": ("w = «i in (1, 2)", "'in' of what is known only when the kernel runs"),
    # shapes
    "shapes that do not fit": ("w = «v + ts.zeros((4, 7))", r"\+: shapes 4x8 and 4x7 do not fit; sizes must be equal or 1"),
    "a product's shapes": ("w = «v @ v", "the left operand's columns, 8, meet the right operand's rows, 4"),
    "mma's shapes": ("w = «ts.mma(v, v, v)", "mma"),
    "a product of a vector": ("w = «v @ r", "an operand is 4xi32, expected a tile of rank 2 or 3"),
    "reshape": ("w = «v.reshape(5, 6)", r"the result has 30 elements \(5x6\), expected the source's 32 \(4x8\)"),
    "reshape to what is not known": ("w = «v.reshape(n, 8)", "has the size scalar i32, which is known only when the kernel runs"),
    "an axis": ("w = «ts.sum(v, axis=2)", "axis is 2, expected -2 to 1 for a tile of rank 2"),
    "an axis twice": ("w = «ts.sum(v, axis=(1, 1))", r"axis is \(1, 1\), expected each axis once"),
    "an axis that is not known": ("w = «ts.max(v, axis=i)", "axis is scalar index, expected an integer"),
    "transpose": ("w = «ts.transpose(v, (0, 0))", "permutation"),
    "concatenate": ("w = «ts.concatenate((v, ts.zeros((4, 3))), axis=0)", "a piece has shape 4x3, expected the result's"),
    "an index out of a tile": ("w = «v[4]", "index 4 of axis 0, expected -4 to 3"),
    "an empty slice": ("w = «v[3:3]", "the slice 3:3 of axis 0, whose size is 4, is empty"),
    "a step": ("w = «v[::2]", "the slice has step 2, expected 1"),
    "too many indices": ("w = «v[0, 0, 0]", "3 indices, expected at most 2 for 4x8xf32"),
    "a slice to what is not known": ("w = «v[0:i]", "a bound of the slice is known only when the kernel runs"),
    "a tile at a tile": ("w = «v[r]", "a tile at a tile of indices.*take_along_axis"),
    "a size of zero": ("w = «ts.zeros((0, 4))", "the shape has the size 0, expected at least 1"),
    "a size that is not known": ("w = «ts.zeros((n, 4))", "make it a tessera.Constant"),
    "a size that is no integer": ("w = «ts.zeros((2.5, 4))", r"the shape has the size 2\.5, expected an integer"),
    "broadcast_to": ("w = «ts.broadcast_to(v, (5, 8))", "a tile of shape 4x8 does not repeat to 5x8"),
    "squeeze": ("w = «ts.squeeze(v, 0)", "axis 0 has size 4, expected 1"),
    "topk of too many": ("w = «ts.topk(v, 9)", "k is 9, expected 1 to 8, the size of axis 1"),
    "take_along_axis": ("w = «ts.take_along_axis(v, 3, 0)", "the indices are 3, expected a tile of integers"),
    "insert outside": ("w = «ts.insert(v, ts.zeros((2, 2)), (3, 0))", "the part covers 2 elements from 3 on of axis 0"),
    # memory
    "load of a tile": ("w = «ts.load(v, (0, 0), (4, 8))", "the array is 4x8xf32, expected an array that the kernel was given"),
    "a tile's rank": ("w = «ts.load(x, (0, 0), (4, ))", "a tile of shape 4 has rank 1, expected 2, the rank of array x"),
    "an index's rank": ("w = «ts.load(x, 0, (4, 8))", "the index has 1 entries, expected 2"),
    "an index that is a float": ("w = «ts.load(x, (0.5, 0), (4, 8))", r"the index is 0\.5, expected an integer"),
    "an index that is a tile": ("w = «ts.load(x, (r, 0), (4, 8))", "the index is 4xi32, expected an integer scalar"),
    "a padding": ("w = «ts.load(x, (0, 0), (4, 8), pad='one')", "pad is 'one', expected one of zero"),
    "a padding of integers": ("w = «ts.load(ids, 0, 4, pad='nan')", "nan"),
    "store of another type": ("«ts.store(y, (0, 0), r[:, None])", r"the value is 4x1xi32, expected elements of type f32; convert it with \.astype"),
    "store of another rank": ("«ts.store(y, (0, 0), v[0])", "a tile of shape 8 has rank 1, expected 2"),
    "combine": ("«ts.store(y, (0, 0), v, combine='mul')", "mul"),
    "bits of floats in memory": ("«ts.store(y, (0, 0), v, combine='xor')", "expected integer elements"),
    "a slice of an array": ("w = «x[0:4]", "arrays are read by tessera.load"),
    "an array at a tile": ("w = «x[r]", "at a tile of indices: use tessera.gather"),
    "too many indices of an array": ("w = «ids[0, 0]", "2 indices, expected at most 1"),
    "gather of too few": ("w = «ts.gather(x, r)", "1 indices, expected 2"),
    "gather of scalars": ("w = «ts.gather(x, (0, 0))", "all indices are scalars"),
    "gather's bounds": ("w = «ts.gather(x, (r, r), bounds='wrap')", "bounds is 'wrap', expected trap, clamp or drop"),
    "gather's mask": ("w = «ts.gather(x, (r, r), mask=r)", "the mask is 4xi32, expected elements of type i1"),
    "scatter of another type": ("«ts.scatter(x, (r, r), r)", "the value is 4xi32, expected elements of type f32"),
    "an element of another type": ("«y[0, 0] = n", "the value is scalar i32, expected a scalar f32"),
    "more than an element": ("«y[0] = 1.0", "is more than one element: write tessera.store"),
    "a part of a tile": ("«v[0, 0] = 1.0", "is a value, whose parts do not change: write x = tessera.insert"),
    # loops
    "a type that changes": ("w = v\nfor k in range(n):\n    w = w.astype(ts.f16)", "'w' is 4x8xf32 before the loop and 4x8xf16 after a turn"),
    "a shape that changes": ("w = v\n«for k in range(n):\n    w = ts.concatenate((w, v))", "'w' is 4x8xf32 before the loop and 8x8xf32"),
    "a text that changes": ("w = 'a'\n«for k in range(n):\n    w = w + 'a'", "'w' is 'a' before the loop and 'aa' after a turn"),
    "a step that is not known": ("for k in «range(0, 8, n):\n    pass", "the step of a range is known only when the kernel runs"),
    "a step of zero": ("for k in «range(0, 8, 0):\n    pass", "the step of a range is 0"),
    "a loop over a tile": ("for k in «v:\n    pass", "a loop over 4x8xf32, expected range"),
    "static_range": ("for k in «ts.static_range(n):\n    pass", "static_range of scalar i32, expected constants"),
    "too much unrolled": ("for k in «ts.static_range(100000):\n    pass", "a loop unrolled 100000 times, expected at most 16384"),
    "a loop's else": ("for k in range(n):\n    pass\nelse:\n    «w = 1", "a loop's else is not supported"),
    "return in a loop": ("for k in range(n):\n    if k > 3:\n        «return k", "return of a value within a loop is not supported"),
    "a type at a break": ("w = v\nfor k in range(n):\n    if k > 3:\n        w = w.astype(ts.f16)\n        break",
                          "'w' is 4x8xf16 on one way and 4x8xf32 on the other"),
    "a loop without end": ("while «True:\n    v = v + 1", "the condition is always True"),
    # branches
    "two shapes": ("w = v\n«if i > 0:\n    w = v[0]", "'w' is 8xf32 on one way and 4x8xf32 on the other"),
    "two types on two ways": ("«if i > 0:\n    w = v\nelse:\n    w = 'a'", "'w' is 4x8xf32 on one way and 'a' on the other"),
    "two returned types": ("w = (lambda a: «a if i > 0 else r)(v)", "the value is 4x8xf32 on one way and 4xi32 on the other"),
    # calls
    "a plain function": ("w = «plain(v)", "'plain' is not a function that kernels can call: write it with @tessera.func"),
    "numpy's function": ("w = «np.exp(v)", "is not a function that kernels can call"),
    "recursion": ("w = again(v)", "'again' calls itself: recursion is not supported"),
    "a kernel": ("w = «other(v)", "a kernel cannot be called by a kernel"),
    "too few arguments": ("w = «twice()", "'twice' needs its parameter 'a'"),
    "too many arguments": ("w = «twice(v, v)", "'twice' takes 1 arguments, 2 are given"),
    "an unknown argument": ("w = «twice(b=v)", "'twice' has no parameter 'b'"),
    "an unknown argument of tessera's": ("w = «ts.sum(v, dim=1)", "unexpected keyword argument 'dim'"),
    "two stars": ("w = twice(**«TABLE)", r"\*\* in a call is not supported"),
    "reduce without neutral": ("w = «ts.reduce(v, lambda a, b: a * b + b, axis=0)", "neutral is None, expected 1 constant that combine"),
    "reduce to another type": ("w = «ts.reduce(v, lambda a, b: a > b, axis=0)", "the function gives scalar i1, expected a scalar f32"),
    "reduce of two": ("w = «ts.reduce((v, v), lambda a, b: a[0], axis=0, neutral=(0, 0))", "the function gives 1 values, expected 2"),
    "a lambda's parameters": ("w = «ts.reduce(v, lambda a: a, axis=0)", "the lambda takes 1 arguments, 2 are given"),
    "a kernel that returns": ("«return v", "a kernel returns nothing, this gives 4x8xf32"),
    "static_assert": ("«ts.static_assert(W > 100, 'W is small')", "W is small"),
    "an assertion that fails now": ("«assert W > 100", "the assertion does not hold: W > 100"),
    "program_id": ("w = «ts.program_id(3)", "program_id"),
    # what Python has and kernels have not
    "try": ("«try:\n    pass\nexcept ValueError:\n    pass", "try is not supported in a kernel"),
    "with": ("«with open('a'):\n    pass", "with is not supported in a kernel"),
    "raise": ("«raise ValueError", "raise is not supported in a kernel: use assert"),
    "def": ("«def f():\n    pass", "a function within a kernel is not supported in a kernel: write it outside"),
    "class": ("«class A:\n    pass", "a class within a kernel is not supported"),
    "del": ("«del v", "del is not supported"),
    "global": ("«global THREE", "global is not supported"),
    "import": ("«import os", "import is not supported"),
    "a dictionary": ("w = «{'a': v}", "a dictionary is not supported"),
    "a set": ("w = «{1, 2}", "a set is not supported"),
    "yield": ("«yield v", "yield|generator"),
    "a complex number": ("w = «1j", "a complex, which kernels do not have"),
    "a starred name": ("a, «*b = (1, 2, 3)", "a starred name is not supported"),
    "too many names": ("«a, b = (1, 2, 3)", "3 values for 2 names"),
    "parts of a tile": ("«a, b = v", "4x8xf32 cannot be taken apart into 2 names"),
    "an attribute": ("«v.shape = 3", "v.shape cannot be assigned to"),
    "a text of a tile": ("w = «f'{v}'", "only print can show it"),
    "a format of a tile": ("print(f'{«v:.3f}')", r"the format '\.3f' of what is known only when the kernel runs"),
    "a format that does not fit": ("print(f'{«W:q}')", "Unknown format code 'q'"),
    "a place for a value in a text": ("print(«'a {} b', v)", "the text to print has {}, which stands for a value"),
    "the text of a tile by str": ("w = «str(v)", "the text of 4x8xf32, which is known only when the kernel runs"),
    "two types by or": ("w = «i or v[0, 0]", "'?the value'? is scalar"),
    "an index of a tuple": ("w = (1, 2)[«i]", "the index of a tuple is known only when the kernel runs"),
    "an index out of a tuple": ("w = «(1, 2)[2]", "tuple index out of range"),
}  # yapf: disable


def load(tmp_path, text):
    path = tmp_path / "wrong_kernel.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("wrong_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", CASES)
def test_refused_at_its_place(name, tmp_path):
    body, message = CASES[name]
    text = HEAD.format(body="\n".join("    " + line for line in body.split("\n")))
    lines = text.split("\n")
    marked = [(i, line.index("«") + 1) for i, line in enumerate(lines, 1) if "«" in line]
    module = load(tmp_path, text.replace("«", ""))
    array = np.zeros((4, 8), "f4")
    with pytest.raises(ts.CompileError) as caught:
        module.wrong.module(array, array, np.zeros(4, "i4"), 3, 8)
    error = caught.value
    assert re.search(message, error.message), error.message
    if marked:
        assert (error.line, error.column) == marked[0], str(error)
    shown = str(error).split("\n")
    assert shown[0].startswith(f"{error.file}:{error.line}:{error.column}: error: ")
    assert shown[1] == lines[error.line - 1].replace("«", "") and shown[2].index("^") == error.column - 1


def test_there_are_eighty():
    assert len(CASES) >= 80


def test_a_note_stands_at_the_other_party(tmp_path):
    text = HEAD.format(body="    w = twice(v @ ts.zeros((7, 4)))\n")
    with pytest.raises(ts.CompileError) as caught:
        load(tmp_path, text).wrong.module(np.zeros((4, 8), "f4"), np.zeros((4, 8), "f4"), np.zeros(4, "i4"), 3, 8)
    line = text.split("\n").index("    v = ts.load(x, (0, 0), (4, 8))") + 1
    assert f":{line}:9: note: the left operand is made here\n    v = ts.load(x" in str(caught.value)


def test_a_fault_within_a_function_names_the_call(tmp_path):
    text = HEAD.format(body="    w = adds_rows(v, r)\n")
    with pytest.raises(ts.CompileError) as caught:
        load(tmp_path, text).wrong.module(np.zeros((4, 8), "f4"), np.zeros((4, 8), "f4"), np.zeros(4, "i4"), 3, 8)
    lines = text.split("\n")
    assert caught.value.line == lines.index("    return a + b") + 1
    assert f":{lines.index('    w = adds_rows(v, r)') + 1}:9: note: in the call of 'adds_rows'" in str(caught.value)


# --- what is refused when the kernel is made ------------------------------------------------------------------------


@pytest.mark.parametrize("text, message", [
    ("@ts.kernel\ndef k(*arrays):\n    pass", r"\*arrays: a kernel names each of its parameters"),
    ("@ts.kernel\ndef k(**arrays):\n    pass", r"\*\*arrays: a kernel names each of its parameters"),
    ("@ts.kernel\nasync def k(x):\n    pass", "'k' is an async function: a kernel is a function written with def"),
    ("k = ts.kernel(lambda x: x)", "a lambda cannot be a kernel: write a function with def"),
    ("@ts.kernel\ndef k(x, target):\n    pass", "'target' says where a kernel runs"),
    ("@ts.kernel\nclass k:\n    pass", "a type cannot be a kernel"),
    ("k = ts.kernel(len)", "a builtin_function_or_method cannot be a kernel"),
    ("@ts.kernel\ndef k(x: str):\n    pass", "the annotation of 'x' is <class 'str'>, expected tessera.Array"),
    ("@ts.kernel\ndef k(x: 'ts.Arry[ts.f32]'):\n    pass", "the annotation of 'x' cannot be read"),
    ("names = {'ts': ts}\nexec('@ts.kernel\\ndef k(x):\\n    pass', names)", "the source of 'k' is not at hand"),
])  # yapf: disable
def test_refused_when_it_is_made(text, message, tmp_path):
    with pytest.raises(ts.CompileError, match=message):
        load(tmp_path, "import tessera as ts\n" + text)


@pytest.mark.parametrize("items, message", [(("f4", 3), "expected a type of elements first"), ((ts.f32, -1), "a size is a name, a number"),
                                            ((ts.f32, 1.5), "a size is a name, a number")])
def test_refused_array_types(items, message):
    with pytest.raises(TypeError, match=message):
        ts.Array[items]


def test_the_language_belongs_to_kernels():
    with pytest.raises(ts.Error, match="call it within a @tessera.kernel"):
        ts.program_id(0)
    with pytest.raises(ts.CompileError, match="only kernels call it"):
        ts.func(_body)(3)


def _body(a):
    return a
