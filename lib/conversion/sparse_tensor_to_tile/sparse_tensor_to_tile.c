// convert-sparse-tensor-to-tile: programs of upstream's sparse_tensor dialect as loops over levels, in kernels of ours.
// The code generator of TACO (OOPSLA 2017) for the levels that upstream's encodings list; entries are how sparse
// results are made (stored_entries.c). For what convert-sparse-tensor-to-sparse has a format and an op for, that pass
// gives faster kernels; this one is for the rest.
//
// Expects: func.func on tensors; linalg ops on encoded tensors are generic. Leaves: no encoding of upstream's, a
// tile.kernel for each nest of loops, the tensors' arrays in functions and control flow (storage.h). An op that it does
// not know is an error, and nothing is changed. Cost: linear in the module.
#include "lib/conversion/sparse_tensor_to_tile/sparse_tensor_to_tile.h"

#include "dialects/tile/tile.h"
#include "lib/conversion/sparse_tensor_to_tile/lowering.h"
#include "lib/ir/pass.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/sparse_tensor.h"
#include "upstream/tensor.h"

//===--- types ------------------------------------------------------------------------===//

static bool convertType(MlirType type, MlirExtTypeList types, void *unused) {
  LevelStorage storage;
  if (!sparseLevelTypeIsEncoded(type) || !sparseLevelStorageOf(type, &storage))
    return false;
  for (intptr_t i = 0; i < storage.numArrays; ++i)
    mlirExtTypeListAppend(types, sparseLevelArrayType(&storage, i));
  for (intptr_t axis = 0; axis < storage.rank; ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      mlirExtTypeListAppend(types, mlirIndexTypeGet(mlirTypeGetContext(type)));
  return true;
}

static bool isEncodedHere(MlirType type, bool *isStored) {
  LevelStorage storage;
  bool isEncoded = sparseLevelTypeIsEncoded(type);
  *isStored &= !isEncoded || sparseLevelStorageOf(type, &storage);
  return isEncoded;
}

static bool touchesEncoding(MlirOperation op, bool *isStored) {
  bool found = tileOpIsOfDialect(op, "sparse_tensor");
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    found |= isEncodedHere(tileOperandType(op, i), isStored);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    found |= isEncodedHere(tileResultType(op, i), isStored);
  if (!funcFuncOpIsA(op))
    return found;
  MlirType type = mlirTypeAttrGetValue(funcFuncOpGetFunctionType(op));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    found |= isEncodedHere(mlirFunctionTypeGetInput(type, i), isStored);
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    found |= isEncodedHere(mlirFunctionTypeGetResult(type, i), isStored);
  return found;
}

//===--- integers ---------------------------------------------------------------------===//

// The elements of a vector as integers of another width; none is negative.
static MlirValue castElements(TileBuilder *b, MlirValue vector, MlirType element) {
  MlirType type = mlirValueGetType(vector), from = mlirShapedTypeGetElementType(type);
  if (mlirTypeEqual(from, element))
    return vector;
  bool isIndex = mlirTypeIsAIndex(from) || mlirTypeIsAIndex(element);
  TileUpstream kind = isIndex                                                            ? ArithOp_IndexCastUI
                      : mlirIntegerTypeGetWidth(from) < mlirIntegerTypeGetWidth(element) ? ArithOp_ExtUI
                                                                                         : ArithOp_TruncI;
  int64_t size = mlirShapedTypeGetDimSize(type, 0);
  MlirType result = mlirRankedTensorTypeGet(1, &size, element, mlirAttributeGetNull());
  MlirValue operands[] = {vector, tileBuildEmptyLike(b, result, vector)};
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(b, &region, 2, (MlirType[]){from, element});
  MlirValue cast = tileBuildCast(&body, kind, mlirBlockGetArgument(body.block, 0), element);
  linalgYieldOpBuild(&body, 1, &cast);
  MlirAttribute identity = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, 1));
  MlirOperation op = linalgGenericOpBuild(b, 1, &result, 1, &operands[0], 1, &operands[1],
                                          mlirArrayAttrGet(b->context, 2, (MlirAttribute[]){identity, identity}),
                                          tileBuildIteratorTypes(b, 1, 0), region);
  return tileOnlyResult(op);
}

static MlirType openVector(MlirType element) {
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  return mlirRankedTensorTypeGet(1, open, element, mlirAttributeGetNull());
}

