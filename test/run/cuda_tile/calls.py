"""How kernels of cuTile are called: what scripts of this folder share."""
import numpy as np
from harness import judge, random


def memory(array):
    """An array as a kernel gets it: its elements, its sizes, its strides in elements."""
    return [array.ravel(), *(np.int32(size) for size in array.shape),
            *(np.int32(stride // array.itemsize) for stride in array.strides)]


def arguments(*given):
    """The arguments in order, and where the elements of each array stand."""
    listed, places = [], []
    for each in given:
        places.append(len(listed))
        listed += memory(each) if isinstance(each, np.ndarray) and each.ndim else [each]
    return listed, places


def check(kernel, given, grid, expected, versions=("",)):
    listed, places = arguments(*given)
    for version in versions:
        judge(kernel, listed, grid, {places[number]: value for number, value in expected.items()}, version)


def whole(low, high, *shape):
    return random.integers(low, high, shape).astype(np.int32)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)
