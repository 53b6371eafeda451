// tile.reduce. A reduction with a known combiner keeps vectors of partial results. Across the last axis a fixed tree
// joins several accumulators. Across the other axes there is one vector per place of the result, or one for each of
// four rows if there are many. If all rows read one shared row (a matrix times a vector), four rows are reduced
// together: the vectors of the shared row are loaded once for them, and memory sends four streams. The order of
// combination depends on the kernel alone, never on the edges. Regions and several operands are combined element by
// element (ops/folds.c).
#include "dialects/tile/combiner.h"
#include "lib/conversion/tile_to_vector/lowering.h"
#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

// Accumulators of one row; rows that are reduced together, and the accumulators of each of those.
enum { MaxAccumulators = 4, RowsTogether = 4, AccumulatorsTogether = 2 };

//===--- combiners -------------------------------------------------------------------===//

static const TileCombiner *findCombiner(MlirAttribute operation) {
  return mlirAttributeIsNull(operation) ? NULL : tileCombinerFind(mlirStringAttrGetValue(operation));
}

// vector.reduction names no element type: addf and addi are its add.
static VectorCombiningKind wordOf(const TileCombiner *combiner) {
  switch (combiner->kind) {
  case ArithOp_AddF:
  case ArithOp_AddI:
    return VectorCombiningKind_Add;
  case ArithOp_MulF:
  case ArithOp_MulI:
    return VectorCombiningKind_Mul;
  case ArithOp_AndI:
    return VectorCombiningKind_And;
  case ArithOp_OrI:
    return VectorCombiningKind_Or;
  case ArithOp_XOrI:
    return VectorCombiningKind_Xor;
  case ArithOp_MaximumF:
    return VectorCombiningKind_Maximumf;
  case ArithOp_MaxNumF:
    return VectorCombiningKind_Maxnumf;
  case ArithOp_MinimumF:
    return VectorCombiningKind_Minimumf;
  case ArithOp_MinNumF:
    return VectorCombiningKind_Minnumf;
  case ArithOp_MaxSI:
    return VectorCombiningKind_Maxsi;
  case ArithOp_MaxUI:
    return VectorCombiningKind_Maxui;
  case ArithOp_MinSI:
    return VectorCombiningKind_Minsi;
  default:
    return VectorCombiningKind_Minui;
  }
}

// A sum starts from -0: upstream's own start, +0, makes +0 of a sum of -0.
MlirValue vecBuildReduction(TileBuilder *builder, MlirType element, MlirValue vector, VectorCombiningKind word) {
  bool isSum = word == VectorCombiningKind_Add && mlirTypeIsAFloat(element);
  MlirValue start = isSum ? tileBuildFloat(builder, element, -0.0) : (MlirValue){NULL};
  MlirAttribute flags = tileFastMathAttr(builder->context, TileFastMath_Reassociate);
  MlirOperation reduction = vectorReductionOpCreate(builder, element, vector, start, word, flags);
  return vectorReductionOpGetDest(reduction);
}

static MlirValue neutralValue(TileBuilder *builder, const TileCombiner *combiner, MlirType element, int64_t width) {
  MlirAttribute neutral = tileCombinerNeutral(combiner, element);
  return tileBuildConstant(builder,
                           width ? mlirDenseElementsAttrSplatGet(vecVectorOf(element, width), neutral) : neutral);
}

MlirValue vecNeutralElement(TileBuilder *builder, MlirAttribute given, MlirAttribute operation, intptr_t input,
                            MlirType element) {
  if (!mlirAttributeIsNull(given))
    return tileBuildConstant(builder, mlirArrayAttrGetElement(given, input));
  const TileCombiner *combiner = findCombiner(operation);
  return combiner ? neutralValue(builder, combiner, element, 0) : (MlirValue){NULL};
}

static MlirValue combine(TileBuilder *builder, const TileCombiner *combiner, MlirValue a, MlirValue b) {
  return tileBuildBinary(builder, combiner->kind, a, b);
}

// The least or largest of floats is taken by halves: LLVM takes apart what orders nan, lane by lane.
static MlirValue reduceVector(TileBuilder *builder, const TileCombiner *combiner, MlirValue vector) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(vector));
  int64_t width = mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0);
  for (; combiner->isFloat && combiner->isIdempotent && width % 2 == 0; width /= 2)
    vector = combine(builder, combiner, vecBuildLanes(builder, vector, 0, width / 2),
                     vecBuildLanes(builder, vector, width / 2, width / 2));
  return vecBuildReduction(builder, element, vector, wordOf(combiner));
}