static MlirValue castTo(TileBuilder *b, MlirValue tensor, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(tensor), type) ? tensor : tensorCastOpBuild(b, type, tensor);
}

static MlirType wide(const TileBuilder *b) { return mlirIntegerTypeGet(b->context, 64); }

//===--- rows of interleaved coordinates ------------------------------------------------===//

// Column `column` of an n × rank matrix, taken out or put in.
static MlirValue takeColumn(TileBuilder *b, MlirValue matrix, intptr_t column) {
  MlirType type = mlirValueGetType(matrix);
  const int64_t open = mlirShapedTypeGetDynamicSize(), offsets[] = {0, column}, sizes[] = {open, 1}, ones[] = {1, 1};
  MlirValue n = tileBuildSize(b, matrix, 0);
  return tensorExtractSliceOpBuild(b, openVector(mlirShapedTypeGetElementType(type)), matrix, 0, NULL, 1, &n, 0, NULL,
                                   mlirDenseI64ArrayGet(b->context, 2, offsets),
                                   mlirDenseI64ArrayGet(b->context, 2, sizes),
                                   mlirDenseI64ArrayGet(b->context, 2, ones));
}

// Coordinates of all levels, entry by entry, in one row.
static MlirValue interleave(TileBuilder *b, const LevelStorage *storage, const MlirValue *arrays, MlirType element) {
  const int64_t open = mlirShapedTypeGetDynamicSize(), rank = storage->count, shape[] = {open, rank};
  MlirValue n = tileBuildSize(b, arrays[storage->values], 0);
  MlirType type = mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull());
  MlirValue all = tensorEmptyOpBuild(b, type, 1, &n);
  for (intptr_t l = 0; l < rank; ++l) {
    const int64_t offsets[] = {0, l}, sizes[] = {open, 1}, ones[] = {1, 1};
    MlirValue column = castElements(b, arrays[storage->levels[l].coordinates], element);
    all =
        tensorInsertSliceOpBuild(b, column, all, 0, NULL, 1, &n, 0, NULL, mlirDenseI64ArrayGet(b->context, 2, offsets),
                                 mlirDenseI64ArrayGet(b->context, 2, sizes), mlirDenseI64ArrayGet(b->context, 2, ones));
  }
  MlirAttribute axes[] = {mlirIntegerAttrGet(wide(b), 0), mlirIntegerAttrGet(wide(b), 1)};
  MlirAttribute group = mlirArrayAttrGet(b->context, 2, axes);
  return tensorCollapseShapeOpBuild(b, openVector(element), all, mlirArrayAttrGet(b->context, 1, &group));
}

//===--- ops ----------------------------------------------------------------------------===//

static const MlirValue *arraysOf(const LevelLowering *lowering, LevelStorage *storage) {
  sparseLevelStorageOf(tileFirstOperandType(lowering->op), storage);
  return lowering->operands[0].values;
}

// What upstream's assemble takes: positions and coordinates by level, values last; arrays may be longer than needed.
static bool lowerAssemble(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  TileBuilder *b = &lowering->builder;
  LevelStorage storage;
  sparseLevelStorageOf(tileOnlyResultType(lowering->op), &storage);
  MlirValue sizes[LevelMax], n = tileBuildIndex(b, 1), one = n;
  intptr_t next = 0;
  for (intptr_t axis = 0; axis < storage.rank; ++axis)
    sizes[axis] = tileBuildIndex(b, mlirShapedTypeGetDimSize(storage.type, axis));
  for (intptr_t l = 0; l < storage.count; ++l) {
    const StoredLevel *level = &storage.levels[l];
    if (level->positions >= 0) {
      bool isLoose = level->kind == LevelKind_Loose;
      MlirValue given = castElements(b, lowering->operands[next++].values[0], wide(b));
      MlirValue length = isLoose ? tileBuildMul(b, n, tileBuildIndex(b, 2)) : tileBuildAdd(b, n, one);
      values[level->positions] = sparseLevelFirst(b, castTo(b, given, openVector(wide(b))), length);
      // Loose segments: as far as the last one ends.
      n = sparseLevelNumber(b, values[level->positions], tileBuildSub(b, length, one));
    }
    if (level->kind == LevelKind_Structured)
      n = tileBuildMul(b, n, tileBuildIndex(b, level->n));
    if (level->kind == LevelKind_Dense)
      n = tileBuildMul(b, n, sparseLevelSize(b, level, sizes));
    if (level->coordinates < 0)
      continue;
    MlirValue given = lowering->operands[next].values[0];
    if (storage.isTogether)
      given = takeColumn(b, given, l);
    next += !storage.isTogether || l + 1 == storage.count;
    given = castTo(b, castElements(b, given, wide(b)), openVector(wide(b)));
    values[level->coordinates] = sparseLevelFirst(b, given, n);
  }
  MlirValue given = castTo(b, lowering->operands[next].values[0], openVector(storage.element));
  values[storage.values] = sparseLevelFirst(b, given, n);
  *count = storage.numArrays;
  return true;
}

