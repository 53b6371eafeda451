"""tessera.jax: programs within computations of JAX. Needs jax."""
import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("tessera_runtime", reason="not built: Python.h is missing")

import jax.numpy as jnp  # noqa: E402
import tessera.jax  # noqa: E402

PRODUCT = """
func.func @main(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>, %s: f32) -> (tensor<5x3xf32>, tensor<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
  %c = linalg.matmul ins(%a, %b : tensor<5x7xf32>, tensor<7x3xf32>) outs(%f : tensor<5x3xf32>) -> tensor<5x3xf32>
  %v = tensor.splat %s : tensor<3xf32>
  return %c, %v : tensor<5x3xf32>, tensor<3xf32>
}
"""
DYNAMIC = """
func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %a, %zero : tensor<?xi32>
  %wanted = arith.constant 9 : index
  %fits = arith.cmpi sle, %n, %wanted : index
  cf.assert %fits, "too long"
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.add ins(%a, %a : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
"""


@pytest.fixture(autouse=True)
def kept(monkeypatch, tmp_path):
    monkeypatch.setenv("TESSERA_CACHE", str(tmp_path))


def random(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("f4")


def test_within_a_compiled_function():
    a, b = random(5, 7), random(7, 3)

    @jax.jit
    def function(a, b):
        product, splat = tessera.jax.call(PRODUCT, a * 2, b, jnp.float32(1.5))
        return jnp.tanh(product), splat

    product, splat = function(a, b)
    np.testing.assert_allclose(product, np.tanh(2 * a @ b), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(splat, np.full(3, 1.5, "f4"))


def test_batches():
    a, b = random(4, 5, 7), random(7, 3)
    found = jax.vmap(lambda one: tessera.jax.call(PRODUCT, one, b, jnp.float32(0))[0])(a)
    np.testing.assert_allclose(found, a @ b, rtol=1e-5, atol=1e-6)


def test_dynamic_sizes():
    x = np.arange(7, dtype="i4")
    np.testing.assert_array_equal(tessera.jax.call(DYNAMIC, x, shapes=[(7, )]), 2 * x)
    with pytest.raises(ValueError, match=r"the sizes of result 0 are dynamic \(\?xi32\); give shapes="):
        tessera.jax.call(DYNAMIC, x)
    with pytest.raises(ValueError, match="shapes: 2 are given, the program has 1 results"):
        tessera.jax.call(DYNAMIC, x, shapes=[(7, ), (7, )])


@pytest.mark.parametrize("text, arguments, options, why", [
    (DYNAMIC, [np.arange(12, dtype="i4")], {"shapes": [(12, )]}, "too long"),
    (DYNAMIC, [np.arange(7, dtype="i4")], {"shapes": [(6, )]}, "result 0: dimension 0 has size 7, the buffer given for it has 6"),
    (DYNAMIC, [np.arange(7, dtype="f4")], {"shapes": [(7, )]}, "argument 0 of the program is of another element type or rank: i32"),
    (PRODUCT, [np.ones((5, 6), "f4"), np.ones((7, 3), "f4"), np.float32(0)], {}, "argument 0 of the program has the size 7 along axis 1, not 6"),
    (PRODUCT, [np.ones((5, 7), "f4")], {}, "the program has 3 arguments, not 1"),
])
def test_what_does_not_fit_is_an_exception(text, arguments, options, why):
    with pytest.raises(Exception, match=why):
        np.asarray(tessera.jax.call(text, *arguments, **options))


def test_programs_that_write_are_refused():
    text = "func.func @main(%a: memref<4xf32>) {\n  return\n}\n"
    with pytest.raises(TypeError, match="writes its arguments"):
        tessera.jax.call(text, jnp.ones(4))
