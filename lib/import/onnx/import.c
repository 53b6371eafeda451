// Reads the graph node by node and lets the table's emitters build. See import.h, node.h.
#include "lib/import/onnx/import.h"

#include "lib/import/onnx/operators.h"
#include "lib/import/onnx/state.h"
#include "lib/import/onnx/tensors.h"
#include "lib/ir/support.h"
#include "lib/support/grow.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/ml_program.h"
#include "upstream/tensor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool onnxError(const Node *node, const char *format, ...) {
  char text[768];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!node->raw)
    return tileErrorAt(node->b->location, "%s", text);
  OnnxText name = node->raw->name;
  if (!name.length && node->raw->outputs.count)
    name = node->raw->outputs.items[0];
  return tileErrorAt(node->b->location, "node '%.*s' (%.*s): %s", ONNX_SHOWN(name), ONNX_SHOWN(node->raw->operator),
                     text);
}

bool onnxOutOfMemory(const Node *node) { return onnxError(node, "memory has run out"); }

//===--- attributes -----------------------------------------------------------===//

static const OnnxAttribute *find(const OnnxAttribute *items, int64_t count, OnnxText name) {
  for (int64_t i = 0; i < count; ++i)
    if (onnxTextEquals(items[i].name, name))
      return &items[i];
  return NULL;
}

// In a function's body an attribute may stand for one of the call, or for the function's default.
const OnnxAttribute *onnxAttribute(const Node *node, const char *name) {
  const OnnxAttribute *found = find(node->raw->attributes, node->raw->numAttributes, (OnnxText){name, strlen(name)});
  const Scope *scope = node->import->scope;
  while (found && found->reference.length) {
    while (scope && !scope->call)
      scope = scope->outer;
    if (!scope)
      return NULL;
    OnnxText reference = found->reference;
    found = find(scope->call->attributes, scope->call->numAttributes, reference);
    if (!found)
      found = find(scope->function->defaults, scope->function->numDefaults, reference);
    scope = scope->outer;
  }
  return found;
}

int64_t onnxInt(const Node *node, const char *name, int64_t otherwise) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  return attribute ? attribute->number : otherwise;
}

double onnxReal(const Node *node, const char *name, double otherwise) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  return attribute ? attribute->real : otherwise;
}

bool onnxWord(const Node *node, const char *name, const char *word, bool otherwise) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  return attribute ? onnxTextIs(attribute->text, word) : otherwise;
}

bool onnxInts(const Node *node, const char *name, int most, int64_t *items, int *count) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  *count = -1;
  if (!attribute)
    return true;
  if (attribute->numbers.count > most)
    return onnxError(node, "attribute %s has %lld numbers; at most %d are accepted", name,
                     (long long)attribute->numbers.count, most);
  *count = (int)attribute->numbers.count;
  memcpy(items, attribute->numbers.items, (size_t)*count * sizeof *items);
  return true;
}

bool onnxAxis(const Node *node, int64_t axis, int rank, int *result) {
  if (axis < -rank || axis >= rank)
    return onnxError(node, "axis %lld is outside a tensor of rank %d", (long long)axis, rank);
  *result = (int)(axis < 0 ? axis + rank : axis);
  return true;
}

//===--- names ----------------------------------------------------------------===//

static uint64_t hashOf(OnnxText text) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < text.length; ++i)
    hash = (hash ^ (unsigned char)text.data[i]) * 1099511628211u;
  return hash;
}

static Binding *slotOf(const Scope *scope, OnnxText name) {
  int64_t at = (int64_t)(hashOf(name) % (uint64_t)scope->capacity);
  while (scope->bindings[at].name.data && !onnxTextEquals(scope->bindings[at].name, name))
    at = (at + 1) % scope->capacity;
  return &scope->bindings[at];
}

