// Reads the graph node by node and lets the table's emitters build. See export_graph.h, operators.h.
#include "lib/import/torch_export/export_graph.h"

#include "lib/import/onnx/operators.h"
#include "lib/import/torch_export/state.h"

#include "lib/ir/emit/special.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/math.h"

#include <stdlib.h>
#include <string.h>

//===--- names ------------------------------------------------------------------===//

TorchValue *torchLookUp(const Torch *torch, const char *name) {
  const json_t *index = json_object_get(torch->names, name);
  return json_is_integer(index) ? &torch->values[json_integer_value(index)] : NULL;
}

bool torchBind(Node *node, Torch *torch, const char *name, OnnxValue *tensor, MlirValue number, int64_t memory) {
  if (torchLookUp(torch, name))
    return onnxError(node, "two values are named '%.200s'", name);
  if (torch->numValues == torch->valuesCapacity) {
    int64_t more = torch->valuesCapacity ? 2 * torch->valuesCapacity : 256;
    TorchValue *grown = onnxAllocate(node, (size_t)more * sizeof *grown);
    if (!grown)
      return onnxOutOfMemory(node);
    if (torch->numValues)
      memcpy(grown, torch->values, (size_t)torch->numValues * sizeof *grown);
    torch->values = grown;
    torch->valuesCapacity = more;
  }
  torch->values[torch->numValues] = (TorchValue){name, tensor, number, memory < 0 ? torch->numMemories++ : memory};
  return json_object_set_new(torch->names, name, json_integer(torch->numValues++)) == 0 || onnxOutOfMemory(node);
}

// What an operator in place leaves: every name of the same tensor is the new one.
static bool rebind(Node *node, Torch *torch, TorchValue *old, OnnxValue *tensor) {
  OnnxValue *was = old->tensor;
  for (int64_t i = 0; i < torch->numValues; ++i) {
    TorchValue *value = &torch->values[i];
    if (value->memory == old->memory && value->tensor != was)
      return onnxError(node,
                       "changes '%.100s' in place, whose memory '%.100s' may share; that is not supported "
                       "(torch.export's run_decompositions avoids it)",
                       old->name, value->name);
  }
  for (int64_t i = 0; i < torch->numValues; ++i)
    if (torch->values[i].memory == old->memory)
      torch->values[i].tensor = tensor;
  return true;
}

//===--- the table --------------------------------------------------------------===//

static const TorchOperator operators[] = {
#define TORCH_OPERATOR(target, onnx, inputs, emit, kind, sharesMemory) {target, onnx, inputs, emit, kind, sharesMemory},
#include "lib/import/torch_export/operators.def"
#undef TORCH_OPERATOR
};

static const TorchOperator *findRow(const char *target) {
  for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i)
    if (strcmp(operators[i].target, target) == 0)
      return &operators[i];
  return NULL;
}

const TorchOperator *torchOperatorFind(const char *target, bool *inPlace) {
  static const char copy[] = "_copy";
  char plain[128];
  const char *dot = strrchr(target, '.');
  const TorchOperator *row = findRow(target);
  *inPlace = false;
  if (!row && dot && dot - target > (ptrdiff_t)sizeof copy && strlen(target) < sizeof plain &&
      strncmp(dot - sizeof copy + 1, copy, sizeof copy - 1) == 0) { // as a view: no value of the program changes
    snprintf(plain, sizeof plain, "%.*s%s", (int)(dot - target - (ptrdiff_t)sizeof copy + 1), target, dot);
    row = findRow(plain);
    return row && row->sharesMemory ? row : NULL;
  }
  if (row || !dot || dot - target < 2 || dot[-1] != '_' || dot[-2] == '_' || strlen(target) >= sizeof plain)
    return row;
  *inPlace = true;
  snprintf(plain, sizeof plain, "%.*s%s", (int)(dot - target - 1), target, dot);
  return findRow(plain);
}

bool torchTakesOperator(const char *target) {
  bool inPlace;
  return torchOperatorFind(target, &inPlace) != NULL;
}

