"""Slices, elements and reshapes at places that are known only at run time: compiled targets find what does not lie
inside at the op, as the interpreter does, and compute what the interpreter computes."""
import itertools

import numpy as np
import pytest

import tessera
import tessera_runtime

N = 7
LINE = np.arange(1, N + 1, dtype=np.float32)

# Each program takes the line and three numbers; the choices of each number.
READ = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = tensor.extract %at[%c0] : tensor<3xindex>
  %y = tensor.extract %at[%c1] : tensor<3xindex>
  %z = tensor.extract %at[%c2] : tensor<3xindex>
"""
OFFSETS, SIZES = (-1, 0, 3, 6, 7, 9), (-1, 0, 1, 4, 8)
PROGRAMS = {
    "extract_slice": ("""
  %0 = tensor.extract_slice %a[%x] [%y] [1] : tensor<?xf32> to tensor<?xf32>
  %r = arith.addf %0, %0 : tensor<?xf32>
  return %r : tensor<?xf32>""", "tensor<?xf32>", (OFFSETS, SIZES, (0,))),
    "stride of 2": ("""
  %0 = tensor.extract_slice %a[%x] [%y] [2] : tensor<?xf32> to tensor<?xf32>
  %r = arith.addf %0, %0 : tensor<?xf32>
  return %r : tensor<?xf32>""", "tensor<?xf32>", (OFFSETS, SIZES, (0,))),
    "any stride": ("""
  %0 = tensor.extract_slice %a[%x] [3] [%z] : tensor<?xf32> to tensor<3xf32>
  %r = arith.addf %0, %0 : tensor<3xf32>
  return %r : tensor<3xf32>""", "tensor<3xf32>", (OFFSETS, (0,), (1, 2, 3, 4))),
    "fixed size": ("""
  %0 = tensor.extract_slice %a[%x] [4] [1] : tensor<?xf32> to tensor<4xf32>
  %r = arith.addf %0, %0 : tensor<4xf32>
  return %r : tensor<4xf32>""", "tensor<4xf32>", (OFFSETS, (0,), (0,))),
    "insert_slice": ("""
  %e = tensor.generate %y { ^bb0(%i: index):
    %v = arith.constant 5.0 : f32
    tensor.yield %v : f32
  } : tensor<?xf32>
  %r = tensor.insert_slice %e into %a[%x] [%y] [1] : tensor<?xf32> into tensor<?xf32>
  return %r : tensor<?xf32>""", "tensor<?xf32>", (OFFSETS, (0, 1, 4, 8), (0,))),
    "insert_slice of fewer dimensions": ("""
  %e = tensor.generate %y { ^bb0(%i: index):
    %v = arith.constant 5.0 : f32
    tensor.yield %v : f32
  } : tensor<?xf32>
  %w = tensor.empty(%z) : tensor<2x?xf32>
  %f = linalg.fill ins(%u : f32) outs(%w : tensor<2x?xf32>) -> tensor<2x?xf32>
  %r = tensor.insert_slice %e into %f[1, 1] [1, %x] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  return %r : tensor<2x?xf32>""", "tensor<2x?xf32>", ((1, 3), (1, 3), (2, 4))),
    "extract": ("""
  %v = tensor.extract %a[%x] : tensor<?xf32>
  return %v : f32""", "f32", (OFFSETS, (0,), (0,))),
    "insert": ("""
  %r = tensor.insert %u into %a[%x] : tensor<?xf32>
  return %r : tensor<?xf32>""", "tensor<?xf32>", (OFFSETS, (0,), (0,))),
    "subview": ("""
  %m = bufferization.to_buffer %a : tensor<?xf32> to memref<?xf32>
  %s = memref.subview %m[%x] [%y] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %v = memref.load %s[%z] : memref<?xf32, strided<[1], offset: ?>>
  return %v : f32""", "f32", (OFFSETS, SIZES, (-1, 0, 2))),
    "expand_shape": ("""
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [%x, %y] : tensor<?xf32> into tensor<?x?xf32>
  %r = arith.addf %0, %0 : tensor<?x?xf32>
  return %r : tensor<?x?xf32>""", "tensor<?x?xf32>", ((-1, 1, 3, 7), (-7, 1, 2, 7), (0,))),
    "reshape": ("""
  %t = tensor.from_elements %x, %y : tensor<2xindex>
  %0 = tensor.reshape %a(%t) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %r = arith.addf %0, %0 : tensor<?x?xf32>
  return %r : tensor<?x?xf32>""", "tensor<?x?xf32>", ((-1, 1, 3, 7), (-7, 1, 2, 7), (0,))),
    "reshape by an argument": ("""
  %0 = tensor.reshape %a(%at) : (tensor<?xf32>, tensor<3xindex>) -> tensor<1x?x?xf32>
  %r = arith.addf %0, %0 : tensor<1x?x?xf32>
  return %r : tensor<1x?x?xf32>""", "tensor<1x?x?xf32>", ((1, 7), (1, 7), (1, 2))),
    "pad": ("""
  %r = tensor.pad %a low[%x] high[%y] { ^bb0(%i: index):
    tensor.yield %u : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>""", "tensor<?xf32>", ((-1, 0, 2), (-2, 0, 3), (0,))),
    "pack": ("""
  %e = tensor.empty(%x) : tensor<?x2xf32>
  %0 = linalg.pack %a padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [2] into %e
      : tensor<?xf32> -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>""", "tensor<?x2xf32>", ((0, 3, 4, 5), (0,), (0,))),
    "pack that nothing pads": ("""
  %s = tensor.extract_slice %a[0] [%y] [1] : tensor<?xf32> to tensor<?xf32>
  %e = tensor.empty(%x) : tensor<?x2xf32>
  %0 = linalg.pack %s inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<?xf32> -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>""", "tensor<?x2xf32>", ((2, 3, 4), (5, 6, 7), (0,))),
    "unpack": ("""
  %s = tensor.extract_slice %a[0] [6] [1] : tensor<?xf32> to tensor<6xf32>
  %0 = tensor.expand_shape %s [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  %e = tensor.empty(%x) : tensor<?xf32>
  %r = linalg.unpack %0 inner_dims_pos = [0] inner_tiles = [2] into %e : tensor<3x2xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>""", "tensor<?xf32>", ((4, 5, 6, 7), (0,), (0,))),
    "gather": ("""
  %s = tensor.extract_slice %at[0] [2] [1] : tensor<3xindex> to tensor<2xindex>
  %i = tensor.expand_shape %s [[0, 1]] output_shape [2, 1] : tensor<2xindex> into tensor<2x1xindex>
  %r = tensor.gather %a[%i] gather_dims([0]) : (tensor<?xf32>, tensor<2x1xindex>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>""", "tensor<2x1xf32>", (OFFSETS, (0, 7), (0,))),
    "scatter": ("""
  %s = tensor.extract_slice %at[0] [2] [1] : tensor<3xindex> to tensor<2xindex>
  %i = tensor.expand_shape %s [[0, 1]] output_shape [2, 1] : tensor<2xindex> into tensor<2x1xindex>
  %e = tensor.splat %u : tensor<2x1xf32>
  %r = tensor.scatter %e into %a[%i] scatter_dims([0]) unique
      : (tensor<2x1xf32>, tensor<?xf32>, tensor<2x1xindex>) -> tensor<?xf32>
  return %r : tensor<?xf32>""", "tensor<?xf32>", (OFFSETS, (1, 7), (0,))),
}


def text_of(name):
    body, result, _ = PROGRAMS[name]
    return (f"func.func @main(%a: tensor<?xf32>, %at: tensor<3xindex>) -> {result} {{{READ}"
            f"  %u = arith.constant 2.5 : f32\n  %zero = arith.constant 0.0 : f32{body}\n}}")


def outcome(program, numbers):
    """The result, or the text of the error."""
    try:
        return np.array(program(LINE, np.array(numbers, dtype=np.int64)))
    except (tessera.Error, tessera_runtime.Error) as error:
        return str(error)


@pytest.mark.parametrize("target", ["cpu", "emulate:sm_80", "emulate:gfx942"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_places_are_inside_as_the_interpreter_finds(name, target):
    text = text_of(name)
    judge, program = tessera.compile(text, target="interpret"), tessera.compile(text, target=target)
    failed = right = 0
    for numbers in itertools.product(*PROGRAMS[name][2]):
        expected, seen = outcome(judge, numbers), outcome(program, numbers)
        if isinstance(expected, str):
            assert isinstance(seen, str), f"{numbers}: {seen}, though {expected}"
            assert "<string>:" in seen and ("assertion failed" in seen or "out of bounds" in seen), seen
            failed += 1
        else:
            assert not isinstance(seen, str), f"{numbers}: {seen}"
            np.testing.assert_array_equal(seen, expected, err_msg=str(numbers))
            right += 1
    assert failed and right, f"{failed} failed, {right} right: choose other numbers"
