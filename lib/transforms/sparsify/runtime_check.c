// sparse-runtime-check: components that are known only when the program runs are held to their format's rules there.
//
// Expects: sparse ops on tensors, before convert-sparse-to-tile. Leaves: before each sparse.assemble whose components
// are not all constant, and at the start of each function that others may call with encoded tensors, the sizes of the
// components compared and a function called that looks at their elements (checks/*.mlir); the same for the list of each
// sparse.sread and sparse.swrite. What breaks a rule is a located error (cf.assert). Constant components are the
// verifiers'. Values beyond the matrix and where a mask is false are not looked at: no kernel reads them. Cost: once
// over positions and coordinates, on the host, at each assemble, sread and swrite.
#include <stdio.h>

#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/checks.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/cf.h"
#include "upstream/func.h"
#include "upstream/tensor.h"

enum { MaxRank = SparseMaxRank, MaxArguments = 3 };

//===--- what is checked ------------------------------------------------------===//

// A tensor, or one part of a sum: its components and sizes as values.
typedef struct Tensor {
  TileBuilder *builder;
  MlirOperation module;
  MlirType type;
  MlirAttribute encoding;
  SparseStorage storage; // of `encoding`
  const MlirValue *components;
  MlirValue sizes[MaxRank];
  uint64_t *checks;
} Tensor;

// How many blocks, tiles, windows or groups lie along an axis.
static MlirValue countCells(const Tensor *tensor, int64_t axis) {
  int64_t cell = tensor->storage.cell[axis];
  MlirValue size = tensor->sizes[axis];
  return cell == 1 ? size : tileBuildCeilDiv(tensor->builder, size, tileBuildIndex(tensor->builder, cell));
}

//===--- sizes ----------------------------------------------------------------===//

// The component's size by the format; null where the number of entries decides, for which the component
// before says it.
static MlirValue wantedSize(const Tensor *tensor, MlirType component, intptr_t index, intptr_t axis) {
  int64_t size = mlirShapedTypeGetDimSize(component, axis);
  const SparseStorage *s = &tensor->storage;
  MlirValue one = tileBuildIndex(tensor->builder, 1);
  if (!mlirShapedTypeIsDynamicSize(size))
    return tileBuildIndex(tensor->builder, size);
  switch (s->scheme) {
  case SparseScheme_Segments:
    return index ? (MlirValue){NULL} : tileBuildAdd(tensor->builder, countCells(tensor, s->major), one);
  case SparseScheme_Windows: // groups, then windows
    return countCells(tensor, axis ? s->windows.axis : 1 - s->windows.axis);
  case SparseScheme_Tiles:
    return index ? tensor->sizes[axis] : countCells(tensor, axis);
  default:
    return (MlirValue){NULL};
  }
}

// A component's size that the number of entries decides is that of the coordinates, which come before the values.
static MlirValue numEntries(const Tensor *tensor, intptr_t index) {
  MlirValue coordinates = tensor->components[index - 1];
  return tileBuildSize(tensor->builder, coordinates, mlirShapedTypeGetRank(mlirValueGetType(coordinates)) - 1);
}

static bool areEqual(MlirValue a, MlirValue b) {
  int64_t x, y;
  return mlirValueEqual(a, b) || (tileConstantIndex(a, &x) && tileConstantIndex(b, &y) && x == y);
}

static void expectEqual(TileBuilder *builder, MlirValue seen, MlirValue wanted, const char *message) {
  if (!areEqual(seen, wanted))
    tileBuildAssert(builder, arithCmpIOpBuild(builder, seen, wanted, ArithCmpI_Eq), message);
}

static void checkSizes(const Tensor *tensor) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  intptr_t count = sparseTypeGetComponents(tensor->type, parts);
  char message[128];
  for (intptr_t i = 0; i < count; ++i)
    for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(parts[i].type); ++axis) {
      MlirValue wanted = wantedSize(tensor, parts[i].type, i, axis);
      if (mlirValueIsNull(wanted) && i + 1 < count)
        continue; // as many as there are
      wanted = mlirValueIsNull(wanted) ? numEntries(tensor, i) : wanted;
      MlirValue seen = tileBuildSize(tensor->builder, tensor->components[i], axis);
      snprintf(message, sizeof message, "%s of #sparse.%s have another size along axis %d than the tensor's says",
               parts[i].name, sparseEncodingGetFormat(tensor->encoding)->name, (int)axis);
      expectEqual(tensor->builder, seen, wanted, message);
    }
}

//===--- elements -------------------------------------------------------------===//