OnnxValue *torchOnnx(Aten *aten, const char *name, int count, OnnxValue *const *inputs, int numAttributes,
                     const OnnxAttribute *attributes) {
  OnnxValue *in[OnnxMaxInputs] = {NULL};
  OnnxNode raw = *aten->node.raw;
  if (count > 0 && !inputs[0])
    return NULL; // an error was reported
  if (count)
    memcpy(in, inputs, (size_t)count * sizeof *in);
  raw.inputs = (OnnxTexts){.count = count};
  raw.attributes = (OnnxAttribute *)(uintptr_t)attributes;
  raw.numAttributes = numAttributes;
  Node node = aten->node;
  node.raw = &raw;
  node.in = in;
  node.numIn = count;
  return onnxEmitOperator(&node, name) ? node.out[0] : NULL;
}

//===--- nodes ------------------------------------------------------------------===//

enum { MaxDepth = 16 };

static OnnxText text(const char *string) { return (OnnxText){string, strlen(string)}; }

// The last line of the user's program in "File "model.py", line 17, in forward\n …".
static MlirLocation locationOf(const Torch *torch, const json_t *raw, unsigned number) {
  const char *trace = torchString(json_object_get(raw, "metadata"), "stack_trace"), *last = NULL;
  for (const char *at = trace; (at = strstr(at, "File \"")); at += 6)
    last = at + 6;
  const char *end = last ? strchr(last, '"') : NULL;
  unsigned line;
  if (!end || sscanf(end, "\", line %u", &line) != 1)
    return mlirLocationFileLineColGet(torch->import.context, tileString(torch->path), number, 1);
  return mlirLocationFileLineColGet(torch->import.context, mlirStringRefCreate(last, (size_t)(end - last)), line, 1);
}

static const TorchValue *firstInput(const Aten *aten) {
  const json_t *given = json_object_get(json_array_get(aten->inputs, 0), "arg");
  return torchLookUp(aten->torch, torchString(json_object_get(given, "as_tensor"), "name"));
}

static bool bindTensor(Aten *aten, const json_t *output, OnnxValue *value, bool inPlace) {
  const TorchValue *first = firstInput(aten);
  bool shares = first && first->tensor && (inPlace || aten->row->sharesMemory);
  MlirValue none = {NULL};
  return !value ||
         torchBind(&aten->node, aten->torch, torchString(output, "name"), value, none, shares ? first->memory : -1);
}

static bool bindOutputs(Aten *aten, const json_t *outputs, bool inPlace) {
  int next = 0;
  for (size_t i = 0; i < json_array_size(outputs); ++i) {
    const json_t *output = json_array_get(outputs, i), *list = json_object_get(output, "as_tensors");
    const json_t *tensor = json_object_get(output, "as_tensor"), *number = json_object_get(output, "as_sym_int");
    number = number ? number : json_object_get(output, "as_sym_bool");
    for (size_t k = 0; k < json_array_size(list) && next < OnnxMaxInputs; ++k)
      if (!bindTensor(aten, json_array_get(list, k), aten->node.out[next++], inPlace))
        return false;
    if (tensor && next < OnnxMaxInputs && !bindTensor(aten, tensor, aten->node.out[next++], inPlace))
      return false;
    if (number && !mlirValueIsNull(aten->number) &&
        !torchBind(&aten->node, aten->torch, torchString(number, "as_name"), NULL, aten->number, -1))
      return false;
  }
  return true;
}

// "Symbol('s58', positive=True, integer=True)": s58 in `name`.
static bool symbolOf(const json_t *size, char *name, size_t capacity) {
  const char *expression = torchString(json_object_get(size, "as_expr"), "expr_str");
  const char *start = strncmp(expression, "Symbol('", 8) == 0 ? expression + 8 : NULL;
  const char *end = start ? strchr(start, '\'') : NULL;
  return end && (size_t)snprintf(name, capacity, "symbol %.*s", (int)(end - start), start) < capacity;
}

