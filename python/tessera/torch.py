"""Models of PyTorch through Tessera without a file: a backend of torch.compile, and kernels as operators of PyTorch.

    import torch, tessera.torch

    fast = torch.compile(model, backend="tessera")     # forward and backward, on the CPU
    fast(x).sum().backward()
    print(tessera.torch.report())                      # what Tessera took; what it left to PyTorch, and why

A graph goes the way of a file of torch.export (docs/importing.md): what the importer takes becomes programs, the rest
runs op by op in PyTorch. Needs PyTorch 2.9 or newer.
"""
from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
import itertools
import json
import math
import operator
import re
import tempfile
import threading
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Sequence

import torch
from torch import fx

from ._compile import compile as _compile_program
from ._diagnostics import Error
from ._ir import load
from ._library import lib

__all__ = ["Report", "backend", "custom_op", "report"]

# --- what was taken -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Report:
    """Counts of operators in compiled graphs, by where they run.

    taken: in programs of Tessera. left: in PyTorch, by "operator: why". Selections from a tuple (getitem) do not count.
    """
    graphs: int = 0
    programs: int = 0
    taken: int = 0
    left: Counter[str] = dataclasses.field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The part of all operators that Tessera took; 1.0 where there are none."""
        total = self.taken + sum(self.left.values())
        return self.taken / total if total else 1.0

    def __str__(self) -> str:
        head = (f"{self.graphs} graphs, {self.programs} programs: {self.taken} of {self.taken + sum(self.left.values())} "
                f"operators run in Tessera ({self.share:.1%})")
        return "\n".join([head, *(f"left to PyTorch: {count} x {what}" for what, count in self.left.most_common())])


_report = Report()
_report_lock = threading.Lock()


def report(clear: bool = False) -> Report:
    """The counts of all graphs that this process has compiled so far. clear: the next counts begin anew."""
    global _report
    with _report_lock:
        found = copy.deepcopy(_report)
        if clear:
            _report = Report()
    return found


def _add_to_report(programs: int, taken: int, left: Counter[str]) -> None:
    with _report_lock:
        _report.graphs += 1
        _report.programs += programs
        _report.taken += taken
        _report.left += left


# --- a part of a graph as a program -------------------------------------------------------------------------------------------


class _NotTaken(Exception):
    """The importer refuses a part. node: the name of the operator at fault; None where it is the part as a whole."""

    def __init__(self, why: str, node: str | None = None) -> None:
        super().__init__(why)
        self.node = node


def _order(value: torch.Tensor) -> list[int] | None:
    """The permutation of the axes that lies in C order; None where the tensor itself does, or none does."""
    if value.is_contiguous():
        return None
    strides = value.stride()
    axes = sorted(range(value.dim()), key=lambda axis: -strides[axis])
    return axes if value.permute(axes).is_contiguous() else None


def _inverse(axes: Sequence[int]) -> list[int]:
    return sorted(range(len(axes)), key=axes.__getitem__)


class _Part:
    """A part of a graph whose inputs and outputs lie in C order: where PyTorch has them transposed, the graph permutes."""

    def __init__(self, part: fx.GraphModule) -> None:
        self.graph = graph = copy.deepcopy(part.graph)
        for node in graph.nodes:  # the other entries of `meta` are for torch.export's own passes
            node.meta = {key: node.meta[key] for key in ("val", "stack_trace") if key in node.meta}
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.input_orders = [_order(node.meta["val"]) for node in self.inputs]
        for node, axes in zip(self.inputs, self.input_orders):
            if axes:
                with graph.inserting_after(node):
                    self._permute(node, _inverse(axes), node.meta["val"], lambda node, made: node.replace_all_uses_with(
                        made, delete_user_cb=lambda user: user is not made))
                node.meta["val"] = node.meta["val"].permute(axes)
        result = graph.output_node()
        given: Any = result.args[0]
        outputs = given if isinstance(given, (tuple, list)) else [given]
        self.results = [node.meta["val"] for node in outputs]
        self.output_orders = [_order(value) for value in self.results]
        self.outputs = []
        for node, axes in zip(outputs, self.output_orders):
            if axes:
                with graph.inserting_before(result):
                    node = self._permute(node, axes, node.meta["val"].permute(axes))
            self.outputs.append(node)
        result.args = (tuple(self.outputs), )

    def _permute(self, node: fx.Node, axes: list[int], value: Any, replace: Callable[..., Any] | None = None) -> fx.Node:
        made = self.graph.call_function(torch.ops.aten.permute.default, (node, axes))
        made.meta["val"] = value
        if replace:
            replace(node, made)
        return made

    def serialize(self, root: fx.GraphModule) -> dict[str, Any]:
        """The graph of a .pt2 file: all inputs and outputs are the user's, and there are no weights."""
        from torch._export.serde import serialize
        from torch.export import graph_signature as signature
        inputs = [signature.InputSpec(signature.InputKind.USER_INPUT, signature.TensorArgument(name=node.name), None) for node in self.inputs]
        outputs = [signature.OutputSpec(signature.OutputKind.USER_OUTPUT, signature.TensorArgument(name=node.name), None) for node in self.outputs]
        serializer = serialize.GraphModuleSerializer(signature.ExportGraphSignature(inputs, outputs), [])
        graph = serializer.serialize(fx.GraphModule(root, self.graph))
        as_dictionary: Any = serialize._dataclass_to_dict
        return {"graph_module": as_dictionary(graph), "range_constraints": {}, "schema_version": {"major": 8, "minor": 0}}

    def callable(self, program: Any) -> Callable[..., Any]:
        """The program on PyTorch's tensors. Results have the strides that later operators were traced with."""
        orders, laid, many = self.input_orders, [], len(self.results) > 1
        for value, axes in zip(self.results, self.output_orders):
            strides = None if axes or value.is_contiguous() else tuple(value.stride())
            laid.append((_inverse(axes) if axes else None, strides))

        def lend(tensor: torch.Tensor, axes: list[int] | None) -> torch.Tensor:
            tensor = tensor.detach()
            return (tensor.permute(axes) if axes else tensor).contiguous()

        def place(found: torch.Tensor, axes: list[int] | None, strides: tuple[int, ...] | None) -> torch.Tensor:
            if strides is not None:
                return torch.empty_strided(found.shape, strides, dtype=found.dtype).copy_(found)
            return found.permute(axes) if axes else found

        def call(*tensors: torch.Tensor) -> Any:
            found = program(*map(lend, tensors, orders))
            return tuple(place(one, *how) for one, how in zip(found, laid)) if many else place(found, *laid[0])

        return call