//===--- the nest ------------------------------------------------------------------------===//

typedef struct Reduction {
  VecLowering *lowering;
  MlirOperation op;
  const TileCombiner *combiner;
  VecRecord *source;
  bool reduced[MaxRank];
  intptr_t loops[MaxRank], numLoops, depth; // the reduced dimensions but the last, and how many are open
  bool inside;                              // no masks needed here
  bool isInside;                            // nor anywhere in the source
  VecCoord coords[MaxRank];                 // in the source
  MlirValue padding;                        // a vector of a row's padding
  int64_t width;                            // of the result's vector when the last axis stays; 0: scalars
  intptr_t kept;                            // the last dimension that is not reduced, or -1
  bool isShared;                            // rows along it read what does not depend on it
  int64_t rows;                             // along it, taken at once
} Reduction;

// Across the last axis those of a row follow each other, row after row.
typedef struct Accumulators {
  MlirValue values[RowsTogether * (MaxAccumulators + 1)];
  intptr_t count;
} Accumulators;

typedef Accumulators (*InnerStep)(Reduction *reduction, Accumulators accumulators);

// scf.for carrying the accumulators over dimension d; `inner` is emitted in its body.
static Accumulators loopOver(Reduction *reduction, intptr_t d, MlirValue from, MlirValue to, int64_t step,
                             Accumulators accumulators, InnerStep inner) {
  VecLowering *lowering = reduction->lowering;
  MlirBlock body;
  MlirValue by = tileBuildIndex(&lowering->builder, step);
  MlirOperation loop = tileBuildFor(&lowering->builder, from, to, by, accumulators.count, accumulators.values, &body);
  TileBuilder before = vecEnter(lowering, body);
  VecCoord outer = reduction->coords[d];
  reduction->coords[d] = vecCoordOf(mlirBlockGetArgument(body, 0));
  for (intptr_t i = 0; i < accumulators.count; ++i)
    accumulators.values[i] = mlirBlockGetArgument(body, i + 1);
  accumulators = inner(reduction, accumulators);
  tileBuildYield(&lowering->builder, accumulators.count, accumulators.values);
  lowering->builder = before;
  reduction->coords[d] = outer;
  for (intptr_t i = 0; i < accumulators.count; ++i)
    accumulators.values[i] = mlirOperationGetResult(loop, i);
  return accumulators;
}

//===--- across the last axis ---------------------------------------------------------------===//

static int64_t accumulatorsFor(const Reduction *reduction) {
  int64_t chunks = vecShapeLast(&reduction->source->shape) / reduction->lowering->widths.lanes;
  int64_t most = reduction->isShared ? AccumulatorsTogether : MaxAccumulators;
  return chunks >= most ? most : chunks;
}

// Includes the accumulator of the part that fills no vector.
static int64_t accumulatorsOfRow(const Reduction *reduction) {
  return accumulatorsFor(reduction) + (vecShapeLast(&reduction->source->shape) % reduction->lowering->widths.lanes > 0);
}

// `width` elements from coords on, of each row, into accumulator `i` of it.
static void addChunk(Reduction *reduction, VecBody *body, const VecCoord *coords, int64_t width, int64_t i,
                     Accumulators *accumulators) {
  intptr_t axis = reduction->source->shape.rank - 1;
  VecCoord at[MaxRank];
  memcpy(at, coords, sizeof at);
  for (int64_t r = 0; r < reduction->rows; ++r) {
    if (r)
      at[reduction->kept] = vecCoordPlus(coords[reduction->kept], r);
    MlirValue chunk = vecEvaluate(body, reduction->source, at, axis, width);
    MlirValue *into = &accumulators->values[r * accumulatorsOfRow(reduction) + i];
    *into = combine(&reduction->lowering->builder, reduction->combiner, *into, chunk);
  }
}