static bool bind(Node *node, Scope *scope, OnnxText name, OnnxValue *value) {
  if (2 * (scope->count + 1) >= scope->capacity) {
    Scope old = *scope;
    scope->capacity = old.capacity ? 2 * old.capacity : 64;
    scope->bindings = onnxAllocate(node, (size_t)scope->capacity * sizeof *scope->bindings);
    if (!scope->bindings)
      return onnxOutOfMemory(node);
    for (int64_t i = 0; i < old.capacity; ++i)
      if (old.bindings[i].name.data)
        *slotOf(scope, old.bindings[i].name) = old.bindings[i];
  }
  Binding *slot = slotOf(scope, name);
  if (slot->name.data)
    return onnxError(node, "two values are named '%.*s'", ONNX_SHOWN(name));
  *slot = (Binding){name.data ? name : (OnnxText){"", 0}, value};
  ++scope->count;
  return true;
}

static OnnxValue *lookUp(const Scope *scope, OnnxText name) {
  for (; scope; scope = scope->outer) {
    Binding *slot = scope->capacity ? slotOf(scope, name) : NULL;
    if (slot && slot->name.data)
      return slot->value;
    if (scope->call)
      return NULL; // a function sees no names around
  }
  return NULL;
}

//===--- nodes ----------------------------------------------------------------===//

static bool isOneOf(OnnxText word, const char *words) {
  for (const char *at = words; *at;) {
    size_t length = strcspn(at, " ");
    if (word.length == length && !memcmp(word.data, at, length))
      return true;
    at += length + (at[length] == ' ');
  }
  return false;
}

// The letter of a type in the table's column `types`.
static char kindOf(OnnxType type) {
  static const char kinds[] = {[OnnxType_Other] = '?',
                               [OnnxType_Float] = 'f',
                               [OnnxType_Signed] = 'i',
                               [OnnxType_Unsigned] = 'u',
                               [OnnxType_Bool] = 'b'};
  return onnxTypeIsCode(type) ? 'n' : kinds[onnxTypeKind(type)];
}

static bool checkRow(const Node *node, const OnnxOperator *row) {
  int64_t inputs = node->raw->inputs.count;
  if (inputs < row->least || (row->most >= 0 && inputs > row->most))
    return onnxError(node, "has %lld inputs; this operator of opset %lld takes %d to %d", (long long)inputs,
                     (long long)node->opset, row->least, row->most);
  for (int i = 0; i < row->least; ++i)
    if (!node->in[i])
      return onnxError(node, "input %d is missing", i + 1);
  for (int64_t i = 0; i < node->raw->numAttributes; ++i)
    if (!isOneOf(node->raw->attributes[i].name, row->attributes))
      return onnxError(node, "attribute '%.*s' of this operator is not supported at opset %lld",
                       ONNX_SHOWN(node->raw->attributes[i].name), (long long)node->opset);
  bool takesLists = row->types && strchr(row->types, 's');
  for (int i = 0; i < node->numIn; ++i)
    if (node->in[i] && node->in[i]->kind != OnnxKind_Tensor && !takesLists)
      return onnxError(node, "input %d is a sequence or an optional; a tensor is accepted", i + 1);
  if (row->types && node->in[0] && node->in[0]->kind == OnnxKind_Tensor &&
      !strchr(row->types, kindOf(node->in[0]->type)))
    return onnxError(node, "input 1 has type %s, which this operator does not accept or Tessera does not support",
                     onnxTypeName(node->in[0]->type));
  return true;
}

bool onnxEmitOperator(Node *node, const char *name) {
  bool isKnown;
  const OnnxOperator *row = onnxOperatorFind((OnnxText){"", 0}, (OnnxText){name, strlen(name)}, node->opset, &isKnown);
  if (!row)
    return onnxError(node, "ONNX's %s has no row", name);
  node->kind = row->kind;
  return checkRow(node, row) && row->emit(node);
}

int onnxOperatorKind(const Node *node) { return node->kind; }