// `part` at the beginning of `whole`, of rank 1 or interleaved of rank 2.
static MlirValue insertAtStart(TileBuilder *b, MlirValue part, MlirValue whole) {
  const int64_t zero[] = {0, 0}, one[] = {1, 1}, open[] = {mlirShapedTypeGetDynamicSize(), 1};
  MlirValue n = tileBuildSize(b, part, 0);
  return tensorInsertSliceOpBuild(b, part, whole, 0, NULL, 1, &n, 0, NULL, mlirDenseI64ArrayGet(b->context, 1, zero),
                                  mlirDenseI64ArrayGet(b->context, 1, open), mlirDenseI64ArrayGet(b->context, 1, one));
}

// A stored array as a buffer with the integers that the op names.
static bool lowerBuffer(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  TileBuilder *b = &lowering->builder;
  LevelStorage storage;
  const MlirValue *arrays = arraysOf(lowering, &storage);
  MlirType type = tileOnlyResultType(lowering->op), element = mlirShapedTypeGetElementType(type);
  MlirAttribute which = tileOpAttribute(lowering->op, "level");
  const StoredLevel *level = mlirAttributeIsNull(which) ? NULL : &storage.levels[mlirIntegerAttrGetValueInt(which)];
  MlirValue array;
  if (sparseTensorToCoordinatesBufferOpIsA(lowering->op))
    array = interleave(b, &storage, arrays, element);
  else if (level)
    array = arrays[sparseTensorToPositionsOpIsA(lowering->op) ? level->positions : level->coordinates];
  else
    array = arrays[storage.values];
  if (!mlirTypeEqual(mlirShapedTypeGetElementType(mlirValueGetType(array)), element))
    array = castElements(b, array, element);
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  MlirType plain = mlirMemRefTypeContiguousGet(element, 1, open, mlirAttributeGetNull());
  values[0] =
      bufferizationToBufferOpGetBuffer(bufferizationToBufferOpCreate(b, plain, array, mlirUnitAttrGet(b->context)));
  if (!mlirTypeEqual(plain, type))
    values[0] = memrefCastOpBuild(b, type, values[0]);
  *count = 1;
  return true;
}

static bool lowerNumberOfEntries(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  LevelStorage storage;
  const MlirValue *arrays = arraysOf(lowering, &storage);
  values[0] = tileBuildSize(&lowering->builder, arrays[storage.values], 0);
  *count = 1;
  return true;
}

static bool lowerDim(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  LevelStorage storage;
  MlirValue sizes[LevelMax];
  int64_t axis = 0;
  const MlirValue *arrays = arraysOf(lowering, &storage);
  tileConstantIndex(tensorDimOpGetIndex(lowering->op), &axis);
  sparseLevelSizesOf(&lowering->builder, &storage, arrays, sizes);
  values[0] = sizes[axis];
  *count = 1;
  return true;
}

static bool lowerLvl(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  LevelStorage storage;
  MlirValue sizes[LevelMax];
  int64_t level = 0;
  const MlirValue *arrays = arraysOf(lowering, &storage);
  tileConstantIndex(sparseTensorLvlOpGetIndex(lowering->op), &level);
  sparseLevelSizesOf(&lowering->builder, &storage, arrays, sizes);
  values[0] = sparseLevelSize(&lowering->builder, &storage.levels[level], sizes);
  *count = 1;
  return true;
}

// tensor.cast between encoded types: what becomes open is given, what becomes known trusted.
static bool lowerCast(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  LevelStorage from, to;
  MlirValue sizes[LevelMax];
  const MlirValue *arrays = arraysOf(lowering, &from);
  sparseLevelStorageOf(tileOnlyResultType(lowering->op), &to);
  sparseLevelSizesOf(&lowering->builder, &from, arrays, sizes);
  for (*count = 0; *count < from.numArrays; ++*count)
    values[*count] = arrays[*count];
  for (intptr_t axis = 0; axis < to.rank; ++axis)
    if (mlirShapedTypeIsDynamicDim(to.type, axis))
      values[(*count)++] = sizes[axis];
  return true;
}

