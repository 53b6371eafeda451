"""Choices for @tessera.autotune from the compiler's own search: the tiles that tile-construct-tiles ranks for such an operator.

A trial build with sizes that nothing else has tells which Constants size tiles, and along which axes of which arrays. An operator
of linalg over these axes goes through the pass, whose best candidates (docs/schedules.md) become choices.
"""
from __future__ import annotations

import re
from typing import Any, Mapping, NamedTuple, Sequence

from .._diagnostics import Error
from .._ir import parse
from .builder import Access
from .launch import NO_DEFAULT, ArrayType, Constant

_TRIALS = ((48, 80, 112, 176, 208, 272, 304, 368), (32, 128, 256, 64, 512, 16, 1024, 8))  # sizes that kernels seldom name; powers of two
MOST = 10  # choices


class _Operator(NamedTuple):
    text: str
    dims: list[str | None]  # the Constant that sizes each dimension; None: none does
    extents: dict[str, int]
    whole: set[str]  # Constants whose tile must hold all of its axis
    is_product: bool


def names(kernel: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> set[str]:
    """The Constants that are chosen."""
    return set(_open(kernel, given, named))


def choices(kernel: Any, given: tuple[Any, ...], named: Mapping[str, Any], chip: str | None) -> list[dict[str, Any]]:
    """What to try for such a call, the defaults first, then the best first by the compiler's model of the chip (None: this CPU)."""
    constants = _open(kernel, given, named)
    if not constants:
        raise TypeError(f"{kernel.name}: no Constant is left to choose; expected choices, or a Constant that the call does not give")
    operator = _operator(kernel, given, named, list(constants))
    for name, default in constants.items():
        if name not in operator.extents and default is NO_DEFAULT:
            raise TypeError(f"{kernel.name}: '{name}' is no size of a tile; expected choices, or its value at the call")
    found = [constants] if not any(value is NO_DEFAULT for value in constants.values()) else []
    for schedule in _schedules(operator.text, chip):
        choice = {**{name: value for name, value in constants.items() if name not in operator.extents}, **_choice(operator, schedule)}
        if chip:
            choice.update(_of_gpu(kernel, operator, schedule))
        if choice not in found:
            found.append(choice)
    if not found:
        raise Error(f"{kernel.name}: the search finds no tile for this kernel; expected choices")
    return found[:MOST]


def _open(kernel: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """The Constants that the call leaves open, with their defaults: numbers, or none."""
    return {parameter.name: parameter.default for i, parameter in enumerate(kernel.given)
            if i >= len(given) and parameter.name not in named and parameter.kind is Constant and
            (parameter.default is NO_DEFAULT or type(parameter.default) is int)}


# --- the operator -----------------------------------------------------------------------------------------------------------


def _operator(kernel: Any, given: tuple[Any, ...], named: Mapping[str, Any], constants: list[str]) -> _Operator:
    if len(constants) > len(_TRIALS[0]):
        raise TypeError(f"{kernel.name}: {len(constants)} Constants are open, expected at most {len(_TRIALS[0])}")
    wrong: Error | None = None
    for sizes in _TRIALS:
        trial = dict(zip(constants, sizes))
        values = kernel.bind(given, {**named, **trial})
        kinds = kernel.specialize(values)
        try:
            built = kernel._build_module(kinds, 1)
        except Error as error:
            wrong = wrong or error
            continue
        shapes = {kernel.parameters[i].name: kernel._shape(values, i) for i, kind in enumerate(kinds) if isinstance(kind, ArrayType)}
        return _of_accesses({size: name for name, size in trial.items()}, built.accesses, shapes)
    raise wrong or Error(f"{kernel.name}: no trial")


def _of_accesses(markers: Mapping[int, str], accesses: Sequence[Access], shapes: Mapping[str, Sequence[int]]) -> _Operator:
    extents: dict[str, int] = {}
    whole: set[str] = set()
    for access in accesses:
        if access.array is not None:
            for axis, size in enumerate(access.shape):
                if size in markers:
                    extents[markers[size]] = max(extents.get(markers[size], 0), shapes[access.array][access.dims[axis]])
                    if access.fixed[axis]:
                        whole.add(markers[size])
    product = next((access for access in accesses if access.array is None and any(size in markers for size in access.shape)), None)
    if product:
        return _product(markers, product, extents, whole)
    return _elementwise(markers, [access for access in accesses if access.array is not None], shapes, extents, whole)


def _product(markers: Mapping[int, str], product: Access, extents: dict[str, int], whole: set[str]) -> _Operator:
    m, n, k = (max(extents.get(markers.get(size, ""), size), 1) for size in product.shape)
    a, b, c = (f"tensor<{rows}x{columns}x{element}>" for rows, columns, element in zip((m, k, m), (k, n, n), product.elements))
    text = f"""func.func @main(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
  %0 = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
  return %0 : {c}
}}"""
    return _Operator(text, [markers.get(size) for size in product.shape], extents, whole, True)


def _elementwise(markers: Mapping[int, str], accesses: Sequence[Access], shapes: Mapping[str, Sequence[int]], extents: dict[str, int],
                 whole: set[str]) -> _Operator:
    """The dimensions are those of the largest store, then those that loads have beside them, over which it sums."""
    dims: list[tuple[str | None, int]] = []

    def dim(access: Access, axis: int) -> int:
        name = markers.get(access.shape[axis])
        one = (name, extents[name] if name else shapes[str(access.array)][access.dims[axis]])
        if one not in dims:
            dims.append(one)
        return dims.index(one)

    stores = [access for access in accesses if access.is_store]
    if not stores or not extents:
        return _Operator("", [], extents, whole, False)
    out = max(stores, key=lambda access: (sum(size in markers for size in access.shape), len(access.shape)))
    operands = [out, *(access for access in accesses if not access.is_store)]
    maps = [[dim(access, axis) for axis in range(len(access.shape))] for access in operands]
    kept = [i for i, places in enumerate(maps) if len(set(places)) == len(places)]  # an axis twice has no tile of its own
    if not kept or kept[0] != 0:
        return _Operator("", [], extents, whole, False)
    operands, maps = [operands[i] for i in kept], [maps[i] for i in kept]
    return _Operator(_generic(dims, operands, maps), [name for name, _ in dims], extents, whole, False)


def _generic(dims: Sequence[tuple[str | None, int]], operands: Sequence[Access], maps: Sequence[Sequence[int]]) -> str:
    """The sum of what is loaded, in elements of the store: what the search asks of an operator are its accesses."""
    names = ", ".join(f"d{i}" for i in range(len(dims)))
    kinds = ", ".join('"parallel"' if i in maps[0] else '"reduction"' for i in range(len(dims)))
    types = ["x".join([*(str(max(dims[i][1], 1)) for i in places), access.elements[0]]) for access, places in zip(operands, maps)]
    types = [f"tensor<{text}>" for text in types]
    order = [*range(1, len(operands)), 0]
    affine = ", ".join(f"affine_map<({names}) -> ({', '.join(f'd{place}' for place in maps[i])})>" for i in order)
    element = operands[0].elements[0]
    add = "arith.ori" if element == "i1" else "arith.addi" if element[0] in "iu" else "arith.addf"
    last, body = "%x0", ""
    for i in order[:-1]:
        if operands[i].elements[0] == element:
            body += f"    %s{i} = {add} {last}, %x{i} : {element}\n"
            last = f"%s{i}"
    ins = f"ins({', '.join(f'%a{i}' for i in order[:-1])} : {', '.join(types[i] for i in order[:-1])}) " if len(order) > 1 else ""
    return f"""func.func @main({', '.join(f'%a{i}: {text}' for i, text in enumerate(types))}) -> {types[0]} {{
  %0 = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}} {ins}outs(%a0 : {types[0]}) {{
  ^bb0({', '.join(f'%x{i}: {operands[i].elements[0]}' for i in order)}):
{body}    linalg.yield {last} : {element}
  }} -> {types[0]}
  return %0 : {types[0]}
}}"""


# --- the list ---------------------------------------------------------------------------------------------------------------


def _schedules(text: str, chip: str | None) -> list[str]:
    if not text:
        return []
    module = parse(text)
    options = f"top={MOST}" + (f" chip={chip}" if chip else "")
    module.run_passes(f"func.func(tile-generalize-named-ops,tile-construct-tiles{{{options}}})")
    found = [op.attributes for op in module.walk() if "tile.schedule" in op.attributes]
    if not found:
        return []
    listed = found[0].get("tile.schedules")
    return [str(schedule) for schedule in listed.value] if listed is not None else [str(found[0]["tile.schedule"])]


def _numbers(schedule: str, field: str) -> list[int]:
    found = re.search(rf"\b{field} = \[?([\d, ]+)", schedule)
    return [int(number) for number in found[1].split(",") if number.strip()] if found else []


def _choice(operator: _Operator, schedule: str) -> dict[str, Any]:
    block = _numbers(schedule, "block")
    made = {}
    for name, size in zip(operator.dims, block):
        if name:
            made[name] = max(size, operator.extents[name], 1) if name in operator.whole else size
    return made


def _of_gpu(kernel: Any, operator: _Operator, schedule: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    warps, stages = _numbers(schedule, "warps"), _numbers(schedule, "stages")
    if warps and kernel._attributes.get("warps") is None:
        made["warps"] = 1
        for count in warps:
            made["warps"] *= count
    if stages and operator.is_product and kernel._attributes.get("schedule") is None:
        made["schedule"] = f"stages = {stages[0]}"
    return made