// Chunks column, column + lanes, … one into each accumulator.
static Accumulators addChunks(Reduction *reduction, Accumulators accumulators) {
  VecLowering *lowering = reduction->lowering;
  intptr_t axis = reduction->source->shape.rank - 1;
  VecBody body = vecBodyBegin(lowering, reduction->inside);
  VecCoord coords[MaxRank];
  memcpy(coords, reduction->coords, sizeof coords);
  for (int64_t i = 0; i < accumulatorsFor(reduction); ++i, coords[axis].offset += lowering->widths.lanes)
    addChunk(reduction, &body, coords, lowering->widths.lanes, i, &accumulators);
  vecBodyEnd(&body);
  return accumulators;
}

// The chunks left over after whole rounds of accumulators, and the part that fills no vector.
static Accumulators addRest(Reduction *reduction, Accumulators accumulators, int64_t from) {
  VecLowering *lowering = reduction->lowering;
  int64_t last = vecShapeLast(&reduction->source->shape), lanes = lowering->widths.lanes;
  intptr_t axis = reduction->source->shape.rank - 1;
  VecBody body = vecBodyBegin(lowering, reduction->inside);
  VecCoord coords[MaxRank];
  memcpy(coords, reduction->coords, sizeof coords);
  for (int64_t i = 0; from < last; ++i, from += lanes) {
    int64_t width = last - from < lanes ? last - from : lanes;
    coords[axis] = vecCoordConstant(from);
    addChunk(reduction, &body, coords, width, width < lanes ? accumulatorsFor(reduction) : i, &accumulators);
  }
  vecBodyEnd(&body);
  return accumulators;
}

// Chunks that are padding only: evaluated once, added as often as there are.
static Accumulators addPadding(Reduction *reduction, Accumulators accumulators) {
  for (int64_t i = 0; i < accumulatorsFor(reduction); ++i)
    accumulators.values[i] =
        combine(&reduction->lowering->builder, reduction->combiner, accumulators.values[i], reduction->padding);
  return accumulators;
}

// The rounds from `from` on, with masks; from where all is padding to `end` without.
static Accumulators addMasked(Reduction *reduction, Accumulators accumulators, MlirValue from, MlirValue end,
                              int64_t round) {
  VecLowering *lowering = reduction->lowering;
  intptr_t axis = reduction->source->shape.rank - 1;
  MlirValue padded = vecPaddedFrom(lowering, reduction->source, reduction->coords, round);
  if (mlirValueIsNull(padded))
    return loopOver(reduction, axis, from, end, round, accumulators, addChunks);
  padded = tileBuildMin(&lowering->builder, padded, end);
  accumulators = loopOver(reduction, axis, from, padded, round, accumulators, addChunks);
  VecBody body = vecBodyBegin(lowering, false);
  reduction->coords[axis] = vecCoordOf(padded);
  reduction->padding = vecEvaluate(&body, reduction->source, reduction->coords, axis, lowering->widths.lanes);
  reduction->coords[axis] = vecCoordConstant(0);
  vecBodyEnd(&body);
  return loopOver(reduction, axis, padded, end, round, accumulators, addPadding);
}

static Accumulators addRow(Reduction *reduction, Accumulators accumulators) {
  VecLowering *lowering = reduction->lowering;
  TileBuilder *builder = &lowering->builder;
  intptr_t axis = reduction->source->shape.rank - 1;
  int64_t last = vecShapeLast(&reduction->source->shape), round = accumulatorsFor(reduction) * lowering->widths.lanes;
  int64_t whole = round ? last / round * round : 0;
  reduction->coords[axis] = vecCoordConstant(0);
  MlirValue unmasked = {NULL};
  if (!reduction->isInside)
    unmasked = vecUnmaskedCount(lowering, reduction->source, NULL, reduction->coords, round ? round : 1);
  MlirValue zero = tileBuildIndex(builder, 0), end = tileBuildIndex(builder, whole);
  if (whole) {
    reduction->inside = true;
    accumulators =
        loopOver(reduction, axis, zero, mlirValueIsNull(unmasked) ? end : unmasked, round, accumulators, addChunks);
  }
  reduction->inside = mlirValueIsNull(unmasked);
  if (whole && !mlirValueIsNull(unmasked))
    accumulators = addMasked(reduction, accumulators, unmasked, end, round);
  return addRest(reduction, accumulators, whole);
}

