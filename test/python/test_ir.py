"""Parsing, printing, and looking at IR."""
import pytest
import tessera
from programs import MATMUL


def test_text_comes_back_as_the_tools_print_it():
    module = tessera.parse(MATMUL)
    again = tessera.parse(str(module))
    assert str(again) == str(module)
    assert str(module).startswith("module {\n  func.func @main(%arg0: tensor<5x7xf32>")


def test_an_error_is_an_exception_with_located_text_and_objects():
    with pytest.raises(tessera.Error) as caught:
        tessera.parse("func.func @f() {\n  %x = arith.constant 1 : i32\n}\n", name="a.mlir")
    assert str(caught.value).startswith("a.mlir:2:8: error: block with no terminator")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.severity, diagnostic.location.file) == ("error", "a.mlir")
    assert (diagnostic.location.line, diagnostic.location.column) == (2, 8)
    assert diagnostic.notes[0].severity == "note"


@pytest.mark.parametrize("text", ["", "// nothing", "\0"])
def test_no_program_is_an_empty_module(text):
    assert list(tessera.parse(text)) == []


@pytest.mark.parametrize("text", ["}", "func.func", "\xff", "module { tile.mma }", '"nobody.knows"() : () -> ()', "%"])
def test_no_text_does_more_than_raise(text):
    with pytest.raises(tessera.Error):
        tessera.parse(text)


def test_a_program_is_text_or_bytes():
    for source in (123, None, bytearray(b"")):
        with pytest.raises(TypeError, match="expected str or bytes"):
            tessera.parse(source)


def test_files(tmp_path):
    path = tmp_path / "matmul.mlir"
    path.write_text(MATMUL)
    assert tessera.load(path).operation.regions[0].blocks[0].operations[0].location.file == str(path)
    with pytest.raises(FileNotFoundError):
        tessera.load(tmp_path / "nosuch.mlir")