// The value with the type and the sizes that the file declares. The program checks the sizes: numbers, and symbols of
// the arguments. So sizes that are equal are known to be, whatever way the program computes them. Null after an error.
static OnnxValue *declared(Aten *aten, const char *name, OnnxValue *value) {
  Node *node = &aten->node;
  const Torch *torch = aten->torch;
  const json_t *meta = json_object_get(json_object_get(torch->graph, "tensor_values"), name);
  const json_t *list = json_object_get(meta, "sizes");
  OnnxType type = torchType(json_integer_value(json_object_get(meta, "dtype")));
  MlirValue sizes[OnnxMaxRank];
  char symbol[80];
  bool isMore = false;
  value = value && type && !aten->knowsTypes ? onnxCast(node, value, type) : value;
  if (!value || json_array_size(list) != (size_t)value->rank)
    return value;
  for (int d = 0; d < value->rank; ++d) {
    const json_t *size = json_array_get(list, (size_t)d), *number = json_object_get(size, "as_int");
    const TorchValue *known = symbolOf(size, symbol, sizeof symbol) ? torchLookUp(torch, symbol) : NULL;
    sizes[d] = value->sizes[d];
    if (onnxStatic(sizes[d]) >= 0 || (!known && (!json_is_integer(number) || json_integer_value(number) < 0)))
      continue;
    sizes[d] = known ? known->number : tileBuildIndex(node->b, json_integer_value(number));
    isMore |= !onnxIsSame(sizes[d], value->sizes[d]);
    if (!onnxCheckSame(node, value->sizes[d], sizes[d], "a size is not the one that the file declares"))
      return NULL;
  }
  return isMore ? onnxOfTensor(node, value->type, onnxTensor(node, value), sizes) : value;
}

static bool declareOutputs(Aten *aten, const json_t *outputs) {
  int next = 0;
  for (size_t i = 0; i < json_array_size(outputs); ++i) {
    const json_t *tensor = json_object_get(json_array_get(outputs, i), "as_tensor");
    OnnxValue *value = tensor && next < OnnxMaxInputs ? aten->node.out[next] : NULL;
    if (value && !(aten->node.out[next] = declared(aten, torchString(tensor, "name"), value)))
      return false;
    next += tensor ? 1 : (int)json_array_size(json_object_get(json_array_get(outputs, i), "as_tensors"));
  }
  return true;
}

// The name of the tensor or the number that an argument or a result is; "" if it is neither.
static const char *nameOf(const json_t *given) {
  const json_t *tensor = json_object_get(given, "as_tensor"), *number = json_object_get(given, "as_sym_int");
  return tensor ? torchString(tensor, "name")
                : torchString(number ? number : json_object_get(given, "as_sym_bool"), "as_name");
}

static int countTensors(const json_t *outputs) {
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(outputs); ++i) {
    const json_t *output = json_array_get(outputs, i);
    count += json_object_get(output, "as_tensor") ? 1 : json_array_size(json_object_get(output, "as_tensors"));
  }
  return count < OnnxMaxInputs ? (int)count : OnnxMaxInputs;
}

static OnnxType declaredType(const Torch *torch, const json_t *outputs) {
  const json_t *first = json_array_get(outputs, 0), *output = json_object_get(first, "as_tensor");
  output = output ? output : json_array_get(json_object_get(first, "as_tensors"), 0);
  const json_t *meta = json_object_get(json_object_get(torch->graph, "tensor_values"), torchString(output, "name"));
  return torchType(json_integer_value(json_object_get(meta, "dtype")));
}

static bool givesTensors(const TorchOperator *row) {
  return row->emit != torchEmitSize && row->emit != torchEmitNumber && row->emit != torchEmitNothing &&
         row->emit != torchEmitAssert && row->emit != torchEmitConstrain;
}

static bool emitNodes(Torch *torch, const json_t *nodes);