static Accumulators startAccumulators(Reduction *reduction) {
  TileBuilder *builder = &reduction->lowering->builder;
  const VecShape *shape = &reduction->source->shape;
  int64_t lanes = reduction->lowering->widths.lanes, each = accumulatorsOfRow(reduction);
  Accumulators accumulators = {.count = reduction->rows * each};
  for (intptr_t i = 0; i < accumulators.count; ++i) {
    int64_t width = i % each < accumulatorsFor(reduction) ? lanes : vecShapeLast(shape) % lanes;
    accumulators.values[i] = neutralValue(builder, reduction->combiner, shape->element, width);
  }
  return accumulators;
}

// A tree over `count` accumulators, into the first.
static void joinAccumulators(Reduction *reduction, MlirValue *values, intptr_t count) {
  for (intptr_t apart = 1; apart < count; apart *= 2)
    for (intptr_t i = 0; i + apart < count; i += 2 * apart)
      values[i] = combine(&reduction->lowering->builder, reduction->combiner, values[i], values[i + apart]);
}

// A row's accumulators, then their lanes; the part that fills no vector comes last.
static MlirValue finish(Reduction *reduction, MlirValue *values) {
  TileBuilder *builder = &reduction->lowering->builder;
  intptr_t full = accumulatorsFor(reduction);
  joinAccumulators(reduction, values, full);
  MlirValue result = {NULL};
  if (full)
    result = reduceVector(builder, reduction->combiner, values[0]);
  if (accumulatorsOfRow(reduction) == full)
    return result;
  MlirValue rest = reduceVector(builder, reduction->combiner, values[full]);
  return !mlirValueIsNull(result) ? combine(builder, reduction->combiner, result, rest) : rest;
}

//===--- across the other axes ----------------------------------------------------------------===//

// Rows that are added into one accumulator each, so that additions do not wait for each other.
static int64_t rowsAtOnce(const Reduction *reduction) {
  int64_t rows = reduction->numLoops ? reduction->source->shape.sizes[reduction->loops[reduction->numLoops - 1]] : 0;
  return rows >= 2 * MaxAccumulators ? MaxAccumulators : 1;
}

// Rows row, row + 1, … one into each accumulator.
static Accumulators addRows(Reduction *reduction, Accumulators accumulators, VecCoord row, intptr_t count) {
  VecLowering *lowering = reduction->lowering;
  intptr_t d = reduction->loops[reduction->numLoops - 1], last = reduction->source->shape.rank - 1;
  VecBody body = vecBodyBegin(lowering, reduction->inside);
  for (intptr_t i = 0; i < count; ++i) {
    reduction->coords[d] = vecCoordPlus(row, i);
    MlirValue vector = vecEvaluate(&body, reduction->source, reduction->coords, last, reduction->width);
    accumulators.values[i] = combine(&lowering->builder, reduction->combiner, accumulators.values[i], vector);
  }
  vecBodyEnd(&body);
  return accumulators;
}

static Accumulators addWholeRows(Reduction *reduction, Accumulators accumulators) {
  VecCoord row = reduction->coords[reduction->loops[reduction->numLoops - 1]];
  return addRows(reduction, accumulators, row, accumulators.count);
}

static Accumulators addAllRows(Reduction *reduction, Accumulators accumulators) {
  TileBuilder *builder = &reduction->lowering->builder;
  intptr_t d = reduction->loops[reduction->numLoops - 1];
  int64_t rows = reduction->source->shape.sizes[d], whole = rows / accumulators.count * accumulators.count;
  accumulators = loopOver(reduction, d, tileBuildIndex(builder, 0), tileBuildIndex(builder, whole), accumulators.count,
                          accumulators, addWholeRows);
  return addRows(reduction, accumulators, vecCoordConstant(whole), rows - whole);
}

// Loops over the reduced dimensions but the last, outermost first; inside them, rows or vectors.
static Accumulators reduceDeeper(Reduction *reduction, Accumulators accumulators) {
  TileBuilder *builder = &reduction->lowering->builder;
  if (reduction->width && reduction->depth == reduction->numLoops - 1)
    return addAllRows(reduction, accumulators);
  if (reduction->depth == reduction->numLoops)
    return addRow(reduction, accumulators);
  intptr_t d = reduction->loops[reduction->depth++];
  MlirValue end = tileBuildIndex(builder, reduction->source->shape.sizes[d]);
  accumulators = loopOver(reduction, d, tileBuildIndex(builder, 0), end, 1, accumulators, reduceDeeper);
  --reduction->depth;
  return accumulators;
}