static bool lowerEmpty(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  TileBuilder *b = &lowering->builder;
  LevelStorage storage;
  LevelEntries entries = {.count = tileBuildIndex(b, 0)};
  MlirValue sizes[LevelMax];
  intptr_t open = 0;
  sparseLevelStorageOf(tileOnlyResultType(lowering->op), &storage);
  for (intptr_t axis = 0; axis < storage.rank; ++axis)
    sizes[axis] = mlirShapedTypeIsDynamicDim(storage.type, axis)
                      ? lowering->operands[open++].values[0]
                      : tileBuildIndex(b, mlirShapedTypeGetDimSize(storage.type, axis));
  for (intptr_t l = 0; l < storage.count; ++l)
    entries.coordinates[l] = sparseLevelVector(b, wide(b), entries.count);
  entries.values = sparseLevelVector(b, storage.element, entries.count);
  *count = sparseLevelStoreEntries(lowering, &storage, sizes, &entries, values);
  return *count > 0;
}

static bool lowerNothing(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  *count = 0;
  return true;
}

typedef struct Row {
  bool (*isA)(MlirOperation op);
  bool (*lower)(LevelLowering *lowering, MlirValue *values, intptr_t *count);
} Row;

static const Row rows[] = {
    {linalgGenericOpIsA, sparseLevelLowerGeneric},
    {sparseTensorConvertOpIsA, sparseLevelLowerConvert},
    {sparseTensorAssembleOpIsA, lowerAssemble},
    {sparseTensorToPositionsOpIsA, lowerBuffer},
    {sparseTensorToCoordinatesOpIsA, lowerBuffer},
    {sparseTensorToCoordinatesBufferOpIsA, lowerBuffer},
    {sparseTensorToValuesOpIsA, lowerBuffer},
    {sparseTensorNumberOfEntriesOpIsA, lowerNumberOfEntries},
    {tensorDimOpIsA, lowerDim},
    {sparseTensorLvlOpIsA, lowerLvl},
    {tensorCastOpIsA, lowerCast},
    {tensorEmptyOpIsA, lowerEmpty},
    {bufferizationAllocTensorOpIsA, lowerEmpty},
    {bufferizationDeallocTensorOpIsA, lowerNothing},
};
enum { NumRows = sizeof rows / sizeof *rows };

static const Row *rowOf(MlirOperation op) {
  for (int i = 0; i < NumRows; ++i)
    if (rows[i].isA(op))
      return &rows[i];
  return NULL;
}

//===--- disassemble ----------------------------------------------------------------------===//

// The caller's buffers with what is stored at their beginnings, then how many elements each holds of it.
static intptr_t disassemble(LevelLowering *lowering, MlirValue *results) {
  TileBuilder *b = &lowering->builder;
  LevelStorage storage;
  const MlirValue *arrays = arraysOf(lowering, &storage);
  MlirOperation op = lowering->op;
  intptr_t numResults = mlirOperationGetNumResults(op), half = numResults / 2, next = 0;
  for (intptr_t i = 0; i < storage.numArrays; ++i) {
    MlirValue whole = lowering->operands[1 + next].values[0];
    MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(whole));
    bool isShared = storage.isTogether && i > 0 && i < storage.values;
    MlirValue part = isShared              ? interleave(b, &storage, arrays, element)
                     : i == storage.values ? arrays[i]
                                           : castElements(b, arrays[i], element);
    MlirValue length = tileBuildSize(b, part, 0);
    if (mlirShapedTypeGetRank(mlirValueGetType(whole)) != 1)
      return 0;
    results[next] = insertAtStart(b, part, whole);
    MlirType counted = tileResultType(op, half + next);
    results[half + next] = mlirTypeIsAIndex(counted) ? length : arithIndexCastOpBuild(b, counted, length);
    ++next;
    if (isShared)
      i = storage.values - 1;
  }
  return numResults;
}

//===--- the conversion -------------------------------------------------------------------===//