// A part of the program that runs with or without gradients: its graph has names of its own, and only symbols of sizes
// are known in both.
static bool enterGraph(Aten *aten, const json_t *graph, size_t first) {
  Torch *torch = aten->torch;
  json_t *outer = torch->names, *inner = json_object();
  const json_t *names = json_object_get(graph, "inputs");
  const char *key;
  json_t *index;
  if (!inner)
    return onnxOutOfMemory(&aten->node);
  json_object_foreach(outer, key, index) if (strchr(key, ' ')) json_object_set(inner, key, index);
  if (json_array_size(names) != json_array_size(aten->inputs) - first) {
    json_decref(inner);
    return onnxError(&aten->node, "its graph has %zu inputs", json_array_size(names));
  }
  for (size_t i = 0; i < json_array_size(names); ++i) {
    const json_t *given = json_object_get(json_array_get(aten->inputs, first + i), "arg");
    const char *name = nameOf(given);
    index = json_object_get(outer, name);
    if (!index) {
      json_decref(inner);
      return onnxError(&aten->node, "argument %zu: '%.200s' is not defined before this node", first + i + 1, name);
    }
    json_object_set(inner, nameOf(json_array_get(names, i)), index);
  }
  torch->names = inner;
  return true;
}

static bool emitGraphCall(Aten *aten, const json_t *outputs) {
  Torch *torch = aten->torch;
  json_t *graph = NULL, *before = torch->graph;
  const json_t *given;
  json_t *outer = torch->names;
  size_t first = 0;
  for (; !graph && first < json_array_size(aten->inputs); ++first)
    graph = json_object_get(json_object_get(json_object_get(json_array_get(aten->inputs, first), "arg"), "as_graph"),
                            "graph");
  if (!graph || torch->depth == MaxDepth)
    return onnxError(&aten->node, graph ? "graphs are nested too deeply" : "it has no graph");
  given = json_object_get(graph, "outputs");
  if (json_array_size(given) != json_array_size(outputs))
    return onnxError(&aten->node, "its graph has %zu results", json_array_size(given));
  if (!enterGraph(aten, graph, first))
    return false;
  ++torch->depth;
  torch->graph = graph;
  bool ok = emitNodes(torch, json_object_get(graph, "nodes"));
  json_t *inner = torch->names;
  torch->names = outer;
  torch->graph = before;
  --torch->depth;
  for (size_t i = 0; i < json_array_size(given) && ok; ++i) {
    const char *name = nameOf(json_array_get(given, i)), *as = nameOf(json_array_get(outputs, i));
    json_t *index = json_object_get(inner, name);
    ok = (index || onnxError(&aten->node, "output '%.200s' of its graph is not defined", name)) &&
         (!json_object_get(outer, as) || onnxError(&aten->node, "two values are named '%.200s'", as)) &&
         json_object_set(outer, as, index) == 0;
  }
  json_decref(inner);
  return ok;
}

