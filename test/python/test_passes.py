"""Pipelines: what they do, say and count."""
import pytest
import tessera
from programs import AXPY, MATMUL


def test_a_pipeline_changes_the_module_as_tile_opt_does():
    module = tessera.parse("func.func @f() -> i32 { %a = arith.constant 1 : i32 %b = arith.constant 1 : i32 %c = arith.addi %a, %b : "
                           "i32 return %c : i32 }")
    assert module.run_passes("canonicalize").diagnostics == ()
    assert [op.name for op in module.walk()] == ["builtin.module", "func.func", "arith.constant", "func.return"]
    assert "arith.constant 2" in str(module)


@pytest.mark.parametrize("pipeline", ["func.func(cse),canonicalize", "builtin.module(func.func(cse),canonicalize)", " any(cse)",
                                      ["func.func(cse)", "canonicalize"]])
def test_ways_to_write_a_pipeline(pipeline):
    tessera.parse(MATMUL).run_passes(pipeline)


@pytest.mark.parametrize("pipeline", ["nosuch", "cse(", "builtin.module(nosuch)", "cse{nosuch=1}", "func.func(tile-to-cpu-pipeline",
                                      "cse),(cse", "\0"])
def test_a_bad_pipeline_says_why(pipeline):
    module = tessera.parse(MATMUL)
    before = str(module)
    with pytest.raises(tessera.Error, match="bad pass pipeline"):
        module.run_passes(pipeline)
    assert str(module) == before


def test_a_failing_pass_leaves_a_module_to_look_at():
    module = tessera.parse(AXPY, name="axpy.mlir")
    kept, function = module.clone(), next(iter(module))
    with pytest.raises(tessera.Error) as caught:
        module.run_passes("canonicalize,func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=nosuch})")
    assert "nosuch" in str(caught.value) and caught.value.diagnostics[0].severity == "error"
    assert "axpy.mlir: the pipeline" in str(caught.value)
    assert [op.name for op in module.walk()][:2] == ["builtin.module", "func.func"] and "linalg.generic" in str(module)
    with pytest.raises(tessera.StaleError):
        function.name
    kept.run_passes("canonicalize")


def test_remarks_are_diagnostics():
    module = tessera.parse(MATMUL, name="matmul.mlir")
    said = module.run_passes("func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=sm_80 remarks=true})").diagnostics
    assert {(d.severity, d.location.file, d.location.line) for d in said} == {("remark", "matmul.mlir", 3)}


def test_statistics_are_of_this_pipeline_alone():
    module = tessera.parse(AXPY)
    first = module.clone().run_passes("tile-to-cpu-pipeline").statistics
    second = module.run_passes("tile-to-cpu-pipeline").statistics
    assert first == second
    assert first["tile-bufferize-host"]["fallback_ops"] == 0
    assert any(sum(counts.values()) for counts in first.values())
    idle = tessera.parse(AXPY).run_passes("cse").statistics
    assert not any(sum(counts.values()) for counts in idle.values())


def test_what_was_taken_before_passes_is_stale_after():
    module = tessera.parse(MATMUL)
    (function,) = module
    (block,) = function.regions[0]
    result, kind = block.operations[0].results[0], block.arguments[0].type
    stream = iter(block)
    next(stream)
    module.run_passes("canonicalize")
    for use in (lambda: function.name, lambda: str(function), lambda: list(block), lambda: result.type, lambda: next(stream),
                lambda: function.regions, lambda: result.uses, lambda: block.arguments, lambda: function.verify()):
        with pytest.raises(tessera.StaleError, match="before passes ran"):
            use()
    assert str(kind) == "tensor<5x7xf32>" and repr(function) == "<stale Operation>"
    assert next(iter(module)).name == "func.func" and next(iter(module)) != function


def test_a_clone_is_another_module():
    module = tessera.parse(MATMUL)
    clone = module.clone()
    clone.run_passes("tile-to-cpu-pipeline")
    assert "linalg.matmul" in str(module) and "linalg.matmul" not in str(clone)


def test_a_machine_of_a_folder(tmp_path):
    (tmp_path / "big.machine").write_text("base = sm_80\nshared.per_block.bytes = 333824\nshared.bytes = 335872\n")
    pipeline = "func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=big})"
    with pytest.raises(tessera.Error, match="unknown machine 'big'; known: gfx1100"):
        tessera.parse(MATMUL).run_passes(pipeline)
    tessera.set_machine_path(tmp_path)
    try:
        tessera.parse(MATMUL).run_passes(pipeline)
    finally:
        tessera.set_machine_path(None)


def test_a_machine_path_that_is_not_a_folder_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError):
        tessera.set_machine_path(tmp_path / "absent")
    with pytest.raises(NotADirectoryError):
        tessera.set_machine_path(tmp_path / "file")
