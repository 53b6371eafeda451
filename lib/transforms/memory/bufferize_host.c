// Bufferizes the host: tensors of every func.func become memrefs, kernels are left alone.
//
// Expects: the tile graph on tensors (tile.launch in destination style beside whatever linalg is left over).
// Leaves: the same on memrefs, the caller's tensors unwritten; function borders with identity layouts; kernels
// untouched; public functions marked as entries, callable from C (llvm.emit_c_interface). Counts linalg ops left over:
// they go by upstream's route (fallback_ops). Tensors with an encoding are refused: upstream would drop the encoding
// without a word.
// Analysis: upstream's one-shot bufferization, https://arxiv.org/abs/2202.03293 §4.3.
#include "dialects/tile/ops.h"
#include "lib/capi/bufferization.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "upstream/bufferization.h"
#include "upstream/func.h"
#include "upstream/gpu.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

#include "upstream/builtin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Statistic_Fallback, Statistic_Allocations, Statistic_InPlace, Statistic_OutOfPlace };

//===--- questions ----------------------------------------------------------===//

static bool isInKernel(MlirOperation op, void *userData) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (tileKernelOpIsA(op) || tileFuncOpIsA(op))
      return true;
  return false;
}

static bool isLinalgCompute(MlirOperation op) {
  return tileOpIsStructured(op) || linalgSoftmaxOpIsA(op) || linalgPackOpIsA(op) || linalgUnPackOpIsA(op);
}

static bool hasEncoding(MlirType type) {
  return mlirTypeIsARankedTensor(type) && !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}

// What a walk over the host gathers before bufferization.
typedef struct HostFindings {
  uint64_t fallbacks;
  bool failed;
} HostFindings;

static void checkType(MlirOperation op, MlirType type, HostFindings *findings) {
  if (findings->failed || !hasEncoding(type))
    return;
  char text[256];
  tileError(op, "has a value of type %s: an encoding must be expanded or removed before bufferization",
            tileTypeText(type, text, sizeof text));
  findings->failed = true;
}

static void checkSignature(MlirOperation function, HostFindings *findings) {
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    checkType(function, mlirFunctionTypeGetInput(type, i), findings);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    checkType(function, mlirFunctionTypeGetResult(type, i), findings);
}

static MlirWalkResult examine(MlirOperation op, void *userData) {
  HostFindings *findings = userData;
  if (tileKernelOpIsA(op) || tileFuncOpIsA(op))
    return MlirWalkResultSkip;
  findings->fallbacks += isLinalgCompute(op);
  if (funcFuncOpIsA(op))
    checkSignature(op, findings);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    checkType(op, tileOperandType(op, i), findings);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    checkType(op, tileResultType(op, i), findings);
  return findings->failed ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

//===--- entries ------------------------------------------------------------===//

static bool isEntry(MlirOperation function) {
  return tileSymbolIsPublic(function) && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
}

static void markEntries(MlirOperation module) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  MlirAttribute unit = mlirUnitAttrGet(mlirOperationGetContext(module));
  for (intptr_t i = 0; i < functions.count; ++i)
    if (isEntry(functions.items[i]))
      mlirOperationSetDiscardableAttributeByName(functions.items[i], tileString("llvm.emit_c_interface"), unit);
  tileOpsFree(&functions);
}

// The caller's tensors stay as they are: an entry writes its own copy, unless an argument says bufferization.writable.
static MlirAttribute withoutWriting(MlirContext context, MlirAttribute attributes) {
  static const char *const writable = "bufferization.writable";
  enum { MaxAttributes = 32 };
  intptr_t count = mlirAttributeIsNull(attributes) ? 0 : mlirDictionaryAttrGetNumElements(attributes);
  MlirNamedAttribute entries[MaxAttributes];
  if (count >= MaxAttributes ||
      (count && !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(attributes, tileString(writable)))))
    return attributes;
  for (intptr_t i = 0; i < count; ++i)
    entries[i] = mlirDictionaryAttrGetElement(attributes, i);
  entries[count] =
      mlirNamedAttributeGet(mlirIdentifierGet(context, tileString(writable)), mlirBoolAttrGet(context, false));
  return mlirDictionaryAttrGet(context, count + 1, entries);
}

