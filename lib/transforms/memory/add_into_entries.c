// Gives every public function with results a second form, NAME_into, that writes the caller's buffers instead.
//
//   func.func @f(%x: tensor<?xf32>) -> tensor<?xf32>     →     func.func @f_into(%x: tensor<?xf32>, %out:
//   memref<?xf32>)
//
// Expects: host functions on tensors, before linalg becomes kernels. Leaves: the functions as they were, and beside
// each a copy with a contiguous memref for every result after its arguments (rank 0 for scalars) and no results. A
// result whose buffer is made by a tensor.empty is marked so that eliminate-empty-tensors computes it in the caller's
// memory; others are copied there. Sizes known only at run time are compared with the buffer's before anything is
// written (tessera_check_size). A long function is not compiled twice: its second form calls it and copies the results,
// which are small beside what hundreds of ops read and write. Buffers must not overlap each other or the arguments. A
// function with a result that is no tensor, memref or scalar, or a tensor with an encoding, has no second form.
#include "dialects/tile/ops.h"
#include "lib/capi/bufferization.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/support/array.h"
#include "lib/transforms/memory/memory.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include "upstream/bufferization.h"
#include "upstream/builtin.h"
#include "upstream/memref.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const checkFunction = "tessera_check_size";

//===--- questions ----------------------------------------------------------===//

static bool isScalar(MlirType type) {
  return mlirTypeIsAInteger(type) || mlirTypeIsAFloat(type) || mlirTypeIsAIndex(type);
}

enum { MaxRank = TESSERA_MAX_RANK };

static bool isShaped(MlirType type) {
  bool isPlain = mlirTypeIsARankedTensor(type) ? mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type))
                                               : mlirTypeIsAMemRef(type);
  return isPlain && mlirShapedTypeGetRank(type) <= MaxRank;
}

static MlirType functionType(MlirOperation function) {
  return mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
}

static bool isEntryWithResults(MlirOperation function) {
  if (!tileSymbolIsPublic(function) || mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0))))
    return false;
  MlirType type = functionType(function);
  intptr_t results = mlirFunctionTypeGetNumResults(type);
  for (intptr_t i = 0; i < results; ++i)
    if (!isShaped(mlirFunctionTypeGetResult(type, i)) && !isScalar(mlirFunctionTypeGetResult(type, i)))
      return false;
  return results > 0;
}

// The destination that the op gives back as this result; null when it is not known to be in destination style.
static MlirValue destinationOf(MlirOperation op, MlirValue result) {
  if (!tileLaunchOpIsA(op) && !tileOpIsStructured(op) && !linalgSoftmaxOpIsA(op))
    return (MlirValue){NULL};
  intptr_t first = mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op);
  MlirValue value = mlirOperationGetOperand(op, first + mlirOpResultGetResultNumber(result));
  return mlirTypeEqual(mlirValueGetType(value), mlirValueGetType(result)) ? value : (MlirValue){NULL};
}

// The tensor.empty whose buffer `value` would be computed in; null when there is none.
static MlirOperation emptyBehind(MlirValue value) {
  while (!mlirValueIsNull(value)) {
    MlirOperation op = tileDefiningOp(value);
    if (mlirOperationIsNull(op) || tensorEmptyOpIsA(op))
      return op;
    value = destinationOf(op, value);
  }
  return (MlirOperation){NULL};
}

//===--- size checks --------------------------------------------------------===//

// One call for each dynamic dimension of `buffer`; `sizes` holds what the result has in these, in order.
static void buildChecks(TileBuilder *builder, intptr_t result, const MlirValue *sizes, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  for (intptr_t i = 0, dynamic = 0; i < mlirShapedTypeGetRank(type); ++i)
    if (mlirShapedTypeIsDynamicDim(type, i)) {
      MlirValue operands[4] = {tileBuildIndex(builder, result), tileBuildIndex(builder, i), sizes[dynamic++],
                               tileBuildDim(builder, buffer, i)};
      tileBuildCall(builder, checkFunction, 4, operands);
    }
}

// As above, for a result that exists already.
static void buildChecksOf(TileBuilder *builder, intptr_t result, MlirValue value, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  MlirValue sizes[MaxRank];
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[count++] = tileBuildDim(builder, value, i);
  buildChecks(builder, result, sizes, buffer);
}

// Before the tensor.empty is filled.
static void buildChecksAtEmpty(MlirOperation empty, intptr_t result, MlirValue buffer) {
  TileBuilder builder = tileBuilderBefore(empty);
  MlirValue sizes[MaxRank];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(empty); ++i)
    sizes[i] = mlirOperationGetOperand(empty, i);
  buildChecks(&builder, result, sizes, buffer);
}

