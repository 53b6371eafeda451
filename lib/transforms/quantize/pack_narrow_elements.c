// tile-pack-narrow-elements: elements of 2 to 7 bits (i4, f4E2M1FN, f6E3M2FN, …) cross the entries of a program, and
// lie in its constants, as bytes.
//
//   func.func @main(%w: tensor<4096x4096xi4>)       →  func.func @main(%p: tensor<4096x2048xi8>), whose first ops shift
//                                                      and mask the bytes as exporters do: tile-find-low-bit then lets
//                                                      products read %p. A tile.bitcast makes elements of 3, 5, 6 and
//                                                      7 bits, which may lie in two bytes
// Results become bytes at each return. A buffer (memref) is copied into one of elements at the start, and back before
// each return. Rows begin with a byte, the first element has the lowest bits, and bits behind a row's end become 0.
// Expects: func.func before any lowering; a second run finds nothing. Leaves: functions that are not public as they
// are, and so do types of unknown sizes, which no caller can pass; calls of a public function call a private copy of
// it. Constants of fewer than MinConstant elements, and splats, stay. Cost: linear in the code and in the constants.
#include "lib/transforms/quantize/quantize.h"

#include "dialects/tile/tile.h"
#include "lib/ir/support.h"
#include "lib/support/array.h"
#include "lib/transforms/quantize/packed_rows.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Values, Constants, MinConstant = 1024 };

static const char *const statistics[] = {"values: arguments and results that are bytes now",
                                         "constants: constants that are bytes now", NULL};

//===--- questions ----------------------------------------------------------------------------------===//

static MlirType functionType(MlirOperation function) {
  return mlirTypeAttrGetValue(funcFuncOpGetFunctionType(function));
}

static bool isEntry(MlirOperation op) {
  return funcFuncOpIsA(op) && tileSymbolIsPublic(op) &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(funcFuncOpGetBody(op)));
}

static int64_t countPacked(MlirOperation function) {
  MlirType type = functionType(function);
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), all = inputs + mlirFunctionTypeGetNumResults(type);
  int64_t count = 0;
  for (intptr_t i = 0; i < all; ++i) {
    MlirType one = i < inputs ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i - inputs);
    count += tileHasNarrowElements(one) && !mlirTypeIsNull(tilePackedRowsOf(one));
  }
  return count;
}

//===--- calls of entries ---------------------------------------------------------------------------===//

// Those who call the entry call a copy that takes what they give.
static void keepForCallers(MlirOperation function, const TileOps *calls) {
  MlirContext context = mlirOperationGetContext(function);
  MlirStringRef name = mlirStringAttrGetValue(funcFuncOpGetSymName(function));
  MlirAttribute inner = {NULL};
  for (intptr_t i = 0; i < calls->count; ++i) {
    MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(funcCallOpGetCallee(calls->items[i]));
    if (!mlirStringRefEqual(callee, name))
      continue;
    if (mlirAttributeIsNull(inner)) {
      char stem[512];
      snprintf(stem, sizeof stem, "%.*s_of_elements", (int)name.length, name.data);
      inner = tileFreshSymbol(function, stem);
      MlirOperation copy = mlirOperationClone(function);
      mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(function), function, copy);
      mlirOperationSetAttributeByName(copy, tileString("sym_name"), inner);
      mlirOperationSetAttributeByName(copy, tileString("sym_visibility"),
                                      mlirStringAttrGet(context, tileString("private")));
    }
    funcCallOpSetCallee(calls->items[i], mlirFlatSymbolRefAttrGet(context, mlirStringAttrGetValue(inner)));
  }
}

//===--- arguments ----------------------------------------------------------------------------------===//

typedef struct Use {
  MlirOperation op;
  intptr_t operand;
} Use;

// Gives `value` another type; whoever uses it uses what `unpack` makes of it.
static MlirValue replaceArgument(MlirValue argument, MlirType packed, TileBuilder *b) {
  MlirType type = mlirValueGetType(argument);
  intptr_t count = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(argument); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    ++count;
  Use *uses = malloc(((size_t)count + 1) * sizeof *uses);
  MlirOpOperand use = mlirValueGetFirstUse(argument);
  for (intptr_t i = 0; i < count; ++i, use = mlirOpOperandGetNextUse(use))
    uses[i] = (Use){mlirOpOperandGetOwner(use), mlirOpOperandGetOperandNumber(use)};
  mlirValueSetType(argument, packed);
  MlirValue whole;
  if (mlirTypeIsAMemRef(type)) {
    whole = memrefAllocOpBuild(b, type, 0, NULL, 0, NULL);
    tileBuildUnpackBuffer(b, argument, whole);
  } else {
    whole = tileBuildUnpackedTensor(b, argument, type);
  }
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(uses[i].op, uses[i].operand, whole);
  free(uses);
  return whole;
}

static MlirValue packedResult(TileBuilder *b, MlirValue value) {
  MlirType type = mlirValueGetType(value), packed = tilePackedRowsOf(type);
  if (mlirTypeIsNull(packed))
    return value;
  if (!mlirTypeIsAMemRef(type))
    return tileBuildPackedTensor(b, value);
  MlirValue bytes = memrefAllocOpBuild(b, packed, 0, NULL, 0, NULL);
  tileBuildPackBuffer(b, value, bytes);
  return bytes;
}