static bool protectArguments(MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirAttribute old = tileOpAttribute(function, "arg_attrs");
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  intptr_t count = mlirFunctionTypeGetNumInputs(type);
  MlirAttribute *all = calloc((size_t)count + 1, sizeof *all);
  if (!all)
    return tileError(function, "cannot be bufferized: out of memory");
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute given = mlirAttributeIsNull(old) ? mlirAttributeGetNull() : mlirArrayAttrGetElement(old, i);
    bool isTensor = mlirTypeIsATensor(mlirFunctionTypeGetInput(type, i));
    all[i] = isTensor ? withoutWriting(context, given) : given;
    if (mlirAttributeIsNull(all[i]))
      all[i] = mlirDictionaryAttrGet(context, 0, NULL);
  }
  if (count)
    mlirOperationSetAttributeByName(function, tileString("arg_attrs"), mlirArrayAttrGet(context, count, all));
  free(all);
  return true;
}

static bool protectEntries(MlirOperation module) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < functions.count && ok; ++i)
    ok = !isEntry(functions.items[i]) || protectArguments(functions.items[i]);
  tileOpsFree(&functions);
  return ok;
}

//===--- empty tensors -------------------------------------------------------===//

static void copyBeforeUse(MlirOperation empty, MlirOpOperand use) {
  MlirOperation user = mlirOpOperandGetOwner(use);
  TileBuilder builder = tileBuilderBefore(user);
  MlirOperation copy = tileBuilderInsert(&builder, mlirOperationClone(empty));
  mlirOperationSetOperand(user, mlirOpOperandGetOperandNumber(use), tensorEmptyOpGetResult(copy));
}

// The part of `empty` that is written to be inserted by `insert`; null when there is none.
static MlirOperation partFor(MlirOperation insert, MlirValue empty) {
  MlirOperation writer = tileDefiningOp(tensorInsertSliceOpGetSource(insert));
  for (intptr_t i = 0; !mlirOperationIsNull(writer) && i < mlirOperationGetNumOperands(writer); ++i) {
    MlirOperation part = tileDefiningOp(mlirOperationGetOperand(writer, i));
    if (tensorExtractSliceOpIsA(part) && mlirValueEqual(tensorExtractSliceOpGetSource(part), empty) &&
        tileHasOneUse(tensorExtractSliceOpGetResult(part)))
      return part;
  }
  return (MlirOperation){NULL};
}

// eliminate-empty-tensors takes a part out of an empty tensor, which an insert_slice puts back: the two are one place,
// and get an empty tensor of their own. False when no such pair is left.
static bool separatePart(MlirOperation empty) {
  MlirValue value = tensorEmptyOpGetResult(empty);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation insert = mlirOpOperandGetOwner(use);
    if (!tensorInsertSliceOpIsA(insert) || mlirOpOperandGetOperandNumber(use) != 1)
      continue;
    MlirOperation part = partFor(insert, value);
    if (mlirOperationIsNull(part))
      continue;
    TileBuilder builder = tileBuilderBefore(part);
    MlirValue own = tensorEmptyOpGetResult(tileBuilderInsert(&builder, mlirOperationClone(empty)));
    tensorExtractSliceOpSetSource(part, own);
    tensorInsertSliceOpSetDest(insert, own);
    return true;
  }
  return false;
}

