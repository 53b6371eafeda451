// tile.reduce and tile.scan. A reduction with a known combiner keeps vectors of partial results: across the last axis
// several accumulators that are joined by a fixed tree, across the others one vector per place of the result and, of
// many rows, of each of four. The order of combination depends on the shape alone, never on where edges fall. Regions
// and scans go element by element.
#include "dialects/tile/combiner.h"
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>
#include <string.h>

enum { MaxAccumulators = 4 };

//===--- combiners -------------------------------------------------------------------===//

static const TileCombiner *findCombiner(MlirOperation op) {
  MlirAttribute name = tileOpAttribute(op, "operation");
  return name.ptr ? tileCombinerFind(mlirStringAttrGetValue(name)) : NULL;
}

// vector.reduction's word: the op's without arith, and without the type of addf or andi.
static MlirAttribute kindOf(MlirContext context, const TileCombiner *combiner) {
  static const char *const typed[] = {"addf", "addi", "mulf", "muli", "andi", "ori", "xori"};
  const char *name = combiner->name + strlen("arith.");
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof typed / sizeof *typed; ++i)
    if (strcmp(name, typed[i]) == 0)
      --length;
  char text[64];
  snprintf(text, sizeof text, "#vector.kind<%.*s>", (int)length, name);
  return namedAttribute(context, text);
}

static MlirValue neutralValue(TileBuilder *builder, const TileCombiner *combiner, MlirType element, int64_t width) {
  MlirType type = vectorOf(element, width);
  MlirAttribute neutral = tileCombinerNeutral(combiner, element);
  TileAttributeEntry value[] = {{"value", width ? mlirDenseElementsAttrSplatGet(type, neutral) : neutral}, {0}};
  return tileBuildValue(builder, "arith.constant", type, 0, NULL, value);
}

MlirValue neutralElement(TileBuilder *builder, MlirOperation op, intptr_t input, MlirType element) {
  MlirAttribute given = tileOpAttribute(op, "neutral");
  if (given.ptr) {
    TileAttributeEntry value[] = {{"value", mlirArrayAttrGetElement(given, input)}, {0}};
    return tileBuildValue(builder, "arith.constant", element, 0, NULL, value);
  }
  const TileCombiner *combiner = findCombiner(op);
  return combiner ? neutralValue(builder, combiner, element, 0) : (MlirValue){NULL};
}

static MlirValue combine(TileBuilder *builder, const TileCombiner *combiner, MlirValue a, MlirValue b) {
  return buildBinary(builder, combiner->name, a, b);
}

static MlirValue half(TileBuilder *builder, MlirValue vector, int64_t from, int64_t width) {
  MlirType type = vectorOf(mlirShapedTypeGetElementType(mlirValueGetType(vector)), width);
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirAttribute numbers[] = {mlirIntegerAttrGet(i64, from), mlirIntegerAttrGet(i64, width), mlirIntegerAttrGet(i64, 1)};
  TileAttributeEntry attributes[] = {{"offsets", mlirArrayAttrGet(builder->context, 1, &numbers[0])},
                                     {"sizes", mlirArrayAttrGet(builder->context, 1, &numbers[1])},
                                     {"strides", mlirArrayAttrGet(builder->context, 1, &numbers[2])},
                                     {0}};
  return tileBuildValue(builder, "vector.extract_strided_slice", type, 1, &vector, attributes);
}

// The least or largest of floats is taken by halves: LLVM takes apart what orders nan, lane by lane.
static MlirValue reduceVector(TileBuilder *builder, const TileCombiner *combiner, MlirValue vector) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(vector));
  int64_t width = mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0);
  bool isExtremum = strncmp(combiner->name, "arith.m", 7) == 0 && !strstr(combiner->name, "mul");
  for (; combiner->isFloat && isExtremum && width % 2 == 0; width /= 2)
    vector =
        combine(builder, combiner, half(builder, vector, 0, width / 2), half(builder, vector, width / 2, width / 2));
  TileAttributeEntry attributes[] = {{"kind", kindOf(builder->context, combiner)},
                                     {"fastmath", namedAttribute(builder->context, "#arith.fastmath<reassoc>")},
                                     {0}};
  return tileBuildValue(builder, "vector.reduction", element, 1, &vector, attributes);
}

//===--- the nest ------------------------------------------------------------------------===//

typedef struct Reduction {
  Lowering *lowering;
  MlirOperation op;
  const TileCombiner *combiner;
  Record *source;
  bool reduced[MaxRank];
  intptr_t loops[MaxRank], numLoops, depth; // the reduced dimensions but the last, and how many are open
  bool inside;                              // no masks needed
  Coord coords[MaxRank];                    // in the source
  MlirValue padding;                        // a vector of a row's padding
  int64_t width;                            // of the result's vector when the last axis stays; 0: scalars
} Reduction;