static void clearReduced(Reduction *reduction) {
  for (intptr_t d = 0; d < reduction->source->shape.rank; ++d)
    if (reduction->reduced[d])
      reduction->coords[d] = vecCoordConstant(0);
}

// The results at reduction->coords and, of more rows, the next: scalars.
static void reduceRowsAt(Reduction *reduction, MlirValue *results) {
  clearReduced(reduction);
  Accumulators accumulators = reduceDeeper(reduction, startAccumulators(reduction));
  for (int64_t r = 0; r < reduction->rows; ++r)
    results[r] = finish(reduction, &accumulators.values[r * accumulatorsOfRow(reduction)]);
}

static MlirValue reduceVectorAt(Reduction *reduction) {
  TileBuilder *builder = &reduction->lowering->builder;
  clearReduced(reduction);
  Accumulators accumulators = {.count = rowsAtOnce(reduction)};
  for (intptr_t i = 0; i < accumulators.count; ++i)
    accumulators.values[i] =
        neutralValue(builder, reduction->combiner, reduction->source->shape.element, reduction->width);
  accumulators = reduceDeeper(reduction, accumulators);
  joinAccumulators(reduction, accumulators.values, accumulators.count);
  return accumulators.values[0];
}

//===--- places of the result -------------------------------------------------------------------===//

// Puts the result's coordinates where they belong in the source.
static void placeResult(Reduction *reduction, const VecCoord *coords) {
  for (intptr_t d = 0, kept = 0; d < reduction->source->shape.rank; ++d)
    if (!reduction->reduced[d])
      reduction->coords[d] = coords[kept++];
}

static void storeVectorOfResult(VecBody *body, VecRecord *source, const VecAccess *target, const VecCoord *coords,
                                int64_t width, void *data) {
  (void)source;
  Reduction *reduction = data;
  placeResult(reduction, coords);
  reduction->width = width;
  vecAccessStore(body, target, coords, target->shape.rank - 1, width, reduceVectorAt(reduction));
}

static void storeRowsOfResult(Reduction *reduction, const VecAccess *target, VecCoord *coords, int64_t rows) {
  VecLowering *lowering = reduction->lowering;
  intptr_t last = target->shape.rank - 1;
  MlirValue results[RowsTogether];
  placeResult(reduction, coords);
  reduction->rows = rows;
  reduceRowsAt(reduction, results);
  VecBody body = vecBodyBegin(lowering, true);
  for (int64_t r = 0; r < rows; ++r) {
    VecCoord at[MaxRank];
    memcpy(at, coords, sizeof at);
    if (r)
      at[last] = vecCoordPlus(coords[last], r);
    vecAccessStore(&body, target, at, -1, 0, results[r]);
  }
  vecBodyEnd(&body);
}

static void storeScalarsOfResult(Reduction *reduction, const VecAccess *target, intptr_t d, VecCoord *coords) {
  VecLowering *lowering = reduction->lowering;
  if (d == target->shape.rank) {
    storeRowsOfResult(reduction, target, coords, 1);
    return;
  }
  bool isTogether = reduction->isShared && reduction->isInside && d == target->shape.rank - 1;
  int64_t size = target->shape.sizes[d], step = isTogether ? RowsTogether : 1, whole = size / step * step;
  MlirBlock block = vecBuildLoop(&lowering->builder, tileBuildIndex(&lowering->builder, 0),
                                 tileBuildIndex(&lowering->builder, whole), step);
  TileBuilder before = vecEnter(lowering, block);
  coords[d] = vecCoordOf(mlirBlockGetArgument(block, 0));
  if (isTogether)
    storeRowsOfResult(reduction, target, coords, step);
  else
    storeScalarsOfResult(reduction, target, d + 1, coords);
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
  coords[d] = vecCoordConstant(whole);
  if (whole < size)
    storeRowsOfResult(reduction, target, coords, size - whole);
}

static void storeScalars(Reduction *reduction, const VecAccess *target) {
  VecCoord coords[MaxRank];
  storeScalarsOfResult(reduction, target, 0, coords);
}

static void storeVectors(Reduction *reduction, const VecAccess *target) {
  vecForEachVector(reduction->lowering, NULL, target, storeVectorOfResult, reduction);
}