// One tensor.empty per use, where the use is. cse merges equal ones, but they are no values, they are places: of users
// that share one all but one need another buffer, and a loop that yields what it wrote to one from outside copies it
// each time around. What a loop need not allocate anew is hoisted later (buffer-loop-hoisting).
static void separateEmptyTensors(MlirOperation module) {
  TileOps empties = tileCollectOps(module, tensorEmptyOpIsA);
  for (intptr_t i = 0; i < empties.count; ++i) {
    while (separatePart(empties.items[i]))
      continue;
    MlirOpOperand use = mlirValueGetFirstUse(tensorEmptyOpGetResult(empties.items[i]));
    for (MlirOpOperand next; !mlirOpOperandIsNull(use); use = next) {
      next = mlirOpOperandGetNextUse(use);
      if (!tensorDimOpIsA(mlirOpOperandGetOwner(use)))
        copyBeforeUse(empties.items[i], use);
    }
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(tensorEmptyOpGetResult(empties.items[i]))))
      mlirOperationDestroy(empties.items[i]);
  }
  tileOpsFree(&empties);
}

//===--- frees of tensors ------------------------------------------------------===//

// Automatic deallocation frees tensors when nobody needs them any more.
static void eraseTensorFrees(MlirOperation module) {
  TileOps frees = tileCollectOps(module, bufferizationDeallocTensorOpIsA);
  for (intptr_t i = 0; i < frees.count; ++i)
    mlirOperationDestroy(frees.items[i]);
  tileOpsFree(&frees);
}

//===--- constants -----------------------------------------------------------===//

// Upstream bufferizes functions in the order of a hash table, and numbers the globals of their constants as they come:
// each run gives other names (https://github.com/llvm/llvm-project/pull/184722). Here they get the order and the
// numbers of their first uses.

static const char constantPrefix[] = "__constant_";

static bool isNumbered(MlirOperation global) {
  return tileStringStartsWith(memrefGlobalOpGetSymNameValue(global), constantPrefix);
}

static bool hasSymbols(MlirOperation op) { return builtinModuleOpIsA(op) || gpuGPUModuleOpIsA(op); }

// The ops of that name whose symbols are those of `module`, not those of a module in it. The caller frees the list.
static TileOps collectOwn(MlirOperation module, bool (*isA)(MlirOperation op)) {
  TileOps all = tileCollectOps(module, isA);
  intptr_t count = 0;
  for (intptr_t i = 0; i < all.count; ++i)
    if (mlirOperationEqual(tileParentOp(all.items[i], hasSymbols), module))
      all.items[count++] = all.items[i];
  all.count = count;
  return all;
}

// Names and symbols are unique in their context: one text has one place.
static intptr_t indexOf(const TileOps *globals, MlirStringRef name) {
  for (intptr_t i = 0; i < globals->count; ++i)
    if (memrefGlobalOpGetSymNameValue(globals->items[i]).data == name.data)
      return i;
  return -1;
}

// Without the number at its end.
static MlirStringRef stemOf(MlirStringRef name) {
  size_t length = name.length;
  while (length && name.data[length - 1] >= '0' && name.data[length - 1] <= '9')
    --length;
  bool hasNumber = length < name.length && length > sizeof constantPrefix && name.data[length - 1] == '_';
  return hasNumber ? (MlirStringRef){name.data, length - 1} : name;
}

// The globals in the order of their first uses; those that nothing uses come last. The caller frees the list.
static TileOps orderByUse(MlirOperation module, const TileOps *uses) {
  TileOps globals = collectOwn(module, memrefGlobalOpIsA);
  intptr_t sorted = 0;
  for (intptr_t i = 0; i < uses->count; ++i) {
    intptr_t at = indexOf(&globals, memrefGetGlobalOpGetNameValue(uses->items[i]));
    if (at < sorted)
      continue;
    MlirOperation global = globals.items[at];
    memmove(globals.items + sorted + 1, globals.items + sorted, (size_t)(at - sorted) * sizeof global);
    globals.items[sorted++] = global;
  }
  return globals;
}

// The name of global `index`: the stem, and a number where a global before has the same one.
static MlirStringRef numberedName(const MlirStringRef *stems, intptr_t index, char *text, size_t size) {
  intptr_t number = 0;
  for (intptr_t i = 0; i < index; ++i)
    number += mlirStringRefEqual(stems[i], stems[index]);
  int length = (int)stems[index].length;
  snprintf(text, size, number ? "%.*s_%lld" : "%.*s", length, stems[index].data, (long long)number - 1);
  return tileString(text);
}