typedef struct Accumulators {
  MlirValue values[MaxAccumulators + 1];
  intptr_t count;
} Accumulators;

typedef Accumulators (*InnerStep)(Reduction *reduction, Accumulators accumulators);

// scf.for carrying the accumulators over dimension d; `inner` is emitted in its body.
static Accumulators loopOver(Reduction *reduction, intptr_t d, MlirValue from, MlirValue to, int64_t step,
                             Accumulators accumulators, InnerStep inner) {
  Lowering *lowering = reduction->lowering;
  MlirBlock body;
  MlirValue by = tileBuildIndex(&lowering->builder, step);
  MlirOperation loop = tileBuildFor(&lowering->builder, from, to, by, accumulators.count, accumulators.values, &body);
  TileBuilder before = enter(lowering, body);
  Coord outer = reduction->coords[d];
  reduction->coords[d] = coordOf(mlirBlockGetArgument(body, 0));
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
  int64_t chunks = shapeLast(&reduction->source->shape) / reduction->lowering->lanes;
  return chunks >= MaxAccumulators ? MaxAccumulators : chunks > 0 ? chunks : 0;
}

// Chunks column, column + lanes, … one into each accumulator.
static Accumulators addChunks(Reduction *reduction, Accumulators accumulators) {
  Lowering *lowering = reduction->lowering;
  intptr_t axis = reduction->source->shape.rank - 1;
  Body body = bodyBegin(lowering, reduction->inside);
  Coord coords[MaxRank];
  memcpy(coords, reduction->coords, sizeof coords);
  for (int64_t i = 0; i < accumulatorsFor(reduction); ++i, coords[axis].offset += lowering->lanes) {
    MlirValue chunk = evaluate(&body, reduction->source, coords, axis, lowering->lanes);
    accumulators.values[i] = combine(&lowering->builder, reduction->combiner, accumulators.values[i], chunk);
  }
  bodyEnd(&body);
  return accumulators;
}

// The chunks left over after whole rounds of accumulators, and the part that fills no vector.
static Accumulators addRest(Reduction *reduction, Accumulators accumulators, int64_t from) {
  Lowering *lowering = reduction->lowering;
  int64_t last = shapeLast(&reduction->source->shape), lanes = lowering->lanes;
  intptr_t axis = reduction->source->shape.rank - 1;
  Body body = bodyBegin(lowering, reduction->inside);
  Coord coords[MaxRank];
  memcpy(coords, reduction->coords, sizeof coords);
  for (int64_t i = 0; from < last; ++i, from += lanes) {
    int64_t width = last - from < lanes ? last - from : lanes;
    coords[axis] = coordConstant(from);
    MlirValue chunk = evaluate(&body, reduction->source, coords, axis, width);
    MlirValue *into = &accumulators.values[width < lanes ? accumulators.count - 1 : i];
    *into = combine(&lowering->builder, reduction->combiner, *into, chunk);
  }
  bodyEnd(&body);
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
  Lowering *lowering = reduction->lowering;
  intptr_t axis = reduction->source->shape.rank - 1;
  MlirValue padded = paddedFrom(lowering, reduction->source, reduction->coords, round);
  if (!padded.ptr)
    return loopOver(reduction, axis, from, end, round, accumulators, addChunks);
  padded = tileBuildMin(&lowering->builder, padded, end);
  accumulators = loopOver(reduction, axis, from, padded, round, accumulators, addChunks);
  Body body = bodyBegin(lowering, false);
  reduction->coords[axis] = coordOf(padded);
  reduction->padding = evaluate(&body, reduction->source, reduction->coords, axis, lowering->lanes);
  reduction->coords[axis] = coordConstant(0);
  bodyEnd(&body);
  return loopOver(reduction, axis, padded, end, round, accumulators, addPadding);
}

static Accumulators addRow(Reduction *reduction, Accumulators accumulators) {
  Lowering *lowering = reduction->lowering;
  TileBuilder *builder = &lowering->builder;
  intptr_t axis = reduction->source->shape.rank - 1;
  int64_t last = shapeLast(&reduction->source->shape), round = accumulatorsFor(reduction) * lowering->lanes;
  int64_t whole = round ? last / round * round : 0;
  reduction->coords[axis] = coordConstant(0);
  MlirValue unmasked = unmaskedCount(lowering, reduction->source, NULL, reduction->coords, round ? round : 1);
  MlirValue zero = tileBuildIndex(builder, 0), end = tileBuildIndex(builder, whole);
  if (whole) {
    reduction->inside = true;
    accumulators = loopOver(reduction, axis, zero, unmasked.ptr ? unmasked : end, round, accumulators, addChunks);
  }
  reduction->inside = !unmasked.ptr;
  if (whole && unmasked.ptr)
    accumulators = addMasked(reduction, accumulators, unmasked, end, round);
  return addRest(reduction, accumulators, whole);
}