static bool emitNode(Torch *torch, const json_t *raw, unsigned number) {
  static const char prefix[] = "torch.ops.";
  const char *target = torchString(raw, "target");
  const json_t *outputs = json_object_get(raw, "outputs"), *first = json_array_get(outputs, 0);
  const char *name = torchString(json_object_get(first, "as_tensor"), "name");
  OnnxValue *in[OnnxMaxInputs] = {NULL}, *out[OnnxMaxInputs] = {NULL};
  torch->import.b.location = locationOf(torch, raw, number);
  target += strncmp(target, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0;
  OnnxNode onnx = {.name = text(*name ? name : torchString(raw, "name")), .operator = text(target)};
  Aten aten = {.torch = torch,
               .inputs = json_object_get(raw, "inputs"),
               .type = declaredType(torch, outputs),
               .numTensors = countTensors(outputs)};
  aten.node = (Node){.import = &torch->import,
                     .raw = &onnx,
                     .b = &torch->import.b,
                     .opset = OnnxNewestOpset,
                     .in = in,
                     .out = out,
                     .numOut = 1};
  bool inPlace;
  if (strcmp(target, "higher_order.wrap_with_set_grad_enabled") == 0)
    return emitGraphCall(&aten, outputs);
  aten.row = torchOperatorFind(target, &inPlace);
  if (!aten.row)
    return onnxError(&aten.node, "this operator is not supported");
  if (!aten.type && givesTensors(aten.row))
    return onnxError(&aten.node, "its result has no type, or one that is not supported");
  if (!aten.row->emit(&aten) || !declareOutputs(&aten, outputs))
    return false;
  if (aten.node.import->model->isFull)
    return onnxOutOfMemory(&aten.node);
  if (inPlace) {
    TorchValue *old = (TorchValue *)(uintptr_t)firstInput(&aten);
    if (!old || !old->tensor || !out[0] || out[0]->rank != old->tensor->rank || out[0]->type != old->tensor->type)
      return onnxError(&aten.node, "changes the type or the rank of its input in place");
    if (out[0] != old->tensor && !rebind(&aten.node, torch, old, out[0]))
      return false;
  }
  return bindOutputs(&aten, outputs, inPlace);
}

static bool emitNodes(Torch *torch, const json_t *nodes) {
  for (size_t i = 0; i < json_array_size(nodes); ++i)
    if (!emitNode(torch, json_array_get(nodes, i), (unsigned)i + 1))
      return false;
  return true;
}

//===--- the entry --------------------------------------------------------------===//

// A symbol is one size wherever it stands, and within the range that the program was exported for.
static MlirValue bindSymbol(Node *node, Torch *torch, json_t *symbols, const json_t *size, MlirValue found) {
  char name[80]; // no name of a graph has a space
  TileBuilder *b = node->b;
  if (!symbolOf(size, name, sizeof name))
    return found;
  const json_t *index = json_object_get(symbols, name);
  if (index) {
    MlirValue known = torch->values[json_integer_value(index)].number;
    tileBuildAssert(b, arithCmpIOpBuild(b, found, known, ArithCmpI_Eq), "two sizes of the same name differ");
    return known;
  }
  const json_t *range =
      json_object_get(json_object_get(torch->program, "range_constraints"), name + sizeof "symbol " - 1);
  const json_t *least = json_object_get(range, "min_val"), *most = json_object_get(range, "max_val");
  if (json_is_integer(least) && json_integer_value(least) > 0)
    tileBuildAssert(b, arithCmpIOpBuild(b, found, tileBuildIndex(b, json_integer_value(least)), ArithCmpI_Sge),
                    "a size is smaller than the range that the program was exported for");
  if (json_is_integer(most) && json_integer_value(most) < INT64_MAX)
    tileBuildAssert(b, arithCmpIOpBuild(b, found, tileBuildIndex(b, json_integer_value(most)), ArithCmpI_Sle),
                    "a size is larger than the range that the program was exported for");
  char *kept = onnxAllocate(node, strlen(name) + 1);
  if (!kept)
    onnxOutOfMemory(node);
  if (!kept || !torchBind(node, torch, strcpy(kept, name), NULL, found, -1))
    return found;
  json_object_set_new(symbols, name, json_integer(torch->numValues - 1));
  return found;
}

static OnnxValue *addArgument(Node *node, Torch *torch, json_t *symbols, const char *name) {
  const json_t *meta = json_object_get(json_object_get(torch->graph, "tensor_values"), name);
  const json_t *list = json_object_get(meta, "sizes");
  OnnxType type = torchType(json_integer_value(json_object_get(meta, "dtype")));
  OnnxValue *none = NULL;
  int64_t shape[OnnxMaxRank];
  MlirValue sizes[OnnxMaxRank];
  int rank = (int)json_array_size(list);
  if (!type || !json_is_array(list) || json_array_size(list) > OnnxMaxRank)
    return onnxError(node, "input '%.200s' has a type that is not supported, or no sizes", name), none;
  for (int d = 0; d < rank; ++d) {
    const json_t *number = json_object_get(json_array_get(list, (size_t)d), "as_int");
    shape[d] = json_is_integer(number) ? json_integer_value(number) : mlirShapedTypeGetDynamicSize();
    if (json_is_integer(number) && shape[d] < 0)
      return onnxError(node, "input '%.200s' has the size %lld", name, (long long)shape[d]), none;
  }
  MlirType tensor = mlirRankedTensorTypeGet(rank, shape, onnxElementType(node, type), mlirAttributeGetNull());
  MlirValue argument = mlirBlockAddArgument(node->import->entry, tensor, node->b->location);
  for (int d = 0; d < rank; ++d)
    sizes[d] = bindSymbol(node, torch, symbols, json_array_get(list, (size_t)d), tileBuildSize(node->b, argument, d));
  return onnxOfTensor(node, type, argument, sizes);
}

// Parameters, buffers and constants come from the archive; what the user gives is an argument.
static bool bindInput(Node *node, Torch *torch, json_t *symbols, const json_t *spec) {
  static const struct {
    const char *kind, *name;
    bool isConstant;
  } stored[] = {{"parameter", "parameter_name", false},
                {"buffer", "buffer_name", false},
                {"tensor_constant", "tensor_constant_name", true}};
  MlirValue none = {NULL};
  for (size_t i = 0; i < sizeof stored / sizeof *stored; ++i) {
    const json_t *given = json_object_get(spec, stored[i].kind);
    if (!given)
      continue;
    bool isLost = stored[i].isConstant || json_is_false(json_object_get(given, "persistent"));
    const char *name = torchString(given, stored[i].name);
    OnnxValue *value =
        torchWeight(node, torch, isLost ? torch->constants : torch->weights, isLost ? "constants" : "weights", name);
    return value && torchBind(node, torch, torchString(json_object_get(given, "arg"), "name"), value, none, -1);
  }
  const json_t *given = json_object_get(json_object_get(spec, "user_input"), "arg");
  const json_t *tensor = json_object_get(given, "as_tensor");
  if (!given)
    return onnxError(node, "the program has an input of another kind than tensors, parameters, buffers and constants");
  if (json_object_get(given, "as_sym_int") || json_object_get(given, "as_sym_float"))
    return onnxError(node, "an input is a number; tensors are accepted");
  if (!tensor)
    return true; // a constant of the export
  OnnxValue *value = addArgument(node, torch, symbols, torchString(tensor, "name"));
  return value && torchBind(node, torch, torchString(tensor, "name"), value, none, -1);
}

static bool bindInputs(Node *node, Torch *torch, const json_t *specs) {
  json_t *symbols = json_object();
  bool ok = json_is_array(specs) || onnxError(node, "the program has no signature");
  for (size_t i = 0; i < json_array_size(specs) && ok; ++i)
    ok = bindInput(node, torch, symbols, json_array_get(specs, i));
  json_decref(symbols);
  return ok;
}

typedef struct Results {
  intptr_t count, capacity;
  MlirValue *values;
  MlirType *types;
} Results;

static bool addResult(Node *node, Results *results, OnnxValue *value) {
  if (results->count == results->capacity)
    return onnxError(node, "has more results than the file declares");
  results->values[results->count] = onnxTensor(node, value);
  results->types[results->count] = mlirValueGetType(results->values[results->count]);
  ++results->count;
  return true;
}

// Is output `i` what the user's program returns? Others are new values of buffers and arguments, which decomposed
// programs give instead of changing them.
static bool isOfUser(const Torch *torch, size_t i) {
  const json_t *specs =
      json_object_get(json_object_get(json_object_get(torch->program, "graph_module"), "signature"), "output_specs");
  return i >= json_array_size(specs) || json_object_get(json_array_get(specs, i), "user_output");
}

static bool addOutput(Node *node, Torch *torch, Results *results, const json_t *output, size_t i) {
  const json_t *tensor = json_object_get(output, "as_tensor");
  TorchValue *value = tensor ? torchLookUp(torch, torchString(tensor, "name")) : NULL;
  if (tensor && (!value || !value->tensor))
    return onnxError(node, "output '%.200s' of the graph is not defined", torchString(tensor, "name"));
  if (!tensor && !json_object_get(output, "as_none"))
    return onnxError(node, "output %zu of the graph is no tensor", i + 1);
  return !tensor || addResult(node, results, value->tensor);
}

// The results of the user's program, then the inputs and buffers that it changes.
static bool buildReturn(Node *node, Torch *torch, OnnxValue *const *before, int64_t numBefore, MlirType *function) {
  const json_t *outputs = json_object_get(torch->graph, "outputs");
  intptr_t numArguments = mlirBlockGetNumArguments(node->import->entry);
  Results results = {.capacity = (intptr_t)json_array_size(outputs) + (intptr_t)numBefore};
  results.values = onnxAllocate(node, (size_t)(results.capacity + 1) * sizeof *results.values);
  results.types = onnxAllocate(node, (size_t)(results.capacity + 1) * sizeof *results.types);
  MlirType *arguments = onnxAllocate(node, (size_t)(numArguments + 1) * sizeof *arguments);
  if (!results.values || !results.types || !arguments)
    return onnxOutOfMemory(node);
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < json_array_size(outputs); ++i)
      if (isOfUser(torch, i) == (pass == 0) && !addOutput(node, torch, &results, json_array_get(outputs, i), i))
        return false;
  for (int64_t i = 0; i < numBefore; ++i)
    if (before[i] && torch->values[i].tensor != before[i] && !addResult(node, &results, torch->values[i].tensor))
      return false;
  for (intptr_t i = 0; i < numArguments; ++i)
    arguments[i] = mlirValueGetType(mlirBlockGetArgument(node->import->entry, i));
  funcReturnOpBuild(node->b, results.count, results.values);
  *function = mlirFunctionTypeGet(node->import->context, numArguments, arguments, results.count, results.types);
  return true;
}