static int64_t opsetOf(const Import *import, OnnxText domain) {
  const OnnxOpset *opsets = import->model->opsets;
  int64_t count = import->model->numOpsets;
  for (const Scope *scope = import->scope; scope; scope = scope->outer)
    if (scope->call && scope->numOpsets) {
      opsets = scope->opsets;
      count = scope->numOpsets;
      break;
    }
  bool isOwn = domain.length == 0 || onnxTextIs(domain, "ai.onnx");
  for (int64_t i = 0; i < count; ++i)
    if (onnxTextEquals(opsets[i].domain, domain) ||
        (isOwn && (opsets[i].domain.length == 0 || onnxTextIs(opsets[i].domain, "ai.onnx"))))
      return opsets[i].version;
  return -1;
}

static bool callFunction(Node *node, const OnnxFunction *function);

static const OnnxFunction *functionOf(const Import *import, const OnnxNode *raw) {
  for (int64_t i = 0; i < import->model->numFunctions; ++i) {
    const OnnxFunction *function = &import->model->functions[i];
    if (onnxTextEquals(function->name, raw->operator) && onnxTextEquals(function->domain, raw->domain))
      return function;
  }
  return NULL;
}

static bool emitRow(Node *node) {
  bool isKnown;
  const OnnxFunction *function = functionOf(node->import, node->raw);
  if (function)
    return callFunction(node, function);
  const OnnxOperator *row = onnxOperatorFind(node->raw->domain, node->raw->operator, node->opset, &isKnown);
  bool isOwn = node->raw->domain.length == 0 || onnxTextIs(node->raw->domain, "ai.onnx");
  if (node->opset < 0)
    return onnxError(node, "the model imports no opset of domain '%.*s'", ONNX_SHOWN(node->raw->domain));
  if (isOwn && (node->opset < OnnxOldestOpset || node->opset > OnnxNewestOpset))
    return onnxError(node, "opset %lld is not supported; %d to %d are", (long long)node->opset, OnnxOldestOpset,
                     OnnxNewestOpset);
  if (!row && isKnown)
    return onnxError(node, "this operator is not supported at opset %lld", (long long)node->opset);
  if (!row)
    return onnxError(node, "this operator (domain '%.*s') is not supported", ONNX_SHOWN(node->raw->domain));
  node->kind = row->kind;
  return checkRow(node, row) && row->emit(node);
}

static bool emitNode(Import *import, Scope *scope, const OnnxNode *raw, int number) {
  OnnxValue *in[OnnxMaxInputs] = {NULL}, *out[OnnxMaxInputs] = {NULL};
  TileBuilder *b = &import->b;
  if (import->depth == 0)
    b->location = mlirLocationFileLineColGet(import->context, tileString(import->path), (unsigned)number, 1);
  Node node = {.import = import, .raw = raw, .b = b, .opset = opsetOf(import, raw->domain), .in = in, .out = out};
  node.numIn = (int)raw->inputs.count;
  node.numOut = (int)raw->outputs.count;
  if (raw->inputs.count > OnnxMaxInputs || raw->outputs.count > OnnxMaxInputs)
    return onnxError(&node, "has more than %d inputs or outputs", OnnxMaxInputs);
  for (int i = 0; i < node.numIn; ++i) {
    if (!raw->inputs.items[i].length)
      continue;
    in[i] = lookUp(scope, raw->inputs.items[i]);
    if (!in[i])
      return onnxError(&node, "input '%.*s' is not defined before this node: it is missing, or there is a cycle",
                       ONNX_SHOWN(raw->inputs.items[i]));
  }
  if (!emitRow(&node))
    return false;
  if (import->model->isFull)
    return onnxOutOfMemory(&node);
  for (int i = 0; i < node.numOut; ++i) {
    if (!raw->outputs.items[i].length)
      continue;
    if (!out[i])
      return onnxError(&node, "output %d is not supported", i + 1);
    if (!bind(&node, scope, raw->outputs.items[i], out[i]))
      return false;
  }
  return true;
}

bool onnxSetOut(Node *node, int index, OnnxValue *value) {
  node->out[index] = value;
  return value != NULL;
}