def _import(part: fx.GraphModule) -> tuple[_Part, Any]:
    """A part and its module. Raises _NotTaken."""
    from torch._export.serde.serialize import EnumEncoder, SerializeError
    nothing, arranged = json.dumps({"config": {}}), _Part(part)
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        path = Path(folder) / "graph.pt2"
        try:
            model = json.dumps(arranged.serialize(part), cls=EnumEncoder)
        except (SerializeError, AssertionError, AttributeError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise _NotTaken(f"PyTorch cannot write it to a file: {why}") from None
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in [("models/model.json", model), ("byteorder", "little"), ("data/weights/model_weights_config.json", nothing),
                               ("data/constants/model_constants_config.json", nothing)]:
                archive.writestr(f"graph/{name}", text)
        try:
            return arranged, load(path)
        except Error as error:
            said = next((d.message for d in error.diagnostics if d.severity == "error"), str(error))
            at = re.match(r"node '([^']*)' \([^)]*\): (.*)", said, re.S)
            raise _NotTaken(at[2] if at else said, at[1] if at else None) from None


# --- a graph ----------------------------------------------------------------------------------------------------------------


def _is_operator(node: fx.Node) -> bool:
    return node.op == "call_function" and node.target is not operator.getitem


def _operator_of(node: fx.Node) -> fx.Node:
    """The node itself, or the operator whose tuple it selects from."""
    while node.op == "call_function" and node.target is operator.getitem:
        node = node.args[0]  # type: ignore[assignment,unused-ignore]
    return node


def _reason_against(node: fx.Node) -> str | None:
    """Why a node cannot go to the importer, as far as this is known before it is asked."""
    if not isinstance(node.target, torch._ops.OpOverload) or not lib.tileTakesTorchOperator(str(node.target).encode()):
        return "the importer has no row for it"
    values = [value for part in (node, *node.all_input_nodes) for value in torch.utils._pytree.tree_leaves(part.meta.get("val"))]
    for value in values:
        if isinstance(value, torch.Tensor) and value.device.type != "cpu":
            return f"its tensors are on the device {value.device.type}"
        if isinstance(value, torch.Tensor) and (value.layout != torch.strided or value.is_complex()):
            return f"its tensors are {value.layout if value.layout != torch.strided else value.dtype}"
        if value is not None and not isinstance(value, torch.Tensor):
            return "it works on numbers that are not known before the run"
    if any(isinstance(value, torch.SymInt) for tensor in values if isinstance(tensor, torch.Tensor) for value in tensor.shape):
        return "its sizes are not known before the run"
    return None


def _split(graph: fx.GraphModule, refused: dict[str, str]) -> tuple[fx.GraphModule, list[str]]:
    """A copy of the graph in which each connected part that is not refused is one submodule; their names."""
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
    from torch.fx.passes.operator_support import OperatorSupportBase

    class Support(OperatorSupportBase):  # type: ignore[misc,unused-ignore]

        def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
            source = _operator_of(node)
            return _is_operator(source) and source.name not in refused

    whole = fx.GraphModule(graph, copy.deepcopy(graph.graph))
    partitioner = CapabilityBasedPartitioner(whole, Support(), allows_single_node_partition=True)
    fused = partitioner.fuse_partitions(partitioner.propose_partitions(), prefix="tessera_")
    return fused, [node.target for node in fused.graph.nodes if node.op == "call_module"]


def _import_parts(graph: fx.GraphModule, refused: dict[str, str]) -> tuple[fx.GraphModule, dict[str, tuple[_Part, Any]]]:
    """Splits until the importer takes every part. `refused` gains operators with the reasons."""
    while True:
        fused, names = _split(graph, refused)
        modules, known = {}, len(refused)
        for name in names:
            part: Any = fused.get_submodule(name)
            inside = {node.name: _operator_of(node) for node in part.graph.nodes if node.op == "call_function"}
            try:
                modules[name] = _import(part)
            except _NotTaken as error:  # it names a node, or the first of its results
                at_fault = {inside[error.node]} if error.node in inside else set(inside.values())
                refused.update({node.name: str(error) for node in at_fault})
        if len(refused) == known:
            return fused, modules


def _compile_graph(graph: fx.GraphModule, examples: Sequence[Any], limit: float | None) -> Callable[..., Any]:
    """A graph of ATen's operators, with parts of it as programs. Its inputs and outputs stay as they are."""
    refused = {node.name: why for node in graph.graph.nodes if _is_operator(node) and (why := _reason_against(node))}
    fused, modules = _import_parts(graph, refused)
    names = {node.name: str(node.target) for node in graph.graph.nodes if _is_operator(node)}
    programs = 0
    for name, (part, module) in modules.items():
        submodule: Any = fused.get_submodule(name)
        inside = [node.name for node in submodule.graph.nodes if _is_operator(node)]
        try:
            program = _compile_program(module, limit=limit)
        except Error as error:
            refused.update({node: str(error).splitlines()[0] for node in inside})
            continue  # the part stays as PyTorch has it
        call = next(node for node in fused.graph.nodes if node.op == "call_module" and node.target == name)
        with fused.graph.inserting_before(call):
            call.replace_all_uses_with(fused.graph.call_function(part.callable(program), call.args))
        fused.graph.erase_node(call)
        programs += 1
    fused.recompile()
    _add_to_report(programs, len(names) - len(refused), Counter(f"{names[node]}: {why}" for node, why in refused.items()))
    forward: Callable[..., Any] = fused.forward
    return forward


class _BySizes:
    """A graph whose sizes PyTorch left open: traced and compiled again for each set of sizes it meets."""

    def __init__(self, graph: fx.GraphModule, limit: float | None) -> None:
        self._graph, self._limit = graph, limit
        self._known: dict[Any, Any] = {}

    def __call__(self, *inputs: Any) -> Any:
        key = tuple((tuple(x.shape), tuple(x.stride())) if isinstance(x, torch.Tensor) else x for x in inputs)
        if key not in self._known:
            from torch.fx.experimental.proxy_tensor import make_fx
            numbers = {i: x for i, x in enumerate(inputs) if not isinstance(x, torch.Tensor)}

            def on_tensors(*tensors: torch.Tensor) -> Any:
                rest = iter(tensors)
                return self._graph(*[numbers[i] if i in numbers else next(rest) for i in range(len(inputs))])

            tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
            traced = make_fx(on_tensors, tracing_mode="fake")(*tensors)
            self._known[key] = _compile_graph(traced, tensors, self._limit)
        return self._known[key](*[x for x in inputs if isinstance(x, torch.Tensor)])


# --- the backend --------------------------------------------------------------------------------------------------------------


def _attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
               scale: Any = None, enable_gqa: bool = False) -> Any:
    """Attention as products and a softmax, which Tessera fuses again. Its gradient consists of the same operators."""
    if enable_gqa:
        key, value = (x.repeat_interleave(query.size(-3) // x.size(-3), -3) for x in (key, value))
    scores = query @ key.transpose(-2, -1) * (query.size(-1)**-0.5 if scale is None else scale)
    if is_causal:
        attn_mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = torch.softmax(scores, -1)
    if attn_mask is not None and not is_causal:  # PyTorch gives 0 where a row has no key
        weights = weights.masked_fill((scores == float("-inf")).all(-1, keepdim=True), 0.0)
    return weights @ value


def _open_attention(graph: fx.GraphModule) -> None:
    for node in graph.graph.nodes:
        if node.op == "call_function" and node.target is torch.nn.functional.scaled_dot_product_attention:
            dropout = node.args[4] if len(node.args) > 4 else node.kwargs.get("dropout_p", 0.0)
            node.target = _attention if dropout == 0.0 else node.target
    graph.recompile()


def _convolution_backward(gradient: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
                          transposed: bool, output_padding: Any, groups: int, mask: Any) -> Any:
    """The gradient by x as a transposed convolution, that by the weights as products."""
    if transposed or groups != 1 or math.prod(weight.shape[2:]) > 49:
        return NotImplemented
    axes, rank = range(2, x.dim()), x.dim() - 2
    aten = torch.ops.aten
    of_x = of_weight = of_bias = None
    if mask[0]:
        more = [x.size(d) - ((gradient.size(d) - 1) * stride[d - 2] - 2 * padding[d - 2] + dilation[d - 2] * (weight.size(d) - 1) + 1)
                for d in axes]
        of_x = aten.convolution(gradient, weight, None, stride, padding, dilation, True, more, 1)
    if mask[1]:
        wide = torch.nn.functional.pad(x, [p for d in reversed(range(rank)) for p in (padding[d], padding[d])])
        rows, taps = gradient.transpose(0, 1).flatten(1), []
        for tap in itertools.product(*(range(weight.size(d)) for d in axes)):  # one product for each place in the window
            at = wide
            for d, k in zip(axes, tap):
                at = at.narrow(d, k * dilation[d - 2], (gradient.size(d) - 1) * stride[d - 2] + 1)
                at = aten.slice(at, d, 0, at.size(d), stride[d - 2])
            taps.append(rows @ at.transpose(0, 1).flatten(1).t())
        of_weight = torch.stack(taps, -1).reshape(weight.shape)
    if mask[2]:
        of_bias = gradient.sum([0, *axes])
    return of_x, of_weight, of_bias


def _native_layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = list(range(x.dim() - len(shape), x.dim()))
    wide = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x
    mean = wide.mean(axes, keepdim=True)
    centred = wide - mean
    rstd = torch.rsqrt((centred * centred).mean(axes, keepdim=True) + eps)
    result = centred * rstd
    result = result if weight is None else result * weight
    result = result if bias is None else result + bias
    return result.to(x.dtype), mean, rstd


def _decompositions() -> dict[Any, Any]:
    from torch._decomp import core_aten_decompositions
    aten = torch.ops.aten
    return {**core_aten_decompositions(), aten.convolution_backward.default: _convolution_backward,
            aten.native_layer_norm.default: _native_layer_norm}


def backend(graph: fx.GraphModule, examples: Sequence[Any], *, options: dict[str, Any] | None = None) -> Callable[..., Any]:
    """What torch.compile(model, backend="tessera") calls. In training the backward graph is compiled alike.

    options: "limit", the seconds that the compilation of one program may take; a part that takes longer is left to
    PyTorch. Raises ValueError for another option.
    """
    unknown = sorted(set(options or {}) - {"limit"})
    if unknown:
        raise ValueError(f"options: {unknown[0]!r} is unknown; 'limit' is accepted")
    limit = (options or {}).get("limit")
    from torch._dynamo.backends.common import aot_autograd
    aot: Any = importlib.import_module("torch._functorch.aot_autograd")

    def compile_graph(traced: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if all(isinstance(x, torch.Tensor) for x in inputs) and not any(
                isinstance(size, torch.SymInt) for x in inputs for size in x.shape):
            return aot.make_boxed_func(_compile_graph(traced, inputs, limit))  # type: ignore[no-any-return,unused-ignore]
        return aot.make_boxed_func(_BySizes(traced, limit))  # type: ignore[no-any-return,unused-ignore]

    _open_attention(graph)
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(SDPBackend.MATH):  # attention within PyTorch's own functions, while they are traced
        compiler = aot_autograd(fw_compiler=compile_graph, bw_compiler=compile_graph, decompositions=_decompositions())
        return compiler(graph, examples)  # type: ignore[no-any-return,unused-ignore]


torch._dynamo.register_backend(backend, name="tessera")

# --- kernels as operators of PyTorch -------------------------------------------------------------------------------------------


def custom_op(name: str, *, backward: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Makes an operator of PyTorch of a function that allocates its results and launches kernels. A decorator.

        @tessera.torch.custom_op("mine::softmax", backward=softmax_backward)
        def softmax(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            softmax_kernel[(x.shape[0], )](x, y, W=512)
            return y

    name: "namespace::name". backward(inputs, outputs, *gradients): a gradient, or None, for each input, as a tuple or
    alone; without it the operator has no gradient. inputs and outputs are tuples. The annotations give the operator's
    schema (torch.library.custom_op). torch.compile and torch.export see one operator; they learn the shapes of the
    results by calling the function with launches that do nothing.
    """
    from ._kernel.launch import no_launches

    def make(function: Callable[..., Any]) -> Any:

        @functools.wraps(function)
        def launches(*inputs: Any) -> Any:  # PyTorch lends no memory of a tensor that requires a gradient
            return function(*[x.detach() if isinstance(x, torch.Tensor) else x for x in inputs])

        made = torch.library.custom_op(name, launches, mutates_args=())

        def shapes(*inputs: Any) -> Any:
            with no_launches():
                return function(*inputs)

        made.register_fake(shapes)
        if backward is not None:

            def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                outputs = output if isinstance(output, tuple) else (output, )
                tensors = [x for x in (*inputs, *outputs) if isinstance(x, torch.Tensor)]
                ctx.save_for_backward(*tensors)
                ctx.given = [None if isinstance(x, torch.Tensor) else (x, ) for x in (*inputs, *outputs)]
                ctx.num_inputs = len(inputs)

            def gradients(ctx: Any, *given: torch.Tensor) -> Any:
                tensors = iter(ctx.saved_tensors)
                values = tuple(next(tensors) if one is None else one[0] for one in ctx.given)
                found = backward(values[:ctx.num_inputs], values[ctx.num_inputs:], *given)
                return (found, *[None] * (ctx.num_inputs - 1)) if not isinstance(found, tuple) else found

            made.register_autograd(gradients, setup_context=keep)
        return made

    return make