static void declareCheck(MlirOperation module) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  TileBuilder builder = tileBuilderAtStart(body, mlirOperationGetLocation(module));
  MlirType index = mlirIndexTypeGet(builder.context), inputs[4] = {index, index, index, index};
  tileBuildDeclaration(&builder, checkFunction, mlirFunctionTypeGet(builder.context, 4, inputs, 0, NULL));
}

//===--- writing results ----------------------------------------------------===//

static void materialize(TileBuilder *builder, MlirValue value, MlirValue buffer) {
  MlirAttribute unit = mlirUnitAttrGet(builder->context);
  bufferizationMaterializeInDestinationOpCreate(builder, (MlirType){NULL}, value, buffer, unit, unit);
}

static void copyTensor(TileBuilder *builder, intptr_t result, MlirValue value, MlirValue buffer) {
  buildChecksOf(builder, result, value, buffer);
  MlirOperation from =
      bufferizationToBufferOpCreate(builder, mlirValueGetType(buffer), value, mlirUnitAttrGet(builder->context));
  memrefCopyOpBuild(builder, bufferizationToBufferOpGetBuffer(from), buffer);
}

static void writeTensor(TileBuilder *builder, intptr_t result, MlirValue value, MlirValue buffer) {
  MlirOperation empty = emptyBehind(value);
  bool isStatic = mlirShapedTypeHasStaticShape(mlirValueGetType(value));
  if (!isStatic && mlirOperationIsNull(empty)) {
    copyTensor(builder, result, value, buffer);
    return;
  }
  if (!isStatic)
    buildChecksAtEmpty(empty, result, buffer);
  materialize(builder, value, buffer);
}

static void writeResult(TileBuilder *builder, intptr_t result, MlirValue value, MlirValue buffer) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsARankedTensor(type)) {
    writeTensor(builder, result, value, buffer);
  } else if (mlirTypeIsAMemRef(type)) {
    buildChecksOf(builder, result, value, buffer);
    memrefCopyOpBuild(builder, value, buffer);
  } else {
    memrefStoreOpBuild(builder, value, buffer, 0, NULL);
  }
}

//===--- the second form ----------------------------------------------------===//

static MlirType bufferType(MlirType result) {
  if (!isShaped(result))
    return mlirMemRefTypeContiguousGet(result, 0, NULL, (MlirAttribute){NULL});
  int64_t sizes[MaxRank];
  intptr_t rank = mlirShapedTypeGetRank(result);
  for (intptr_t i = 0; i < rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(result, i);
  return mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(result), rank, sizes, (MlirAttribute){NULL});
}

// The buffers overlap nothing; attributes of the arguments are dropped.
static void setArgumentAttributes(MlirOperation function, intptr_t inputs, intptr_t count) {
  MlirContext context = mlirOperationGetContext(function);
  MlirNamedAttribute noAlias =
      mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("llvm.noalias")), mlirUnitAttrGet(context));
  MlirAttribute *all = malloc((size_t)(inputs + count) * sizeof *all);
  for (intptr_t i = 0; i < inputs + count; ++i)
    all[i] = mlirDictionaryAttrGet(context, i >= inputs, &noAlias);
  mlirOperationSetAttributeByName(function, tileString("arg_attrs"), mlirArrayAttrGet(context, inputs + count, all));
  free(all);
}

// Replaces the function's results by buffers at the end of its arguments; `buffers` receives them.
static void changeSignature(MlirOperation function, intptr_t count, MlirValue *buffers) {
  MlirContext context = mlirOperationGetContext(function);
  MlirType type = functionType(function);
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (intptr_t i = 0; i < count; ++i)
    buffers[i] =
        mlirBlockAddArgument(entry, bufferType(mlirFunctionTypeGetResult(type, i)), mlirOperationGetLocation(function));
  intptr_t inputs = mlirBlockGetNumArguments(entry);
  MlirType *types = malloc((size_t)inputs * sizeof *types);
  for (intptr_t i = 0; i < inputs; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(entry, i));
  mlirOperationSetAttributeByName(function, tileString("function_type"),
                                  mlirTypeAttrGet(mlirFunctionTypeGet(context, inputs, types, 0, NULL)));
  free(types);
  setArgumentAttributes(function, inputs - count, count);
  mlirOperationRemoveAttributeByName(function, tileString("res_attrs"));
}

static void changeReturns(MlirOperation function, const MlirValue *buffers) {
  TileOps returns = tileCollectOps(function, funcReturnOpIsA);
  for (intptr_t i = 0; i < returns.count; ++i) {
    TileBuilder builder = tileBuilderBefore(returns.items[i]);
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(returns.items[i]); ++k)
      writeResult(&builder, k, mlirOperationGetOperand(returns.items[i], k), buffers[k]);
    funcReturnOpBuild(&builder, 0, NULL);
    mlirOperationDestroy(returns.items[i]);
  }
  tileOpsFree(&returns);
}