def test_bytecode_round_trip_and_damage(tmp_path):
    module = tessera.parse(MATMUL, name="matmul.mlir")
    data = module.bytecode()
    assert data[:4] == b"ML\xefR"
    back = tessera.parse(data)
    assert str(back) == str(module)
    assert next(iter(back)).location == next(iter(module)).location
    (tmp_path / "m.mlirbc").write_bytes(data)
    assert str(tessera.load(tmp_path / "m.mlirbc")) == str(module)
    for length in (5, 40, len(data) // 2, len(data) - 1):
        with pytest.raises(tessera.Error, match="broken.mlirbc: not a valid program"):
            tessera.parse(data[:length], name="broken.mlirbc")


def test_operations_regions_blocks_and_values():
    module = tessera.parse(MATMUL)
    (function,) = module
    (block,) = function.regions[0]
    matmul, end = block
    assert [op.name for op in module.walk()][:3] == ["builtin.module", "func.func", "linalg.matmul"]
    assert (function.name, matmul.name, end.name) == ("func.func", "linalg.matmul", "func.return")
    assert function.parent == module.operation and module.operation.parent is None
    assert matmul.block == block and block.parent == function and block.region == function.regions[0]
    assert [str(argument.type) for argument in block.arguments] == ["tensor<5x7xf32>", "tensor<7x3xf32>", "tensor<5x3xf32>"]
    assert matmul.operands == block.arguments
    assert block.arguments[1].owner == block and block.arguments[1].index == 1
    (result,) = matmul.results
    assert result.owner == matmul and result.index == 0 and result.uses == ((end, 0),)
    assert matmul != end and len({matmul, end, block.operations[0]}) == 2
    assert str(matmul).startswith("%0 = linalg.matmul ins(%arg0, %arg1") or "linalg.matmul" in str(matmul)


def test_successors():
    module = tessera.parse("func.func @f(%c: i1) {\n cf.cond_br %c, ^a, ^b\n^a:\n cf.br ^b\n^b:\n return\n}")
    first, second, third = next(iter(module)).regions[0]
    assert first.operations[-1].successors == (second, third)


def test_types():
    context = tessera.Context()
    kind = context.type("memref<2x?xbf16>")
    assert (kind.shape, str(kind.element)) == ((2, None), "bf16")
    assert kind == context.type("memref<2x?xbf16>") and kind != context.type("memref<2x?xf16>")
    assert context.type("index").shape is None and context.type("index").element is None
    assert context.type("tensor<*xf32>").shape is None
    assert str(context.type("tensor<8xf32, 1 : i32>").encoding) == "1 : i32"
    assert context.type("tensor<8xf32>").encoding is None
    with pytest.raises(tessera.Error, match="'tensor<' is not a type"):
        context.type("tensor<")


@pytest.mark.parametrize("text, value", [
    ("true", True), ("-3 : i8", -3), ("340282366920938463463374607431768211455 : ui128", 2**128 - 1), ("2.5 : f64", 2.5),
    ('"a\\22b"', 'a"b'), ("@f", "f"), ("[1, false, [\"x\"]]", [1, False, ["x"]]), ("{a = 1, b}", {"a": 1, "b": True}),
    ("unit", True), ("array<i64: 4, 5>", [4, 5]), ("array<i32: -1>", [-1]), ("array<i1: true, false>", [True, False]),
    ("array<i64>", []),
])  # yapf: disable
def test_attributes_as_python_values(text, value):
    attribute = tessera.Context().attribute(text)
    assert attribute.value == value and type(attribute.value) is type(value)


def test_other_attributes_are_their_own_value():
    context = tessera.Context()
    kind = context.attribute("f32")
    assert kind.value == context.type("f32")
    map_ = context.attribute("affine_map<(d0) -> (d0)>")
    assert map_.value is map_ and str(map_) == "affine_map<(d0) -> (d0)>"
    assert str(context.attribute("7 : i16").type) == "i16" and map_.type is None
    with pytest.raises(tessera.Error, match="is not an attribute"):
        context.attribute("#nosuch.thing<")


def test_attributes_of_an_operation_include_the_inherent_ones():
    module = tessera.parse('func.func private @f(i32) attributes {mine = 3 : i8}')
    attributes = next(iter(module)).attributes
    assert attributes["sym_name"].value == "f" and attributes["mine"].value == 3
    assert str(attributes["function_type"].value) == "(i32) -> ()"


def test_ways_to_print():
    module = tessera.parse('func.func @f() -> tensor<4xi32> { %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32> return %c '
                           ': tensor<4xi32> }', name="f.mlir")
    assert '"func.func"() <{' in module.text(generic=True)
    assert 'loc("f.mlir":1:' in module.text(locations=True, local=True)
    assert "dense_resource<__elided__>" in module.text(elide=2) and "dense<[1" in module.text(elide=4)
    assert "return" not in next(iter(module)).text(regions=False)


def test_unregistered_operations_only_where_they_are_allowed():
    text = '"nobody.knows"() : () -> ()'
    module = tessera.parse(text, context=tessera.Context(allow_unregistered=True))
    assert [op.name for op in module] == ["nobody.knows"]
    assert [op.name for op in tessera.parse(module.bytecode(), context=tessera.Context(allow_unregistered=True))] == ["nobody.knows"]


def test_a_location_is_found_within_calls_names_and_fusions():
    context = tessera.Context(allow_unregistered=True)
    module = tessera.parse('"a.a"() : () -> () loc(fused[unknown, callsite("x"("f":1:2) at "g":3:4)])\n"a.b"() : () -> () loc(unknown)',
                           context=context)
    first, second = module
    assert str(first.location) == "f:1:2" and "callsite" in first.location.text
    assert str(second.location) == "unknown" and second.location.file is None


def test_verify():
    tessera.parse(MATMUL).verify()


def test_contexts_do_not_mix_up_their_objects():
    one, other = tessera.Context(), tessera.Context()
    assert one.type("f32") != other.type("f32")