static Accumulators startAccumulators(Reduction *reduction) {
  TileBuilder *builder = &reduction->lowering->builder;
  const Shape *shape = &reduction->source->shape;
  int64_t lanes = reduction->lowering->lanes, rest = shapeLast(shape) % lanes;
  Accumulators accumulators = {.count = accumulatorsFor(reduction)};
  for (intptr_t i = 0; i < accumulators.count; ++i)
    accumulators.values[i] = neutralValue(builder, reduction->combiner, shape->element, lanes);
  if (rest)
    accumulators.values[accumulators.count++] = neutralValue(builder, reduction->combiner, shape->element, rest);
  return accumulators;
}

// A tree over the first `count` accumulators, into the first.
static void joinAccumulators(Reduction *reduction, Accumulators *accumulators, intptr_t count) {
  for (intptr_t apart = 1; apart < count; apart *= 2)
    for (intptr_t i = 0; i + apart < count; i += 2 * apart)
      accumulators->values[i] = combine(&reduction->lowering->builder, reduction->combiner, accumulators->values[i],
                                        accumulators->values[i + apart]);
}

// Over the accumulators, then over lanes; the part that fills no vector comes last.
static MlirValue finish(Reduction *reduction, Accumulators accumulators) {
  TileBuilder *builder = &reduction->lowering->builder;
  intptr_t full = accumulatorsFor(reduction);
  joinAccumulators(reduction, &accumulators, full);
  MlirValue result = {NULL};
  if (full)
    result = reduceVector(builder, reduction->combiner, accumulators.values[0]);
  if (accumulators.count == full)
    return result;
  MlirValue rest = reduceVector(builder, reduction->combiner, accumulators.values[full]);
  return result.ptr ? combine(builder, reduction->combiner, result, rest) : rest;
}

//===--- across the other axes ----------------------------------------------------------------===//

// Rows that are added into one accumulator each, so that additions do not wait for each other.
static int64_t rowsAtOnce(const Reduction *reduction) {
  int64_t rows = reduction->numLoops ? reduction->source->shape.sizes[reduction->loops[reduction->numLoops - 1]] : 0;
  return rows >= 2 * MaxAccumulators ? MaxAccumulators : 1;
}

// Rows row, row + 1, … one into each accumulator.
static Accumulators addRows(Reduction *reduction, Accumulators accumulators, Coord row, intptr_t count) {
  Lowering *lowering = reduction->lowering;
  intptr_t d = reduction->loops[reduction->numLoops - 1], last = reduction->source->shape.rank - 1;
  Body body = bodyBegin(lowering, reduction->inside);
  for (intptr_t i = 0; i < count; ++i) {
    reduction->coords[d] = coordPlus(row, i);
    MlirValue vector = evaluate(&body, reduction->source, reduction->coords, last, reduction->width);
    accumulators.values[i] = combine(&lowering->builder, reduction->combiner, accumulators.values[i], vector);
  }
  bodyEnd(&body);
  return accumulators;
}

static Accumulators addWholeRows(Reduction *reduction, Accumulators accumulators) {
  Coord row = reduction->coords[reduction->loops[reduction->numLoops - 1]];
  return addRows(reduction, accumulators, row, accumulators.count);
}

static Accumulators addAllRows(Reduction *reduction, Accumulators accumulators) {
  TileBuilder *builder = &reduction->lowering->builder;
  intptr_t d = reduction->loops[reduction->numLoops - 1];
  int64_t rows = reduction->source->shape.sizes[d], whole = rows / accumulators.count * accumulators.count;
  accumulators = loopOver(reduction, d, tileBuildIndex(builder, 0), tileBuildIndex(builder, whole), accumulators.count,
                          accumulators, addWholeRows);
  return addRows(reduction, accumulators, coordConstant(whole), rows - whole);
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
  reduction->depth--;
  return accumulators;
}

static void clearReduced(Reduction *reduction) {
  for (intptr_t d = 0; d < reduction->source->shape.rank; ++d)
    if (reduction->reduced[d])
      reduction->coords[d] = coordConstant(0);
}