bool onnxReturn(Node *node, OnnxValue *value) { return onnxSetOut(node, 0, value); }

//===--- graphs ---------------------------------------------------------------===//

static bool emitBody(Node *around, Scope *scope, const OnnxGraph *graph) {
  Import *import = around->import;
  Scope *outer = import->scope;
  import->scope = scope;
  bool ok = !graph->hasSparse || onnxError(around, "sparse initializers are not supported");
  for (int64_t i = 0; i < graph->numTensors && ok; ++i) {
    OnnxValue *value = onnxValueOfTensor(around, &graph->tensors[i]);
    ok = value && bind(around, scope, graph->tensors[i].name, value);
    ok = ok && (!import->model->isFull || onnxOutOfMemory(around));
  }
  for (int64_t i = 0; i < graph->numNodes && ok; ++i)
    ok = emitNode(import, scope, &graph->nodes[i], (int)i + 1);
  import->scope = outer;
  return ok;
}

bool onnxEmitGraph(Node *node, const OnnxGraph *graph, int numInputs, OnnxValue *const *inputs, OnnxValue **outputs) {
  Import *import = node->import;
  Scope scope = {.outer = import->scope};
  if (graph->numInputs != numInputs)
    return onnxError(node, "its graph has %lld inputs, not %d", (long long)graph->numInputs, numInputs);
  for (int i = 0; i < numInputs; ++i)
    if (!bind(node, &scope, graph->inputs[i].name, inputs[i]))
      return false;
  bool ok = emitBody(node, &scope, graph);
  for (int64_t i = 0; i < graph->numOutputs && ok; ++i) {
    outputs[i] = lookUp(&scope, graph->outputs[i].name);
    if (!outputs[i])
      ok = onnxError(node, "output '%.*s' of its graph is not defined", ONNX_SHOWN(graph->outputs[i].name));
  }
  return ok;
}

static bool callFunction(Node *node, const OnnxFunction *function) {
  Import *import = node->import;
  Scope scope = {.outer = import->scope,
                 .call = node->raw,
                 .function = function,
                 .opsets = function->opsets,
                 .numOpsets = function->numOpsets};
  int depth = 0;
  for (const Scope *at = import->scope; at; at = at->outer)
    if (at->function == function || ++depth > 64)
      return onnxError(node, "function calls itself");
  for (int64_t i = 0; i < function->inputs.count; ++i)
    if (i < node->numIn && node->in[i] && !bind(node, &scope, function->inputs.items[i], node->in[i]))
      return false;
  bool ok = emitBody(node, &scope, &function->graph);
  for (int64_t i = 0; i < function->outputs.count && i < node->numOut && ok; ++i) {
    node->out[i] = lookUp(&scope, function->outputs.items[i]);
    if (!node->out[i] && node->raw->outputs.items[i].length)
      ok = onnxError(node, "output '%.*s' of its function is not defined", ONNX_SHOWN(function->outputs.items[i]));
  }
  return ok;
}

//===--- the entry ------------------------------------------------------------===//

static bool isInitialized(const OnnxGraph *graph, OnnxText name) {
  for (int64_t i = 0; i < graph->numTensors; ++i)
    if (onnxTextEquals(graph->tensors[i].name, name))
      return true;
  return false;
}

typedef struct Symbol {
  OnnxText name;
  MlirValue size;
} Symbol;

// The size of an axis of an argument: a constant, or what the program finds; equal names are equal sizes.
static MlirValue argumentSize(Node *node, MlirValue argument, int axis, const OnnxDimension *dimension, Symbol *symbols,
                              int64_t *numSymbols) {
  MlirValue size = tileBuildSize(node->b, argument, axis);
  if (dimension->value >= 0 || !dimension->parameter.length || onnxTextIs(dimension->parameter, "?"))
    return size; // "?" is how some exporters write that there is no name
  for (int64_t i = 0; i < *numSymbols; ++i)
    if (onnxTextEquals(symbols[i].name, dimension->parameter)) {
      MlirValue same = arithCmpIOpBuild(node->b, size, symbols[i].size, ArithCmpI_Eq);
      tileBuildAssert(node->b, same, "two sizes of the same name differ");
      return symbols[i].size;
    }
  symbols[(*numSymbols)++] = (Symbol){dimension->parameter, size};
  return size;
}