// Calls a check of its own, so that what fails stands at the op that asked. Tensors are cast to what it takes.
static bool callCheck(const Tensor *tensor, TileTemplateUse check, intptr_t count, MlirValue *values) {
  TileBuilder *builder = tensor->builder;
  MlirOperation function = tileTemplateMake(builder->location, &check);
  if (mlirOperationIsNull(function))
    return false;
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(function));
  MlirAttribute symbol = tileTemplateInsert(tensor->module, function, "sparse_check");
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirTypeEqual(mlirValueGetType(values[i]), mlirFunctionTypeGetInput(type, i)))
      values[i] = tensorCastOpBuild(builder, mlirFunctionTypeGetInput(type, i), values[i]);
  funcCallOpBuild(builder, 0, NULL, count, values, symbol);
  ++*tensor->checks;
  return true;
}

static MlirType elementOf(MlirValue value) { return mlirShapedTypeGetElementType(mlirValueGetType(value)); }

static bool checkSegments(const Tensor *tensor) {
  MlirValue size = countCells(tensor, 1 - tensor->storage.major);
  MlirValue values[] = {tensor->components[0], tensor->components[1], size};
  const TileCheckSegments check = {.P = elementOf(values[0]), .I = elementOf(values[1])};
  return callCheck(tensor, tileUseCheckSegments(check), 3, values);
}

static bool checkEntries(const Tensor *tensor) {
  TileBuilder *builder = tensor->builder;
  const int64_t rank[] = {mlirShapedTypeGetRank(tensor->type)};
  MlirType list = mlirRankedTensorTypeGet(1, rank, mlirIndexTypeGet(builder->context), mlirAttributeGetNull());
  MlirType bit = mlirIntegerTypeGet(builder->context, 1);
  MlirValue values[] = {tensor->components[0], tensorFromElementsOpBuild(builder, list, rank[0], tensor->sizes),
                        tileBuildInteger(builder, bit, tensor->storage.isUnordered)};
  const TileCheckEntries check = {.I = elementOf(values[0])};
  return callCheck(tensor, tileUseCheckEntries(check), 3, values);
}

static bool checkWindows(const Tensor *tensor) {
  SparseWindows w = tensor->storage.windows;
  MlirValue values[] = {tensor->components[0], tileBuildIndex(tensor->builder, w.m / w.together)};
  const TileCheckWindows check = {.I = elementOf(values[0])};
  return callCheck(tensor, tileUseCheckWindows(check), 2, values);
}

static bool checkElements(const Tensor *tensor) {
  switch (tensor->storage.scheme) {
  case SparseScheme_Segments:
    return checkSegments(tensor);
  case SparseScheme_Coordinates:
    return checkEntries(tensor);
  case SparseScheme_Windows:
    return checkWindows(tensor);
  default:
    return true; // a mask says nothing that its sizes do not
  }
}

// The parts of a sum one after another.
static bool checkTensor(Tensor tensor) {
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  if (!sparseEncodingIs(tensor.encoding, SparseScheme_Parts)) {
    tensor.storage = sparseEncodingGetStorage(tensor.encoding);
    checkSizes(&tensor);
    return checkElements(&tensor);
  }
  for (intptr_t i = 0; i < sparseEncodingGetNumParts(tensor.encoding); ++i) {
    Tensor part = tensor;
    part.encoding = sparseEncodingGetPart(tensor.encoding, i);
    part.type = sparseTypeWithEncoding(tensor.type, part.encoding);
    if (!checkTensor(part))
      return false;
    tensor.components += sparseTypeGetComponents(part.type, unused);
  }
  return true;
}

//===--- where -----------------------------------------------------------------===//

static bool areConstant(MlirOperation assemble) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(assemble); ++i)
    if (!arithConstantOpIsA(tileDefiningOp(mlirOperationGetOperand(assemble, i))))
      return false;
  return true;
}

static bool checkAssemble(MlirOperation op, MlirOperation module, uint64_t *checks) {
  TileBuilder builder = tileBuilderBefore(op);
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  MlirType type = sparseAssembleOpGetResultType(op);
  Tensor tensor = {&builder, module, type, sparseTypeGetEncoding(type), .checks = checks};
  MlirValue components[SPARSE_MAX_COMPONENTS];
  intptr_t next = sparseTypeGetComponents(type, unused);
  for (intptr_t i = 0; i < next; ++i)
    components[i] = mlirOperationGetOperand(op, i);
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    tensor.sizes[axis] = mlirShapedTypeIsDynamicDim(type, axis)
                             ? mlirOperationGetOperand(op, next++)
                             : tileBuildIndex(&builder, mlirShapedTypeGetDimSize(type, axis));
  tensor.components = components;
  return checkTensor(tensor);
}