// `buffers[i]`: the elements of argument i, if it is a buffer of bytes.
static void changeReturn(MlirOperation op, MlirBlock entry, const MlirValue *buffers) {
  TileBuilder b = tileBuilderBefore(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(op, i, packedResult(&b, mlirOperationGetOperand(op, i)));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); ++i)
    if (!mlirValueIsNull(buffers[i])) {
      tileBuildPackBuffer(&b, buffers[i], mlirBlockGetArgument(entry, i));
      memrefDeallocOpBuild(&b, buffers[i]);
    }
}

static void changeFunction(MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  MlirType type = functionType(function);
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
  MlirBlock entry = mlirRegionGetFirstBlock(funcFuncOpGetBody(function));
  TileBuilder b = tileBuilderAtStart(entry, mlirOperationGetLocation(function));
  MlirType *types = calloc((size_t)(inputs + results) + 1, sizeof *types);
  MlirValue *buffers = calloc((size_t)inputs + 1, sizeof *buffers);
  for (intptr_t i = 0; i < inputs + results; ++i) {
    MlirType one = i < inputs ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i - inputs);
    MlirType packed = tilePackedRowsOf(one);
    types[i] = mlirTypeIsNull(packed) ? one : packed;
    if (i >= inputs || mlirTypeIsNull(packed))
      continue;
    MlirValue whole = replaceArgument(mlirBlockGetArgument(entry, i), packed, &b);
    buffers[i] = mlirTypeIsAMemRef(one) ? whole : (MlirValue){NULL};
  }
  TileOps returns = tileCollectOps(function, funcReturnOpIsA);
  for (intptr_t i = 0; i < returns.count; ++i)
    changeReturn(returns.items[i], entry, buffers);
  tileOpsFree(&returns);
  funcFuncOpSetFunctionType(function,
                            mlirTypeAttrGet(mlirFunctionTypeGet(context, inputs, types, results, types + inputs)));
  free(types);
  free(buffers);
}

//===--- constants ----------------------------------------------------------------------------------===//

static void freeBytes(void *userData, const void *data, size_t size, size_t align) { free((void *)(uintptr_t)data); }

// MLIR keeps a byte for each element, whose low bits count.
static MlirAttribute packedData(MlirType type, MlirType packed, const unsigned char *elements) {
  enum { Alignment = 64 };
  char text[64];
  int64_t shape[TESSERA_MAX_RANK];
  tessera_array_t array;
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(packed, i);
  if (!tessera_array_create(TESSERA_U8, (int)rank, shape, &array, NULL))
    return (MlirAttribute){NULL};
  array.packing =
      (tessera_packing_t){tessera_packed_type(tileTypeText(mlirShapedTypeGetElementType(type), text, sizeof text)),
                          mlirShapedTypeGetDimSize(type, rank - 1)};
  for (int64_t i = 0; i < tessera_array_elements(&array); ++i)
    tessera_packed_set(&array, i, elements[i]);
  return mlirUnmanagedDenseResourceElementsAttrGet(packed, tileString("packed"), array.data, (size_t)array.count,
                                                   Alignment, false, freeBytes, NULL);
}

static bool packConstant(MlirOperation constant) {
  MlirType type = tileOnlyResultType(constant);
  if (!mlirTypeIsARankedTensor(type) || !tileHasNarrowElements(type))
    return false;
  MlirType packed = tilePackedRowsOf(type);
  if (mlirTypeIsNull(packed))
    return false;
  MlirAttribute value = arithConstantOpGetValue(constant);
  bool isDense = mlirAttributeIsADenseElements(value) && !mlirDenseElementsAttrIsSplat(value);
  const unsigned char *elements = isDense ? mlirDenseElementsAttrGetRawData(value) : NULL;
  int64_t count = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    count *= mlirShapedTypeGetDimSize(type, i);
  MlirAttribute data = elements && count >= MinConstant ? packedData(type, packed, elements) : (MlirAttribute){NULL};
  if (mlirAttributeIsNull(data))
    return false;
  TileBuilder b = tileBuilderBefore(constant);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(constant),
                                tileBuildUnpackedTensor(&b, tileBuildConstant(&b, data), type));
  mlirOperationDestroy(constant);
  return true;
}

static uint64_t packConstants(MlirOperation function) {
  TileOps constants = tileCollectOps(function, arithConstantOpIsA);
  uint64_t count = 0;
  for (intptr_t i = 0; i < constants.count; ++i)
    count += packConstant(constants.items[i]);
  tileOpsFree(&constants);
  return count;
}

//===--- the pass -----------------------------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA), calls = tileCollectOps(module, funcCallOpIsA);
  for (intptr_t i = 0; i < functions.count; ++i) {
    int64_t count = isEntry(functions.items[i]) ? countPacked(functions.items[i]) : 0;
    mlirExtPassAddStatistic(pass, Values, (uint64_t)count);
    mlirExtPassAddStatistic(pass, Constants, packConstants(functions.items[i]));
    if (!count)
      continue;
    keepForCallers(functions.items[i], &calls);
    changeFunction(functions.items[i]);
  }
  tileOpsFree(&calls);
  tileOpsFree(&functions);
  return true;
}

const MlirExtPassDefinition tilePackNarrowElementsPass = {
    .argument = "tile-pack-narrow-elements",
    .summary = "Pass elements of 2 to 7 bits in bytes, and keep constants of them so",
    .anchor = builtinModuleOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"memref", "tensor", "linalg", "scf", "arith", "func", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