static MlirType argumentType(Node *node, const OnnxValueInfo *info) {
  const OnnxTypeInfo *type = &info->type;
  MlirType none = {NULL};
  if (type->kind != OnnxKind_Tensor)
    return onnxError(node, "input '%.*s' is no tensor: sequences, optionals, maps and sparse tensors are not supported",
                     ONNX_SHOWN(info->name)),
           none;
  MlirType element = onnxElementType(node, onnxTypeIsCode(type->element) ? Onnx_U8 : type->element);
  if (mlirTypeIsNull(element))
    return onnxError(node, "input '%.*s' has type %s, which is not supported", ONNX_SHOWN(info->name),
                     onnxTypeName(type->element)),
           none;
  if (!type->hasShape || type->rank > OnnxMaxRank)
    return onnxError(node, "input '%.*s' has no shape, or a rank beyond %d", ONNX_SHOWN(info->name), OnnxMaxRank), none;
  int64_t shape[OnnxMaxRank];
  for (int64_t d = 0; d < type->rank; ++d)
    shape[d] = type->dims[d].value < 0 ? mlirShapedTypeGetDynamicSize() : type->dims[d].value;
  return mlirRankedTensorTypeGet(type->rank, shape, element, mlirAttributeGetNull());
}

static bool bindArguments(Node *node, Scope *scope, const OnnxGraph *graph) {
  int64_t numSymbols = 0, most = 1;
  for (int64_t i = 0; i < graph->numInputs; ++i)
    most += graph->inputs[i].type.rank;
  Symbol *symbols = onnxAllocate(node, (size_t)most * sizeof *symbols);
  if (!symbols)
    return onnxOutOfMemory(node);
  for (int64_t i = 0; i < graph->numInputs; ++i) {
    const OnnxValueInfo *info = &graph->inputs[i];
    if (isInitialized(graph, info->name))
      continue;
    MlirType type = argumentType(node, info);
    if (mlirTypeIsNull(type))
      return false;
    MlirValue argument = mlirBlockAddArgument(node->import->entry, type, node->b->location), sizes[OnnxMaxRank];
    for (int d = 0; d < (int)info->type.rank; ++d)
      sizes[d] = argumentSize(node, argument, d, &info->type.dims[d], symbols, &numSymbols);
    bool isCode = onnxTypeIsCode(info->type.element);
    OnnxValue *value = onnxOfTensor(node, isCode ? Onnx_U8 : info->type.element, argument, sizes);
    value = isCode ? onnxOfCodes(node, value, info->type.element) : value;
    if (!value || !bind(node, scope, info->name, value))
      return false;
  }
  return true;
}

// The type that the model declares for a result, where it says more than the importer knows.
static MlirValue declaredResult(Node *node, OnnxValue *value, const OnnxValueInfo *info) {
  const OnnxTypeInfo *type = &info->type;
  bool isMore = false;
  MlirValue sizes[OnnxMaxRank];
  if (type->kind == OnnxKind_Tensor && type->hasShape && type->rank == value->rank)
    for (int d = 0; d < value->rank; ++d) {
      sizes[d] = value->sizes[d];
      if (onnxStatic(sizes[d]) >= 0 || type->dims[d].value < 0)
        continue;
      sizes[d] = tileBuildIndex(node->b, type->dims[d].value);
      isMore = true;
      if (!onnxCheckSame(node, value->sizes[d], sizes[d], "a size of a result is not what the model declares"))
        return (MlirValue){NULL};
    }
  MlirValue tensor = onnxTensor(node, value);
  return isMore ? onnxOfTensor(node, value->type, tensor, sizes)->tensor : tensor;
}