static bool emitGraph(Node *node, Torch *torch, MlirType *type) {
  const json_t *module = json_object_get(torch->program, "graph_module"), *nodes;
  torch->graph = json_object_get(module, "graph");
  nodes = json_object_get(torch->graph, "nodes");
  if (!json_is_array(nodes))
    return onnxError(node, "the program has no graph");
  if (!bindInputs(node, torch, json_object_get(json_object_get(module, "signature"), "input_specs")))
    return false;
  int64_t numBefore = torch->numValues;
  OnnxValue **before = onnxAllocate(node, (size_t)(numBefore + 1) * sizeof *before);
  if (!before)
    return onnxOutOfMemory(node);
  for (int64_t i = 0; i < numBefore; ++i)
    before[i] = torch->values[i].tensor;
  MlirLocation location = node->b->location;
  if (!emitNodes(torch, nodes))
    return false;
  node->b->location = location;
  return buildReturn(node, torch, before, numBefore, type);
}

//===--- the file ---------------------------------------------------------------===//

bool torchFileIsProgram(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".pt2") == 0;
}

static bool build(Node *node, void *data, MlirType *type) { return emitGraph(node, data, type); }

MlirModule torchImport(MlirContext context, const char *path, tessera_error_t *error) {
  MlirModule none = {NULL};
  onnxLoadDialects(context);
  const tessera_mapping_t *mapping = tessera_mapping_open(path, error);
  OnnxModel *model = mapping ? onnxModelCreate(error) : NULL;
  if (!model) {
    tessera_mapping_release(mapping);
    return none;
  }
  MlirModule module = mlirModuleCreateEmpty(mlirLocationFileLineColGet(context, tileString(path), 1, 1));
  Torch torch = {.path = path,
                 .import = {.model = model,
                            .path = path,
                            .context = context,
                            .mapping = mapping,
                            .module = mlirModuleGetOperation(module)}};
  bool ok = torchOpenArchive(&torch, error) &&
            (onnxBuildEntry(&torch.import, build, &torch) || tessera_fail(error, "%s: cannot be imported", path));
  torchCloseArchive(&torch);
  onnxModelDestroy(model);
  tessera_mapping_release(mapping);
  if (ok)
    return module;
  mlirModuleDestroy(module);
  return none;
}