// One version where all of the source is inside, one with masks.
static void storeInVersions(Reduction *reduction, const VecAccess *target,
                            void (*store)(Reduction *reduction, const VecAccess *target)) {
  VecLowering *lowering = reduction->lowering;
  MlirValue inside = vecAllInside(lowering, reduction->source);
  reduction->inside = reduction->isInside = true;
  if (mlirValueIsNull(inside)) {
    store(reduction, target);
    return;
  }
  MlirBlock branches[2];
  vecBuildIf(&lowering->builder, inside, 0, NULL, &branches[0], &branches[1]);
  for (int i = 0; i < 2; ++i) {
    TileBuilder before = vecEnter(lowering, branches[i]);
    reduction->inside = reduction->isInside = i == 0;
    store(reduction, target);
    tileBuildYield(&lowering->builder, 0, NULL);
    lowering->builder = before;
  }
}

static void readAxes(Reduction *reduction) {
  MlirAttribute axes = tileReduceOpGetAxes(reduction->op);
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    reduction->reduced[mlirDenseI64ArrayGetElement(axes, i)] = true;
  for (intptr_t d = 0; d + 1 < reduction->source->shape.rank; ++d)
    if (reduction->reduced[d])
      reduction->loops[reduction->numLoops++] = d;
  reduction->kept = reduction->source->shape.rank - 1;
  while (reduction->kept >= 0 && reduction->reduced[reduction->kept])
    --reduction->kept;
}

static bool hasAxis(MlirAttribute axes, int64_t axis) {
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    if (mlirDenseI64ArrayGetElement(axes, i) == axis)
      return true;
  return false;
}

// Whether enough rows read vectors that are the same for all of them.
static bool areRowsShared(const Reduction *reduction) {
  const VecShape *shape = &reduction->source->shape;
  intptr_t last = shape->rank - 1;
  if (reduction->kept < 0 || shape->sizes[reduction->kept] < RowsTogether)
    return false;
  VecRecords records = vecRecordsBehind(reduction->lowering, reduction->source);
  for (intptr_t i = 0; i < records.count; ++i) {
    const VecRecord *record = records.items[i];
    if (record->kind != VecRecord_Lazy || !tileBroadcastOpIsA(record->op) || record->shape.rank != shape->rank)
      continue;
    MlirAttribute axes = tileBroadcastOpGetAxes(record->op);
    if (vecIsTile(mlirValueGetType(tileBroadcastOpGetInput(record->op))) && hasAxis(axes, reduction->kept) &&
        !hasAxis(axes, last))
      return true;
  }
  return false;
}

static void reduceKnown(VecLowering *lowering, MlirOperation op, const TileCombiner *combiner) {
  VecRecord *source = vecRecordOf(lowering, tileReduceOpGetInputs(op, 0));
  MlirValue result = tileReduceOpGetResults(op, 0);
  Reduction reduction = {.lowering = lowering, .op = op, .combiner = combiner, .source = source, .rows = 1};
  readAxes(&reduction);
  bool isAcross = reduction.reduced[source->shape.rank - 1];
  reduction.isShared = isAcross && vecIsTile(mlirValueGetType(result)) && areRowsShared(&reduction);
  intptr_t mark = vecSpill(lowering, source, false);
  if (!vecIsTile(mlirValueGetType(result))) {
    MlirValue value;
    reduceRowsAt(&reduction, &value);
    vecRecordScalar(lowering, result, value);
  } else {
    VecShape shape = vecShapeOf(mlirValueGetType(result));
    VecAccess *target = vecBufferNew(lowering, &shape);
    if (!isAcross)
      storeInVersions(&reduction, target, storeVectors);
    else if (reduction.isShared)
      storeInVersions(&reduction, target, storeScalars);
    else
      storeScalars(&reduction, target);
    vecRecordMemory(lowering, result, target);
  }
  vecUnspill(lowering, mark);
}

bool vecLowerReduce(VecLowering *lowering, MlirOperation op) {
  const TileCombiner *combiner = findCombiner(tileReduceOpGetOperation(op));
  if (vecIsFours(op))
    return vecLowerLazy(lowering, op);
  if (vecLowerTurnedSums(lowering, op))
    return true;
  if (!combiner || tileReduceOpGetNumInputs(op) != 1)
    return vecLowerReduceByElement(lowering, op);
  reduceKnown(lowering, op, combiner);
  return true;
}