// The result at reduction->coords: a scalar, or a vector of `width`.
static MlirValue reduceAt(Reduction *reduction) {
  TileBuilder *builder = &reduction->lowering->builder;
  clearReduced(reduction);
  if (!reduction->width)
    return finish(reduction, reduceDeeper(reduction, startAccumulators(reduction)));
  Accumulators accumulators = {.count = rowsAtOnce(reduction)};
  for (intptr_t i = 0; i < accumulators.count; ++i)
    accumulators.values[i] =
        neutralValue(builder, reduction->combiner, reduction->source->shape.element, reduction->width);
  accumulators = reduceDeeper(reduction, accumulators);
  joinAccumulators(reduction, &accumulators, accumulators.count);
  return accumulators.values[0];
}

//===--- places of the result -------------------------------------------------------------------===//

// Puts the result's coordinates where they belong in the source.
static void placeResult(Reduction *reduction, const Coord *coords) {
  for (intptr_t d = 0, kept = 0; d < reduction->source->shape.rank; ++d)
    if (!reduction->reduced[d])
      reduction->coords[d] = coords[kept++];
}

static void storeVectorOfResult(Body *body, Record *source, const Access *target, const Coord *coords, int64_t width,
                                void *data) {
  (void)source;
  Reduction *reduction = data;
  placeResult(reduction, coords);
  reduction->width = width;
  accessStore(body, target, coords, target->shape.rank - 1, width, reduceAt(reduction));
}

static void storeScalarsOfResult(Reduction *reduction, const Access *target, intptr_t d, Coord *coords) {
  Lowering *lowering = reduction->lowering;
  if (d == target->shape.rank) {
    placeResult(reduction, coords);
    MlirValue value = reduceAt(reduction);
    Body body = bodyBegin(lowering, true);
    accessStore(&body, target, coords, -1, 0, value);
    bodyEnd(&body);
    return;
  }
  MlirBlock block = buildLoop(&lowering->builder, tileBuildIndex(&lowering->builder, 0),
                              tileBuildIndex(&lowering->builder, target->shape.sizes[d]), 1);
  TileBuilder before = enter(lowering, block);
  coords[d] = coordOf(mlirBlockGetArgument(block, 0));
  storeScalarsOfResult(reduction, target, d + 1, coords);
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

// Vectors along the last axis: one version where all of the source is inside, one with masks.
static void storeVectorsOfResult(Reduction *reduction, const Access *target) {
  Lowering *lowering = reduction->lowering;
  MlirValue inside = allInside(lowering, reduction->source);
  reduction->inside = true;
  if (!inside.ptr) {
    forEachVector(lowering, NULL, target, storeVectorOfResult, reduction);
    return;
  }
  MlirBlock branches[2];
  buildIf(&lowering->builder, inside, 0, NULL, &branches[0], &branches[1]);
  for (int i = 0; i < 2; ++i) {
    TileBuilder before = enter(lowering, branches[i]);
    reduction->inside = i == 0;
    forEachVector(lowering, NULL, target, storeVectorOfResult, reduction);
    tileBuildYield(&lowering->builder, 0, NULL);
    lowering->builder = before;
  }
}

static void readAxes(Reduction *reduction) {
  MlirAttribute axes = tileOpAttribute(reduction->op, "axes");
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    reduction->reduced[mlirDenseI64ArrayGetElement(axes, i)] = true;
  for (intptr_t d = 0; d + 1 < reduction->source->shape.rank; ++d)
    if (reduction->reduced[d])
      reduction->loops[reduction->numLoops++] = d;
}

static void reduceKnown(Lowering *lowering, MlirOperation op, const TileCombiner *combiner) {
  Record *source = recordOf(lowering, mlirOperationGetOperand(op, 0));
  MlirValue result = mlirOperationGetResult(op, 0);
  Reduction reduction = {.lowering = lowering, .op = op, .combiner = combiner, .source = source};
  readAxes(&reduction);
  intptr_t mark = spill(lowering, source, false);
  if (!isTile(mlirValueGetType(result))) {
    recordScalar(lowering, result, reduceAt(&reduction));
  } else {
    Shape shape = shapeOf(mlirValueGetType(result));
    Access *target = bufferNew(lowering, &shape);
    Coord coords[MaxRank];
    if (reduction.reduced[source->shape.rank - 1])
      storeScalarsOfResult(&reduction, target, 0, coords);
    else
      storeVectorsOfResult(&reduction, target);
    recordMemory(lowering, result, target);
  }
  unspill(lowering, mark);
}

bool lowerReduce(Lowering *lowering, MlirOperation op) {
  const TileCombiner *combiner = findCombiner(op);
  if (!combiner || mlirOperationGetNumOperands(op) != 1)
    return lowerReduceByElement(lowering, op);
  reduceKnown(lowering, op, combiner);
  return true;
}
