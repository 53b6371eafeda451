"""Objects may be dropped in any order, also by the garbage collector and at the end of the process."""
import gc
import itertools
import os
import subprocess
import sys

import pytest
import tessera
from programs import MATMUL


def everything(context=None):
    context = context or tessera.Context()
    module = tessera.parse(MATMUL, context=context)
    function = next(iter(module))
    block = function.regions[0].blocks[0]
    program = module.compile("interpret")
    return {"context": context, "module": module, "operation": function, "block": block, "value": block.arguments[0],
            "type": block.arguments[0].type, "attribute": function.attributes["sym_name"], "program": program, "result": program()}  # yapf: disable


def use(name, thing):
    """Touches what it can of the one object that is left."""
    {"context": lambda: thing.type("f32"), "module": lambda: str(thing), "operation": lambda: [o.name for o in thing.walk()],
     "block": lambda: [o.name for o in thing], "value": lambda: [u[0].name for u in thing.uses], "type": lambda: str(thing),
     "attribute": lambda: thing.value, "program": lambda: thing(), "result": lambda: thing[0].sum()}[name]()  # yapf: disable


def test_every_object_lives_without_all_others():
    for name in everything():
        things = everything()
        kept = things.pop(name)
        things.clear()
        gc.collect()
        use(name, kept)
        del kept
        gc.collect()


def test_every_order_of_dropping():
    shared = tessera.Context()
    for first, second in itertools.permutations(everything(shared), 2):
        things = everything(shared)
        del things[first]
        del things[second]
        for name, thing in things.items():
            use(name, thing)
        del thing


def test_cycles_of_garbage():
    for _ in range(20):
        things = everything()
        things["module"].friends = things
        things["program"].friends = things
        things["context"].friends = things
        del things
    gc.collect()


def test_results_do_not_change_with_later_calls():
    program = tessera.parse(MATMUL).compile("cpu")
    first = program(seed=1)
    kept = first[0].copy()
    program(seed=2)
    del program
    gc.collect()
    assert (first[0] == kept).all()


@pytest.mark.unsanitized
def test_a_process_ends_silently_whatever_it_still_holds():
    script = """
import sys, tessera
from programs import MATMUL
module = tessera.parse(MATMUL)
operation, program = next(iter(module)), module.compile("cpu")
program()
sys.keep = [tessera.parse(MATMUL, context=tessera.Context()), tessera.Context().type("f32"), program]
module.friends = operation
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=os.path.dirname(__file__))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