static void nameInto(MlirOperation function, char *name, size_t capacity) {
  MlirStringRef old = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  snprintf(name, capacity, "%.*s_into", (int)old.length, old.data);
}

// A copy of the function, which calls the function and gives what that gives.
static MlirOperation createCaller(MlirOperation function) {
  MlirOperation caller = mlirOperationClone(function);
  MlirRegion body = mlirOperationGetRegion(caller, 0), empty = mlirRegionCreate();
  mlirRegionTakeBody(body, empty);
  mlirRegionDestroy(empty);
  MlirType type = functionType(function);
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), count = mlirFunctionTypeGetNumResults(type);
  MlirValue *values = malloc((size_t)(inputs + count) * sizeof *values), *results = values + inputs;
  MlirType *types = malloc((size_t)(inputs + count) * sizeof *types), *resultTypes = types + inputs;
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(body, block);
  TileBuilder builder = tileBuilderAtEnd(block, mlirOperationGetLocation(function));
  for (intptr_t i = 0; i < inputs; ++i)
    values[i] = mlirBlockAddArgument(block, mlirFunctionTypeGetInput(type, i), builder.location);
  for (intptr_t i = 0; i < count; ++i)
    resultTypes[i] = mlirFunctionTypeGetResult(type, i);
  MlirAttribute callee = mlirFlatSymbolRefAttrGet(builder.context, funcFuncOpGetSymNameValue(function));
  MlirOperation call = funcCallOpBuild(&builder, count, resultTypes, inputs, values, callee);
  for (intptr_t i = 0; i < count; ++i)
    results[i] = mlirOperationGetResult(call, i);
  funcReturnOpBuild(&builder, count, results);
  free(values);
  free(types);
  return caller;
}

static bool isLongerThan(MlirOperation function, int64_t most) {
  TileOps all = tileCollect(function, NULL);
  bool isLonger = all.count > most;
  tileOpsFree(&all);
  return isLonger;
}

static void addInto(MlirOperation function, const char *name, bool isCaller) {
  MlirContext context = mlirOperationGetContext(function);
  MlirOperation into = isCaller ? createCaller(function) : mlirOperationClone(function);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(function), function, into);
  mlirOperationSetAttributeByName(into, tileString("sym_name"), mlirStringAttrGet(context, tileString(name)));
  intptr_t count = mlirFunctionTypeGetNumResults(functionType(function));
  MlirValue *buffers = malloc((size_t)count * sizeof *buffers);
  changeSignature(into, count, buffers);
  changeReturns(into, buffers);
  free(buffers);
}

//===--- the pass -----------------------------------------------------------===//

static bool checkName(MlirOperation function, const char *name) {
  MlirOperation other = tileFindSymbol(function, name);
  return mlirOperationIsNull(other) ||
         tileErrorWithNote(function, mlirOperationGetLocation(other), "this one",
                           "cannot have a form '%s' that writes the caller's buffers: a symbol has that name", name);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  bool ok = true;
  uint64_t added = 0, callers = 0;
  int64_t most = mlirExtPassGetInteger(pass, "most-ops");
  for (intptr_t i = 0; i < functions.count && ok; ++i) {
    char name[1024];
    if (!isEntryWithResults(functions.items[i]))
      continue;
    nameInto(functions.items[i], name, sizeof name);
    ok = checkName(functions.items[i], name);
    bool isCaller = ok && isLongerThan(functions.items[i], most);
    if (ok)
      addInto(functions.items[i], name, isCaller);
    added += ok;
    callers += isCaller;
  }
  if (added)
    declareCheck(module);
  mlirExtPassAddStatistic(pass, 0, added);
  mlirExtPassAddStatistic(pass, 1, callers);
  tileOpsFree(&functions);
  return ok;
}

const MlirExtPassDefinition tileAddIntoEntriesPass = {
    .argument = "tile-add-into-entries",
    .summary = "Add to every public function a form NAME_into that writes the caller's buffers",
    .anchor = builtinModuleOpName,
    .options = (const MlirExtPassOption[]){{"most-ops",
                                            "a function of more ops has a second form that calls it and copies its "
                                            "results",
                                            MlirExtOption_Integer, "500"},
                                           {NULL}},
    .statistics = (const char *const[]){"entries: functions given a second form",
                                        "callers: of these, forms that call the function", NULL},
    .dialects = (const char *const[]){"memref", "tensor", "arith", "func", NULL},
    .registerDialects = mlirExtDialectRegistryInsertBufferization,
    .run = run,
};
