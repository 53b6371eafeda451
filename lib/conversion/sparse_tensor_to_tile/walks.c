// Entries of stored tensors, and conversions by way of them. A nest is built twice: a kernel counts, one fills.
#include "lib/conversion/sparse_tensor_to_tile/lowering.h"

#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <stdlib.h>

//===--- emitting -------------------------------------------------------------------===//

typedef struct Emission {
  LevelNest *nest;
  const NestPlace *place;
  MlirValue value;
} Emission;

static void store(TileBuilder *b, MlirValue *unused, void *data) {
  const Emission *emission = data;
  const LevelEmitter *to = emission->nest->emitter;
  MlirValue zero = tileBuildIndex(b, 0), one = tileBuildInteger(b, mlirIntegerTypeGet(b->context, 64), 1);
  MlirValue number = memrefLoadOpBuild(b, to->count, 1, &zero);
  MlirType i64 = mlirValueGetType(number);
  memrefStoreOpBuild(b, arithAddIOpBuild(b, number, one), to->count, 1, &zero);
  if (mlirValueIsNull(to->values))
    return;
  MlirValue at = arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), number);
  const NestOperand *output = emission->nest->output;
  for (intptr_t l = 0; l < output->storage.count; ++l) {
    MlirValue coordinate = sparseNestCoordinate(emission->nest, b, emission->place, output, l);
    memrefStoreOpBuild(b, arithIndexCastOpBuild(b, i64, coordinate), to->coordinates[l], 1, &at);
  }
  memrefStoreOpBuild(b, emission->value, to->values, 1, &at);
}

void sparseLevelEmit(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue present, MlirValue value) {
  Emission emission = {nest, place, value};
  if (mlirValueIsNull(present))
    store(b, NULL, &emission);
  else
    sparseNestIf(b, present, 0, NULL, store, NULL, &emission);
}

static bool fill(LevelLowering *lowering, const LevelStorage *to, LevelPrepare prepare, void *data,
                 LevelEntries *entries) {
  TileBuilder *b = &lowering->builder;
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  MlirValue one = tileBuildIndex(b, 1), results[LevelMax + 2];
  bool counts = mlirValueIsNull(entries->count);
  LevelKernel kernel = sparseLevelKernelBegin(lowering);
  LevelEmitter emitter = {{NULL}};
  LevelNest *nest = calloc(1, sizeof *nest);
  nest->data = data;
  bool ok = prepare(&kernel, nest, data);
  emitter.count = sparseLevelKernelGive(&kernel, sparseLevelZeros(b, i64, one));
  for (intptr_t l = 0; !counts && l < to->count; ++l)
    emitter.coordinates[l] = sparseLevelKernelGive(&kernel, sparseLevelVector(b, i64, entries->count));
  if (!counts)
    emitter.values = sparseLevelKernelGive(&kernel, sparseLevelVector(b, to->element, entries->count));
  nest->emitter = &emitter;
  if (ok)
    sparseNestBuild(nest, &kernel.builder);
  sparseLevelKernelLaunch(&kernel, counts ? "count_entries" : "fill_entries", results);
  if (counts)
    entries->count = sparseLevelNumber(b, results[0], tileBuildIndex(b, 0));
  for (intptr_t l = 0; !counts && l < to->count; ++l)
    entries->coordinates[l] = results[1 + l];
  if (!counts)
    entries->values = results[1 + to->count];
  free(nest);
  return ok;
}

bool sparseLevelMakeEntries(LevelLowering *lowering, const LevelStorage *to, LevelPrepare prepare, void *data,
                            LevelEntries *entries) {
  *entries = (LevelEntries){{NULL}};
  bool isCounted = fill(lowering, to, prepare, data, entries);
  return isCounted && fill(lowering, to, prepare, data, entries);
}

//===--- walking ----------------------------------------------------------------------===//

typedef struct Walk {
  const LevelStorage *from, *to;
  const MlirValue *values;
  NestOperand output;
  bool isInOrder;
} Walk;

static bool isThere(const LevelNest *nest, const bool *present) {
  return present[0] || !nest->operands[0].storage.count;
}

static void beginEntry(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried) {}
static void endEntry(LevelNest *nest, TileBuilder *b, const NestPlace *place, const MlirValue *carried) {}

// Whether zeros, of either sign, are left out: dense tensors, and windows that are filled up.
static bool hasZeros(const LevelStorage *storage) {
  bool has = !storage->count;
  for (intptr_t l = 0; l < storage->count; ++l)
    has |= storage->levels[l].kind == LevelKind_Structured;
  return has;
}

