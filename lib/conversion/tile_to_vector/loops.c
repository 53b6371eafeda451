// The loops that write tiles: rows by scf.for, columns by vectors of `lanes` elements, masks only where a row crosses
// an edge. Small tiles that stay in registers are unrolled instead, with one test for the whole tile.
#include "lib/conversion/tile_to_vector/places.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

//===--- structured control flow ------------------------------------------------------===//

TileBuilder enter(Lowering *lowering, MlirBlock block) {
  TileBuilder before = lowering->builder;
  lowering->builder = tileBuilderAtEnd(block, before.location);
  return before;
}

static MlirRegion regionWithBlock(MlirBlock *block) {
  MlirRegion region = mlirRegionCreate();
  if (!block)
    return region;
  *block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, *block);
  return region;
}

MlirOperation buildIf(TileBuilder *builder, MlirValue condition, intptr_t count, const MlirType *types,
                      MlirBlock *thenBlock, MlirBlock *elseBlock) {
  MlirRegion regions[] = {regionWithBlock(thenBlock), regionWithBlock(elseBlock)};
  return tileBuild(builder, "scf.if", 1, &condition, count, types, NULL, 2, regions);
}

// A loop without results: its body is closed already, code goes before the terminator.
static MlirBlock openLoop(Lowering *lowering, MlirValue lower, MlirValue upper, int64_t step, TileBuilder *before) {
  MlirBlock body;
  MlirValue by = tileBuildIndex(&lowering->builder, step);
  tileBuildFor(&lowering->builder, lower, upper, by, 0, NULL, &body);
  *before = enter(lowering, body);
  return body;
}