// A name that others may know stays, and then all do.
static bool mayRenumber(const TileOps *globals) {
  for (intptr_t i = 0; i < globals->count; ++i)
    if (isNumbered(globals->items[i]) && tileSymbolIsPublic(globals->items[i]))
      return false;
  return true;
}

static void renumberConstants(MlirOperation module) {
  TileOps uses = collectOwn(module, memrefGetGlobalOpIsA), globals = orderByUse(module, &uses);
  if (!mayRenumber(&globals))
    globals.count = 0;
  intptr_t *used = malloc(((size_t)uses.count + 1) * sizeof *used);
  MlirStringRef *stems = malloc(((size_t)globals.count + 1) * sizeof *stems);
  MlirContext context = mlirOperationGetContext(module);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirOperation last = {NULL};
  for (intptr_t i = 0; i < uses.count; ++i)
    used[i] = indexOf(&globals, memrefGetGlobalOpGetNameValue(uses.items[i]));
  for (intptr_t i = 0; i < globals.count; ++i) {
    char text[1024];
    stems[i] = stemOf(memrefGlobalOpGetSymNameValue(globals.items[i]));
    if (!isNumbered(globals.items[i]))
      continue;
    MlirStringRef own = numberedName(stems, i, text, sizeof text);
    memrefGlobalOpSetSymName(globals.items[i], mlirStringAttrGet(context, own));
    if (mlirOperationIsNull(last) && !mlirOperationEqual(globals.items[i], mlirBlockGetFirstOperation(body)))
      mlirOperationMoveBefore(globals.items[i], mlirBlockGetFirstOperation(body));
    else if (!mlirOperationIsNull(last))
      mlirOperationMoveAfter(globals.items[i], last);
    last = globals.items[i];
  }
  for (intptr_t i = 0; i < uses.count; ++i)
    if (used[i] >= 0)
      memrefGetGlobalOpSetName(
          uses.items[i], mlirFlatSymbolRefAttrGet(context, memrefGlobalOpGetSymNameValue(globals.items[used[i]])));
  free(used);
  free(stems);
  tileOpsFree(&uses);
  tileOpsFree(&globals);
}

//===--- the pass -----------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  HostFindings findings = {0};
  mlirOperationWalk(module, examine, &findings, MlirWalkPreOrder);
  if (findings.failed || !protectEntries(module))
    return false;
  mlirExtPassAddStatistic(pass, Statistic_Fallback, findings.fallbacks);
  eraseTensorFrees(module);
  separateEmptyTensors(module);

  MlirExtBufferizationOptions options = {
      .functionBoundaries = true, .allowReturnAllocsFromLoops = true, .skip = isInKernel};
  MlirExtBufferizationStatistics statistics = {0};
  if (mlirLogicalResultIsFailure(mlirExtOneShotBufferizeModule(module, &options, &statistics)))
    return false;
  renumberConstants(module);
  mlirExtPassAddStatistic(pass, Statistic_Allocations, (uint64_t)statistics.allocations);
  mlirExtPassAddStatistic(pass, Statistic_InPlace, (uint64_t)statistics.inPlace);
  mlirExtPassAddStatistic(pass, Statistic_OutOfPlace, (uint64_t)statistics.outOfPlace);

  markEntries(module);
  return true;
}

const MlirExtPassDefinition tileBufferizeHostPass = {
    .argument = "tile-bufferize-host",
    .summary = "Bufferize host functions (one-shot analysis), leaving kernels alone",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"fallback_ops: linalg ops left for upstream's route",
                                        "allocations: buffers allocated", "in_place: operands bufferized in place",
                                        "out_of_place: operands copied by the analysis", NULL},
    .dialects = (const char *const[]){"memref", "arith", "scf", "func", NULL},
    .registerDialects = mlirExtDialectRegistryInsertBufferization,
    .run = run,
};