// The values of the graph's outputs: of a sequence, those of its items. Null after an error.
static OnnxValue **resultsOf(Node *node, Scope *scope, const OnnxGraph *graph, const OnnxValueInfo ***infos,
                             intptr_t *count) {
  int64_t most = 0;
  for (int64_t i = 0; i < graph->numOutputs; ++i) {
    const OnnxValue *value = lookUp(scope, graph->outputs[i].name);
    if (!value || value->kind == OnnxKind_None) {
      onnxError(node, "output '%.*s' of the graph %s", ONNX_SHOWN(graph->outputs[i].name),
                value ? "is an optional without a value" : "is not defined");
      return NULL;
    }
    most += value->kind == OnnxKind_Sequence ? value->count : 1;
  }
  OnnxValue **results = onnxAllocate(node, (size_t)(most + 1) * sizeof *results);
  *infos = onnxAllocate(node, (size_t)(most + 1) * sizeof **infos);
  *count = 0;
  for (int64_t i = 0; i < graph->numOutputs && results && *infos; ++i) {
    OnnxValue *value = lookUp(scope, graph->outputs[i].name);
    bool isList = value->kind == OnnxKind_Sequence;
    for (int64_t k = 0; k < (isList ? value->count : 1); ++k) {
      (*infos)[*count] = &graph->outputs[i];
      results[(*count)++] = isList ? value->items[k] : value;
    }
  }
  if (!results || !*infos)
    onnxOutOfMemory(node);
  return *infos ? results : NULL;
}

static bool buildReturn(Node *node, Scope *scope, const OnnxGraph *graph, MlirType *function) {
  const OnnxValueInfo **infos;
  intptr_t count, numArguments = mlirBlockGetNumArguments(node->import->entry);
  OnnxValue **results = resultsOf(node, scope, graph, &infos, &count);
  if (!results)
    return false;
  MlirValue *values = onnxAllocate(node, (size_t)(count + 1) * sizeof *values);
  MlirType *types = onnxAllocate(node, (size_t)(count + 1) * sizeof *types);
  MlirType *arguments = onnxAllocate(node, (size_t)(numArguments + 1) * sizeof *arguments);
  if (!values || !types || !arguments)
    return onnxOutOfMemory(node);
  for (intptr_t i = 0; i < count; ++i) {
    if (onnxTypeIsCode(results[i]->type) && !(results[i] = onnxCodesOf(node, results[i])))
      return false;
    values[i] = declaredResult(node, results[i], infos[i]);
    if (mlirValueIsNull(values[i]))
      return false;
    types[i] = mlirValueGetType(values[i]);
  }
  for (intptr_t i = 0; i < numArguments; ++i)
    arguments[i] = mlirValueGetType(mlirBlockGetArgument(node->import->entry, i));
  funcReturnOpBuild(node->b, count, values);
  *function = mlirFunctionTypeGet(node->import->context, numArguments, arguments, count, types);
  return true;
}

// The weight that an op loads goes with the op.
static void removeGlobal(MlirSymbolTable symbols, MlirOperation load) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(mlProgramGlobalLoadConstOpGetGlobal(load));
  mlirSymbolTableErase(symbols, mlirSymbolTableLookup(symbols, name));
}

// What shape arithmetic has left behind: ops without effect that nobody uses.
static void removeUnused(MlirSymbolTable symbols, MlirBlock block) {
  TileOps ops = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    tileOpsAppend(&ops, op);
  for (intptr_t i = ops.count; i-- > 0;) {
    MlirOperation op = ops.items[i];
    bool isUsed = mlirOperationGetNumResults(op) == 0 || tileOpIsOfDialect(op, "scf");
    for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r)
      isUsed |= !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, r)));
    if (!isUsed && mlProgramGlobalLoadConstOpIsA(op))
      removeGlobal(symbols, op);
    if (!isUsed)
      mlirOperationDestroy(op);
  }
  tileOpsFree(&ops);
}