static void closeBlock(Lowering *lowering, TileBuilder before) {
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

//===--- a vector for every place of a tile ---------------------------------------------===//

typedef struct Nest {
  Lowering *lowering;
  Record *source;
  Access target;
  VectorVisitor visit;
  void *data;
  void (*fill)(Lowering *lowering, MlirValue value, const Access *target, const Coord *coords, int64_t width);
  Coord coords[MaxRank];
} Nest;

static void visitVector(Nest *nest, bool inside, Coord column, int64_t width) {
  Body body = bodyBegin(nest->lowering, inside);
  nest->coords[nest->target.shape.rank - 1] = column;
  nest->visit(&body, nest->source, &nest->target, nest->coords, width, nest->data);
  bodyEnd(&body);
}

static void visitColumns(Nest *nest, bool inside, MlirValue from, MlirValue to, int64_t width) {
  int64_t first, last;
  if (tileConstantIndex(from, &first) && tileConstantIndex(to, &last) && last - first <= width) {
    if (first < last)
      visitVector(nest, inside, coordConstant(first), width);
    return;
  }
  TileBuilder before;
  MlirBlock body = openLoop(nest->lowering, from, to, width, &before);
  visitVector(nest, inside, coordOf(mlirBlockGetArgument(body, 0)), width);
  closeBlock(nest->lowering, before);
}

// How far dimension d of the target reaches, at most its size: beyond, nothing is written.
static MlirValue reachOf(Nest *nest, intptr_t d) {
  TileBuilder *builder = &nest->lowering->builder;
  const AccessDim *dim = &nest->target.dims[d];
  MlirValue size = tileBuildIndex(builder, nest->target.shape.sizes[d]);
  if (!dim->mayOver)
    return size;
  MlirValue rest = tileBuildSub(builder, dim->size, coordValue(builder, dim->origin));
  if (dim->stride != 1)
    rest = tileBuildCeilDiv(builder, rest, tileBuildIndex(builder, dim->stride));
  return tileBuildMin(builder, rest, size);
}

// Vectors that may cross an edge, and, if the target has a place for them, those that are padding only: the loop over
// them evaluates nothing that depends on the column.
static void visitMasked(Nest *nest, MlirValue from, MlirValue end, int64_t width) {
  Lowering *lowering = nest->lowering;
  intptr_t last = nest->target.shape.rank - 1;
  MlirValue padded = {NULL};
  nest->coords[last] = coordConstant(0);
  if (nest->fill && !nest->target.dims[last].mayOver)
    padded = paddedFrom(lowering, nest->source, nest->coords, width);
  if (!padded.ptr) {
    visitColumns(nest, false, from, end, width);
    return;
  }
  padded = tileBuildMin(&lowering->builder, padded, end);
  visitColumns(nest, false, from, padded, width);
  Body body = bodyBegin(lowering, false);
  nest->coords[last] = coordOf(padded);
  MlirValue value = evaluate(&body, nest->source, nest->coords, last, width);
  bodyEnd(&body);
  TileBuilder before;
  MlirBlock block = openLoop(lowering, padded, end, width, &before);
  nest->coords[last] = coordOf(mlirBlockGetArgument(block, 0));
  nest->fill(lowering, value, &nest->target, nest->coords, width);
  closeBlock(lowering, before);
}

static void visitRow(Nest *nest) {
  Lowering *lowering = nest->lowering;
  TileBuilder *builder = &lowering->builder;
  int64_t last = shapeLast(&nest->target.shape), width = last < lowering->lanes ? last : lowering->lanes;
  int64_t whole = last / width * width, rest = last - whole;
  nest->coords[nest->target.shape.rank - 1] = coordConstant(0);
  MlirValue zero = tileBuildIndex(builder, 0), end = tileBuildIndex(builder, whole);
  MlirValue unmasked = unmaskedCount(lowering, nest->source, &nest->target, nest->coords, width);
  visitColumns(nest, true, zero, unmasked.ptr ? unmasked : end, width);
  if (unmasked.ptr)
    visitMasked(nest, unmasked, tileBuildMin(builder, end, reachOf(nest, nest->target.shape.rank - 1)), width);
  if (rest)
    visitVector(nest, !unmasked.ptr, coordConstant(whole), rest);
}

// A target of rank 0: one element.
static void visitElement(Nest *nest) {
  Body body = bodyBegin(nest->lowering, true);
  nest->visit(&body, nest->source, &nest->target, nest->coords, 0, nest->data);
  bodyEnd(&body);
}

static void visitRows(Nest *nest, intptr_t d) {
  if (nest->target.shape.rank == 0) {
    visitElement(nest);
    return;
  }
  if (d == nest->target.shape.rank - 1) {
    visitRow(nest);
    return;
  }
  MlirValue reach = reachOf(nest, d);
  bool over = nest->target.dims[d].mayOver;
  int64_t constant;
  if (tileConstantIndex(reach, &constant) && constant == 1) {
    nest->coords[d] = coordConstant(0);
    visitRows(nest, d + 1);
    return;
  }
  TileBuilder before;
  MlirBlock body = openLoop(nest->lowering, tileBuildIndex(&nest->lowering->builder, 0), reach, 1, &before);
  nest->coords[d] = coordOf(mlirBlockGetArgument(body, 0));
  nest->target.dims[d].mayOver = false; // inside this loop
  visitRows(nest, d + 1);
  nest->target.dims[d].mayOver = over;
  closeBlock(nest->lowering, before);
}

static void visitAllRows(void *nest) { visitRows(nest, 0); }

void forEachVector(Lowering *lowering, Record *source, const Access *target, VectorVisitor visit, void *data) {
  Nest nest = {.lowering = lowering, .source = source, .target = *target, .visit = visit, .data = data};
  if (shapeCount(&target->shape) > 0)
    visitRows(&nest, 0);
}

//===--- tiles in registers -----------------------------------------------------------------===//

static void evaluateChunks(Lowering *lowering, Record *record, bool inside, MlirValue *registers) {
  Body body = bodyBegin(lowering, inside);
  const Shape *shape = &record->shape;
  int64_t lanes = lowering->lanes, last = shapeLast(shape), perRow = (last + lanes - 1) / lanes;
  for (int64_t i = 0; i < numRegisters(lowering, shape); ++i) {
    Coord coords[MaxRank];
    int64_t row = i / perRow, column = i % perRow * lanes;
    for (intptr_t d = shape->rank - 2; d >= 0; row /= shape->sizes[d--])
      coords[d] = coordConstant(row % shape->sizes[d]);
    coords[shape->rank - 1] = coordConstant(column);
    registers[i] = evaluate(&body, record, coords, shape->rank - 1, last - column < lanes ? last - column : lanes);
  }
  bodyEnd(&body);
}

static void evaluateBranch(Lowering *lowering, Record *record, bool inside, MlirBlock block, MlirValue *registers) {
  TileBuilder before = enter(lowering, block);
  evaluateChunks(lowering, record, inside, registers);
  tileBuildYield(&lowering->builder, numRegisters(lowering, &record->shape), registers);
  lowering->builder = before;
}

static void chunkTypes(Lowering *lowering, const Shape *shape, MlirType *types) {
  int64_t lanes = lowering->lanes, last = shapeLast(shape), perRow = (last + lanes - 1) / lanes;
  for (int64_t i = 0; i < numRegisters(lowering, shape); ++i) {
    int64_t rest = last - i % perRow * lanes;
    types[i] = vectorOf(shape->element, rest < lanes ? rest : lanes);
  }
}

static void evaluateVersions(Lowering *lowering, Record *record, MlirValue inside, MlirValue *registers) {
  MlirType types[MaxRegisters];
  MlirBlock then, otherwise;
  intptr_t count = numRegisters(lowering, &record->shape);
  chunkTypes(lowering, &record->shape, types);
  MlirOperation choice = buildIf(&lowering->builder, inside, count, types, &then, &otherwise);
  evaluateBranch(lowering, record, true, then, registers);
  evaluateBranch(lowering, record, false, otherwise, registers);
  for (intptr_t i = 0; i < count; ++i)
    registers[i] = mlirOperationGetResult(choice, i);
}

MlirValue *evaluateRegisters(Lowering *lowering, Record *record) {
  if (record->kind == Record_Registers)
    return record->registers;
  MlirValue *registers = loweringAllocate(lowering, MaxRegisters * sizeof *registers);
  intptr_t mark = spill(lowering, record, true);
  MlirValue inside = allInside(lowering, record);
  if (inside.ptr)
    evaluateVersions(lowering, record, inside, registers);
  else
    evaluateChunks(lowering, record, true, registers);
  unspill(lowering, mark);
  return registers;
}

//===--- stores -------------------------------------------------------------------------------===//

static bool holdsRegisters(Lowering *lowering, Record *record) {
  Records records = recordsBehind(lowering, record);
  for (intptr_t i = 0; i < records.count; ++i)
    if (records.items[i]->kind == Record_Registers)
      return true;
  return false;
}

static void storeChunks(Lowering *lowering, const Access *target, bool inside, const MlirValue *registers) {
  Body body = bodyBegin(lowering, inside);
  const Shape *shape = &target->shape;
  int64_t lanes = lowering->lanes, perRow = (shapeLast(shape) + lanes - 1) / lanes;
  for (int64_t i = 0; i < numRegisters(lowering, shape); ++i) {
    Coord coords[MaxRank];
    int64_t row = i / perRow;
    for (intptr_t d = shape->rank - 2; d >= 0; row /= shape->sizes[d--])
      coords[d] = coordConstant(row % shape->sizes[d]);
    coords[shape->rank - 1] = coordConstant(i % perRow * lanes);
    int64_t width = mlirShapedTypeGetDimSize(mlirValueGetType(registers[i]), 0);
    accessStore(&body, target, coords, shape->rank - 1, width, registers[i]);
  }
  bodyEnd(&body);
}

static void storeRegisters(Lowering *lowering, const Access *target, const MlirValue *registers) {
  MlirValue inside = accessIsInside(&lowering->builder, target);
  if (!inside.ptr) {
    storeChunks(lowering, target, true, registers);
    return;
  }
  MlirBlock branches[2];
  buildIf(&lowering->builder, inside, 0, NULL, &branches[0], &branches[1]);
  for (int i = 0; i < 2; ++i) {
    TileBuilder before = enter(lowering, branches[i]);
    storeChunks(lowering, target, i == 0, registers);
    closeBlock(lowering, before);
  }
}

static void storeConverted(Body *body, MlirValue value, const Access *target, const Coord *coords, int64_t width) {
  value = convertElement(&body->lowering->builder, value, target->shape.element, width);
  accessStore(body, target, coords, target->shape.rank - 1, width, value);
}

static void fillVector(Lowering *lowering, MlirValue value, const Access *target, const Coord *coords, int64_t width) {
  Body body = bodyBegin(lowering, false);
  storeConverted(&body, value, target, coords, width);
  bodyEnd(&body);
}

static void storeVector(Body *body, Record *source, const Access *target, const Coord *coords, int64_t width,
                        void *data) {
  (void)data;
  MlirValue value = evaluate(body, source, coords, target->shape.rank - 1, width);
  storeConverted(body, value, target, coords, width);
}

void writeTile(Lowering *lowering, Record *record, const Access *target) {
  bool sameElement = mlirTypeEqual(record->shape.element, target->shape.element);
  if (sameElement && fitsRegisters(lowering, &record->shape) && holdsRegisters(lowering, record)) {
    storeRegisters(lowering, target, evaluateRegisters(lowering, record));
    return;
  }
  intptr_t mark = spill(lowering, record, false);
  Nest nest = {.lowering = lowering, .source = record, .target = *target, .visit = storeVector, .fill = fillVector};
  bool isSpecial = sameElement && (writeInterleaved(lowering, record, target) ||
                                   writeTransposed(lowering, record, target, visitAllRows, &nest));
  if (shapeCount(&target->shape) > 0 && !isSpecial)
    visitRows(&nest, 0);
  unspill(lowering, mark);
}

Access *materialize(Lowering *lowering, Record *record, MlirType element) {
  Shape shape = record->shape;
  if (element.ptr)
    shape.element = element;
  Access *access = bufferNew(lowering, &shape);
  writeTile(lowering, record, access);
  return access;
}

Record *recordOfAccess(Lowering *lowering, Access *access) {
  Record *record = loweringAllocate(lowering, sizeof *record);
  *record = (Record){.kind = Record_Memory, .shape = access->shape, .access = access};
  return record;
}

//===--- stores that combine -------------------------------------------------------------------===//

static void combineVector(Body *body, Record *source, const Access *target, const Coord *coords, int64_t width,
                          void *data) {
  Lowering *lowering = body->lowering;
  Coord at[MaxRank];
  intptr_t axis = target->shape.rank - 1;
  memcpy(at, coords, target->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < (width ? width : 1); ++lane) {
    if (lane > 0)
      ++at[axis].offset;
    MlirValue value = evaluate(body, source, at, -1, 0);
    Access one = *target; // the place of this element alone
    for (intptr_t d = 0; d <= axis; ++d) {
      one.dims[d].origin =
          coordSum(&lowering->builder, one.dims[d].origin, coordTimes(&lowering->builder, at[d], one.dims[d].stride));
      one.shape.sizes[d] = 1;
    }
    Coord here[MaxRank] = {{{NULL}, 0}};
    MlirValue inside = body->inside ? (MlirValue){NULL} : accessIsInside(&lowering->builder, &one);
    if (!inside.ptr) {
      combineInMemory(&lowering->builder, &one, here, *(MlirStringRef *)data, value);
      continue;
    }
    MlirBlock then;
    buildIf(&lowering->builder, inside, 0, NULL, &then, NULL);
    TileBuilder before = enter(lowering, then);
    combineInMemory(&lowering->builder, &one, here, *(MlirStringRef *)data, value);
    closeBlock(lowering, before);
  }
}

void addToTile(Lowering *lowering, Record *record, const Access *target, MlirStringRef combine) {
  intptr_t mark = spill(lowering, record, false);
  forEachVector(lowering, record, target, combineVector, &combine);
  unspill(lowering, mark);
}

MlirBlock buildLoop(TileBuilder *builder, MlirValue lower, MlirValue upper, int64_t step) {
  MlirBlock body;
  tileBuildFor(builder, lower, upper, tileBuildIndex(builder, step), 0, NULL, &body);
  return body;
}