// An encoded argument of a function is taken apart for its components.
static bool checkArgument(MlirValue argument, MlirBlock body, MlirOperation function, MlirOperation module,
                          uint64_t *checks) {
  TileBuilder builder = tileBuilderAtStart(body, mlirOperationGetLocation(function));
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirType type = mlirValueGetType(argument), types[SPARSE_MAX_COMPONENTS];
  Tensor tensor = {&builder, module, type, sparseTypeGetEncoding(type), .checks = checks};
  MlirValue components[SPARSE_MAX_COMPONENTS];
  intptr_t count = sparseTypeGetComponents(type, parts);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = parts[i].type;
  MlirOperation apart = sparseDisassembleOpCreate(&builder, count, types, argument);
  for (intptr_t i = 0; i < count; ++i)
    components[i] = mlirOperationGetResult(apart, i);
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    tensor.sizes[axis] = tileBuildSize(&builder, argument, axis);
  tensor.components = components;
  return checkTensor(tensor);
}

// The list of an sread or swrite, and what must be as long as it says.
static bool checkList(MlirOperation op, MlirOperation module, uint64_t *checks) {
  TileBuilder builder = tileBuilderBefore(op), *b = &builder;
  bool isWrite = sparseSwriteOpIsA(op);
  int64_t axis = isWrite ? sparseSwriteOpGetAxisValue(op) : sparseSreadOpGetAxisValue(op);
  MlirValue by = tileBuildIndex(b, isWrite ? sparseSwriteOpGetByValue(op) : sparseSreadOpGetByValue(op));
  MlirValue matrix = isWrite ? sparseSwriteOpGetInit(op) : sparseSreadOpGetSource(op);
  MlirValue list = isWrite ? sparseSwriteOpGetCoordinates(op) : sparseSreadOpGetCoordinates(op);
  if (isWrite) {
    MlirValue packed = sparseSwriteOpGetPacked(op);
    expectEqual(b, tileBuildSize(b, packed, axis), tileBuildMul(b, tileBuildSize(b, list, 0), by),
                "packed holds not as many slices as are listed");
    expectEqual(b, tileBuildSize(b, packed, 1 - axis), tileBuildSize(b, matrix, 1 - axis),
                "packed slices are not as long as init's");
  }
  Tensor tensor = {b, module, mlirValueGetType(list), .components = &list, .checks = checks};
  MlirValue values[] = {list, tileBuildCeilDiv(b, tileBuildSize(b, matrix, axis), by),
                        tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), isWrite)};
  return callCheck(&tensor, tileUseCheckSlices((TileCheckSlices){.I = elementOf(list)}), 3, values);
}

static bool checkArguments(MlirOperation function, MlirOperation module, uint64_t *checks) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  if (!tileSymbolIsPublic(function) || mlirBlockIsNull(body))
    return true;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    if (!mlirAttributeIsNull(sparseTypeGetEncoding(mlirValueGetType(argument))) &&
        !checkArgument(argument, body, function, module, checks))
      return false;
  }
  return true;
}

//===--- the pass ---------------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps assembles = tileCollectOps(module, sparseAssembleOpIsA), functions = tileCollectOps(module, funcFuncOpIsA);
  TileOps lists[] = {tileCollectOps(module, sparseSreadOpIsA), tileCollectOps(module, sparseSwriteOpIsA)};
  uint64_t checks = 0;
  bool ok = true;
  for (intptr_t i = 0; i < assembles.count && ok; ++i)
    ok = areConstant(assembles.items[i]) || checkAssemble(assembles.items[i], module, &checks);
  for (intptr_t i = 0; i < functions.count && ok; ++i)
    ok = checkArguments(functions.items[i], module, &checks);
  for (int which = 0; which < 2; ++which) {
    for (intptr_t i = 0; i < lists[which].count && ok; ++i)
      ok = checkList(lists[which].items[i], module, &checks);
    tileOpsFree(&lists[which]);
  }
  mlirExtPassAddStatistic(pass, 0, checks);
  tileOpsFree(&assembles);
  tileOpsFree(&functions);
  return ok;
}

const MlirExtPassDefinition sparseRuntimeCheckPass = {
    .argument = "sparse-runtime-check",
    .summary = "Check the components of sparse tensors when the program runs",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"checks: tensors, parts of sums, and lists, whose elements are checked", NULL},
    .dialects = (const char *const[]){"arith", "cf", "func", "scf", "tensor", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