// A number as another type of elements: floats are rounded or cut, integers are signed, except i1.
static MlirValue asElement(TileBuilder *b, MlirValue value, MlirType element) {
  MlirType from = mlirValueGetType(value);
  bool isSigned = !mlirTypeIsAInteger(from) || mlirIntegerTypeGetWidth(from) > 1;
  if (mlirTypeEqual(from, element))
    return value;
  if (mlirTypeIsAFloat(from))
    return mlirTypeIsAFloat(element) ? tileBuildFloatCast(b, value, element) : arithFPToSIOpBuild(b, element, value);
  if (mlirTypeIsAFloat(element))
    return isSigned ? arithSIToFPOpBuild(b, element, value) : arithUIToFPOpBuild(b, element, value);
  return tileBuildIntegerCast(b, value, element, isSigned);
}

static void leafEntry(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried) {
  const Walk *walk = nest->data;
  NestTerm term = sparseNestLoad(nest, b, place, 0);
  MlirType type = mlirValueGetType(term.value);
  if (hasZeros(walk->from)) {
    MlirValue zero = sparseNestZero(b, type);
    term.present = mlirTypeIsAFloat(type) ? arithCmpFOpBuild(b, term.value, zero, ArithCmpF_Une)
                                          : arithCmpIOpBuild(b, term.value, zero, ArithCmpI_Ne);
  }
  sparseLevelEmit(nest, b, place, term.present, asElement(b, term.value, walk->to->element));
}

static bool prepareWalk(LevelKernel *kernel, LevelNest *nest, void *data) {
  Walk *walk = data;
  MlirAffineMap identity = mlirAffineMapMultiDimIdentityGet(kernel->builder.context, walk->from->rank);
  nest->numAxes = walk->from->rank;
  nest->numOperands = 1;
  nest->operands[0] = (NestOperand){.storage = *walk->from, .map = identity};
  sparseLevelTakeOperand(kernel, &nest->operands[0], walk->values);
  for (intptr_t axis = 0; axis < nest->numAxes; ++axis)
    nest->sizes[axis] = nest->operands[0].sizes[axis];
  walk->output = (NestOperand){.storage = *walk->to, .map = identity};
  nest->output = &walk->output;
  nest->mayBe = isThere;
  nest->begin = beginEntry;
  nest->leaf = leafEntry;
  nest->end = endEntry;
  bool ok = sparseNestPlan(nest);
  walk->isInOrder = ok && sparseNestIsInOrder(nest);
  return ok;
}

static bool entriesInAnyOrder(LevelLowering *lowering, const LevelStorage *from, const MlirValue *values,
                              const LevelStorage *to, LevelEntries *entries, bool *isInOrder) {
  Walk walk = {.from = from, .to = to, .values = values};
  bool ok = sparseLevelMakeEntries(lowering, to, prepareWalk, &walk, entries);
  *isInOrder = walk.isInOrder;
  return ok || tileError(lowering->op, "has more blocked axes than a nest of loops holds here");
}

bool sparseLevelEntriesOf(LevelLowering *lowering, const LevelStorage *from, const MlirValue *values,
                          const LevelStorage *to, LevelEntries *entries) {
  MlirValue sizes[LevelMax];
  bool isInOrder;
  sparseLevelSizesOf(&lowering->builder, from, values, sizes);
  return entriesInAnyOrder(lowering, from, values, to, entries, &isInOrder) &&
         (isInOrder || sparseLevelSortEntries(lowering, to, sizes, entries));
}

//===--- convert ------------------------------------------------------------------------===//

typedef struct Unpack {
  MlirValue output;
} Unpack;

static void leafUnpack(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue *carried) {
  const Unpack *unpack = nest->data;
  NestTerm term = sparseNestLoad(nest, b, place, 0);
  MlirValue value = asElement(b, term.value, mlirShapedTypeGetElementType(mlirValueGetType(unpack->output)));
  memrefStoreOpBuild(b, value, unpack->output, nest->numAxes, place->axes);
}