static MlirLogicalResult convertOp(MlirOperation op, intptr_t count, const MlirExtValueRange *operands,
                                   MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data) {
  LevelLowering lowering = {op, operands, tileBuilderInPattern(rewriter, op), data};
  MlirValue values[LevelMaxValues];
  intptr_t made = 0;
  if (sparseTensorDisassembleOpIsA(op)) {
    MlirExtValueRange ranges[LevelMaxValues];
    made = disassemble(&lowering, values);
    for (intptr_t i = 0; i < made; ++i)
      ranges[i] = (MlirExtValueRange){1, &values[i]};
    if (made)
      mlirExtRewriterReplaceOpWithMultiple(rewriter, op, made, ranges);
    return made ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
  }
  const Row *row = rowOf(op);
  if (!row || !row->lower(&lowering, values, &made))
    return mlirLogicalResultFailure();
  MlirExtValueRange range = {made, values};
  mlirExtRewriterReplaceOpWithMultiple(rewriter, op, mlirOperationGetNumResults(op), &range);
  return mlirLogicalResultSuccess();
}

static bool isLegal(MlirOperation op, void *unused) {
  bool isStored = true;
  MlirOperation parent = mlirOperationGetParentOperation(op);
  return !touchesEncoding(op, &isStored) || (tileOpIsOfDialect(op, "sparse_tensor") && !rowOf(op) &&
                                             !sparseTensorDisassembleOpIsA(op) && !mlirOperationIsNull(parent));
}

static bool convert(MlirOperation module, LevelKernels *kernels) {
  const MlirExtConversion1ToNCallback converts[] = {convertOp};
  const TileDialectConversion conversion = {
      .spreadType = convertType, .isLegal = isLegal, .numSpreads = 1, .spreads = converts, .userData = kernels};
  return tileConvertDialect(module, &conversion);
}

//===--- the pass ---------------------------------------------------------------------------===//

static bool isInBody(MlirOperation op) { return !mlirOperationIsNull(tileParentOp(op, linalgGenericOpIsA)); }

static const char *whyNot(MlirOperation op) {
  int64_t axis;
  if (isInBody(op))
    return NULL; // with its linalg op
  if (linalgGenericOpIsA(op))
    return sparseLevelWhyNotGeneric(op);
  if ((tensorDimOpIsA(op) && !tileConstantIndex(tensorDimOpGetIndex(op), &axis)) ||
      (sparseTensorLvlOpIsA(op) && !tileConstantIndex(sparseTensorLvlOpGetIndex(op), &axis)))
    return "asks for a size that is not constant";
  if (sparseTensorAssembleOpIsA(op) && !mlirShapedTypeHasStaticShape(tileOnlyResultType(op)))
    return "assembles a tensor of open sizes";
  if (sparseTensorConvertOpIsA(op))
    return sparseLevelWhyNotConvert(op);
  if (rowOf(op) || sparseTensorDisassembleOpIsA(op) || tileOpIsOfDialect(op, "func") || tileOpIsOfDialect(op, "scf"))
    return NULL;
  return "is not known here to take or give sparse tensors";
}

typedef struct Survey {
  bool isFound, ok;
} Survey;

static MlirWalkResult survey(MlirOperation op, void *data) {
  Survey *found = data;
  bool isStored = true;
  if (!touchesEncoding(op, &isStored))
    return MlirWalkResultAdvance;
  found->isFound = true;
  const char *why = isStored ? whyNot(op) : "stores a sparse tensor in levels that are not walked here";
  if (why)
    found->ok = tileError(op, "%s", why);
  return MlirWalkResultAdvance;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Survey found = {false, true};
  LevelKernels kernels = {.module = module};
  mlirOperationWalk(module, survey, &found, MlirWalkPreOrder);
  if (!found.ok || !found.isFound)
    return found.ok;
  bool ok = convert(module, &kernels);
  mlirExtPassAddStatistic(pass, 0, kernels.numLaunches);
  sparseLevelKernelsEnd(&kernels);
  return ok;
}

const MlirExtPassDefinition sparseTensorToTilePass = {
    .argument = "convert-sparse-tensor-to-tile",
    .summary = "Turn programs of upstream's sparse_tensor dialect into kernels that walk levels",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"kernels: launches of kernels that walk or store levels", NULL},
    .dialects = (const char *const[]){"affine", "arith", "bufferization", "func", "linalg", "math", "memref", "scf",
                                      "sparse_tensor", "tensor", "vector", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
