"""Writes ONNX models without the onnx package: protobuf's wire format by hand, as far as tests need it.

    x = value("x", FLOAT, ["N", 4])
    save(path, model([node("Relu", ["x"], ["y"])], [x], [value("y", FLOAT, ["N", 4])], opset=17))
"""
import struct

FLOAT, UINT8, INT8, INT32, INT64, BOOL, FLOAT16, DOUBLE, UINT4, INT4 = 1, 2, 3, 6, 7, 9, 10, 11, 21, 22
_FORMATS = {FLOAT: "f", UINT8: "B", INT8: "b", INT32: "i", INT64: "q", BOOL: "?", FLOAT16: "e", DOUBLE: "d"}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(tag, value):
    return varint(tag << 3) + varint(value)


def text(tag, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(value)) + value


def packed(kind, numbers):
    if kind in (UINT4, INT4):  # two in a byte, the first one in the low bits
        codes = [item & 15 for item in numbers] + [0]
        return bytes(low | high << 4 for low, high in zip(codes[:-1:2], codes[1::2]))
    return struct.pack(f"<{len(numbers)}{_FORMATS[kind]}", *numbers)


def tensor(name, kind, sizes, numbers, external=None):
    """external: a dict of location, offset, length in place of the data."""
    out = b"".join(number(1, size) for size in sizes) + number(2, kind) + text(8, name)
    if external is None:
        return out + text(9, packed(kind, numbers))
    return out + b"".join(text(13, text(1, key) + text(2, str(item))) for key, item in external.items()) + number(14, 1)


def shape_of(sizes):
    return b"".join(text(1, text(2, size) if isinstance(size, str) else number(1, size)) for size in sizes)


def value(name, kind, sizes):
    return text(1, name) + text(2, text(1, number(1, kind) + text(2, shape_of(sizes))))


def attribute(name, item):
    out = text(1, name)
    if isinstance(item, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", item) + number(20, 1)
    if isinstance(item, int):
        return out + number(3, item) + number(20, 2)
    if isinstance(item, str):
        return out + text(4, item) + number(20, 3)
    if isinstance(item, tuple):  # ("tensor" | "graph", bytes)
        return out + text(5 if item[0] == "tensor" else 6, item[1]) + number(20, 4 if item[0] == "tensor" else 5)
    if item and isinstance(item[0], float):
        return out + text(7, packed(FLOAT, item)) + number(20, 6)
    return out + b"".join(number(8, i) for i in item) + number(20, 7)


def node(operator, inputs, outputs, name="", domain="", **attributes):
    out = b"".join(text(1, item) for item in inputs) + b"".join(text(2, item) for item in outputs)
    out += text(3, name or outputs[0]) + text(4, operator)
    out += b"".join(text(5, attribute(key, item)) for key, item in attributes.items())
    return out + (text(7, domain) if domain else b"")


def graph(nodes, inputs, outputs, tensors=()):
    return b"".join(text(1, item) for item in nodes) + text(2, "graph") + b"".join(text(5, item) for item in tensors) + \
        b"".join(text(11, item) for item in inputs) + b"".join(text(12, item) for item in outputs)


VERSIONS = {"ai.onnx.ml": 5}  # of other domains: 1


def model(nodes, inputs, outputs, tensors=(), opset=17, domain=""):
    """domain: another one."""
    more = text(8, text(1, domain) + number(2, VERSIONS.get(domain, 1))) if domain else b""
    return number(1, 8) + text(7, graph(nodes, inputs, outputs, tensors)) + text(8, text(1, "") + number(2, opset)) + more


def save(path, data):
    with open(path, "wb") as file:
        file.write(data)