static bool unpack(LevelLowering *lowering, const LevelStorage *from, const MlirValue *operand, MlirType type,
                   MlirValue *result) {
  TileBuilder *b = &lowering->builder;
  MlirValue sizes[LevelMax], open[LevelMax];
  intptr_t numOpen = 0;
  sparseLevelSizesOf(b, from, operand, sizes);
  for (intptr_t axis = 0; axis < from->rank; ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      open[numOpen++] = sizes[axis];
  MlirValue zeros = tensorSplatOpBuild(b, type, sparseNestZero(b, mlirShapedTypeGetElementType(type)), numOpen, open);
  LevelKernel kernel = sparseLevelKernelBegin(lowering);
  LevelNest *nest = calloc(1, sizeof *nest);
  Unpack data;
  nest->numAxes = from->rank;
  nest->numOperands = 1;
  nest->operands[0] = (NestOperand){.storage = *from, .map = mlirAffineMapMultiDimIdentityGet(b->context, from->rank)};
  sparseLevelTakeOperand(&kernel, &nest->operands[0], operand);
  for (intptr_t axis = 0; axis < nest->numAxes; ++axis)
    nest->sizes[axis] = nest->operands[0].sizes[axis];
  nest->mayBe = isThere;
  nest->begin = beginEntry;
  nest->leaf = leafUnpack;
  nest->end = endEntry;
  nest->data = &data;
  data.output = sparseLevelKernelGive(&kernel, zeros);
  bool ok = sparseNestPlan(nest);
  if (ok)
    sparseNestBuild(nest, &kernel.builder);
  sparseLevelKernelLaunch(&kernel, "unpack_levels", result);
  free(nest);
  return ok || tileError(lowering->op, "has more blocked axes than a nest of loops holds here");
}

const char *sparseLevelWhyNotConvert(MlirOperation op) {
  MlirType from = mlirShapedTypeGetElementType(tileOnlyOperandType(op));
  MlirType to = mlirShapedTypeGetElementType(tileOnlyResultType(op));
  bool isListed = !mlirAttributeIsNull(tileListedConstant(tileOnlyOperand(op)));
  bool isKnown =
      (mlirTypeIsAFloat(from) || mlirTypeIsAInteger(from)) && (mlirTypeIsAFloat(to) || mlirTypeIsAInteger(to));
  if (mlirTypeEqual(from, to) || (isKnown && !isListed))
    return NULL;
  return isListed ? "converts the elements of a constant that lists them"
                  : "converts elements that are no numbers here";
}

// What a constant lists, its zeros as well: it stores them. The host has no loops for it.
static void entriesOfConstant(TileBuilder *b, MlirAttribute constant, const LevelStorage *to, LevelEntries *entries) {
  MlirAttribute places = mlirSparseElementsAttrGetIndices(constant), values = mlirSparseElementsAttrGetValues(constant);
  bool isSplat = mlirDenseElementsAttrIsSplat(places);
  int64_t count = mlirShapedTypeGetDimSize(mlirAttributeGetType(values), 0), rank = to->rank;
  int64_t *coordinates = malloc((size_t)(count + 1) * sizeof *coordinates);
  MlirType type = mlirRankedTensorTypeGet(1, &count, mlirIntegerTypeGet(b->context, 64), mlirAttributeGetNull());
  entries->count = tileBuildIndex(b, count);
  for (intptr_t l = 0; l < to->count; ++l) {
    const StoredLevel *level = &to->levels[l];
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = isSplat ? mlirDenseElementsAttrGetInt64SplatValue(places)
                           : mlirDenseElementsAttrGetInt64Value(places, i * rank + level->dim);
      coordinates[i] = level->isRest ? at % level->by : at / level->by;
    }
    MlirValue listed = tileBuildConstant(b, mlirDenseElementsAttrInt64Get(type, count, coordinates));
    entries->coordinates[l] = sparseLevelOpen(b, listed);
  }
  entries->values = sparseLevelOpen(b, tileBuildConstant(b, values));
  free(coordinates);
}

bool sparseLevelLowerConvert(LevelLowering *lowering, MlirValue *values, intptr_t *count) {
  LevelStorage from, to;
  LevelEntries entries;
  MlirValue sizes[LevelMax];
  const MlirValue *operand = lowering->operands[0].values;
  sparseLevelStorageOf(tileOnlyOperandType(lowering->op), &from);
  sparseLevelStorageOf(tileOnlyResultType(lowering->op), &to);
  if (!to.count) {
    *count = 1;
    if (from.count)
      return unpack(lowering, &from, operand, to.type, values);
    values[0] = operand[0];
    return true;
  }
  sparseLevelSizesOf(&lowering->builder, &from, operand, sizes);
  MlirAttribute constant = tileListedConstant(tileOnlyOperand(lowering->op));
  bool ok = true;
  if (mlirAttributeIsNull(constant))
    ok = sparseLevelEntriesOf(lowering, &from, operand, &to, &entries);
  else {
    entriesOfConstant(&lowering->builder, constant, &to, &entries);
    ok = sparseLevelSortEntries(lowering, &to, sizes, &entries);
  }
  *count = ok ? sparseLevelStoreEntries(lowering, &to, sizes, &entries, values) : 0;
  return *count > 0;
}