bool onnxBuildEntry(Import *import, OnnxBuild *build, void *data) {
  MlirLocation location = mlirLocationFileLineColGet(import->context, tileString(import->path), 1, 1);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  import->entry = block;
  import->symbols = mlirSymbolTableCreate(import->module);
  import->b = tileBuilderAtEnd(block, location);
  import->memo = tileMemoCreate(block);
  import->b.memo = import->memo;
  Node node = {.import = import, .b = &import->b};
  MlirType type;
  bool ok = build(&node, data, &type);
  tileMemoDestroy(import->memo);
  if (ok)
    removeUnused(import->symbols, block);
  mlirSymbolTableDestroy(import->symbols);
  if (!ok) {
    mlirRegionDestroy(region);
    return false;
  }
  TileBuilder top = tileBuilderAtEnd(mlirModuleGetBody(mlirModuleFromOperation(import->module)), location);
  funcFuncOpCreate(&top, mlirStringAttrGet(import->context, tileString("main")), mlirTypeAttrGet(type),
                   mlirAttributeGetNull(), mlirAttributeGetNull(), mlirAttributeGetNull(), mlirAttributeGetNull(),
                   region);
  return mlirOperationVerify(import->module);
}

static bool buildGraph(Node *node, void *data, MlirType *type) {
  const OnnxGraph *graph = data;
  Scope scope = {.outer = NULL};
  return bindArguments(node, &scope, graph) && emitBody(node, &scope, graph) && buildReturn(node, &scope, graph, type);
}

const OnnxFile *onnxImportMap(Import *import, const char *path, tessera_error_t *error) {
  for (int64_t i = 0; i < import->numOthers; ++i)
    if (strcmp(import->others[i].path, path) == 0)
      return &import->others[i];
  const tessera_mapping_t *mapping = tessera_mapping_open(path, error);
  OnnxFile *grown = mapping ? tessera_grow(import->others, import->numOthers, sizeof *grown) : NULL;
  if (!grown) {
    tessera_mapping_release(mapping);
    return NULL;
  }
  size_t length = strlen(path) + 1;
  import->others = grown;
  char *copy = onnxModelAllocate(import->model, length);
  if (!copy) {
    tessera_fail(error, "memory has run out");
    tessera_mapping_release(mapping);
    return NULL;
  }
  import->others[import->numOthers] = (OnnxFile){mapping, memcpy(copy, path, length)};
  return &import->others[import->numOthers++];
}

bool onnxFileIsModel(const char *path) {
  size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".onnx") == 0;
}

void onnxLoadDialects(MlirContext context) {
  static const char *const names[] = {"arith", "math", "func", "cf", "scf", "tensor", "linalg", "ml_program"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    mlirContextGetOrLoadDialect(context, tileString(names[i]));
}

MlirModule onnxImport(MlirContext context, const char *path, tessera_error_t *error) {
  onnxLoadDialects(context);
  const tessera_mapping_t *mapping = tessera_mapping_open(path, error);
  if (!mapping)
    return (MlirModule){NULL};
  tessera_error_t why;
  OnnxModel *model = onnxModelRead(mapping->data, mapping->size, &why);
  MlirLocation location = mlirLocationFileLineColGet(context, tileString(path), 1, 1);
  MlirModule module = mlirModuleCreateEmpty(location);
  Import import = {
      .model = model, .path = path, .context = context, .mapping = mapping, .module = mlirModuleGetOperation(module)};
  bool ok = model || tessera_fail(error, "%s: %s", path, why.text);
  ok = ok && (onnxBuildEntry(&import, buildGraph, model->graph) || tessera_fail(error, "%s: cannot be imported", path));
  for (int64_t i = 0; i < import.numOthers; ++i)
    tessera_mapping_release(import.others[i].mapping);
  free(import.others);
  onnxModelDestroy(model);
  tessera_mapping_release(mapping);
  if (ok)
    return module;
  mlirModuleDestroy(module);
  return (MlirModule){NULL};
}
