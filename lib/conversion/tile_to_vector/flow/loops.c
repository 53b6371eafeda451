// The loops that write tiles: scf.for over rows, vectors of `lanes` elements over columns, and masks only where a row
// crosses an edge. Small tiles that stay in registers are unrolled, with one test for the whole tile.
#include "lib/conversion/tile_to_vector/memory/places.h"
#include "upstream/scf.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

//===--- structured control flow ------------------------------------------------------===//

TileBuilder vecEnter(VecLowering *lowering, MlirBlock block) {
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

MlirOperation vecBuildIf(TileBuilder *builder, MlirValue condition, intptr_t count, const MlirType *types,
                         MlirBlock *thenBlock, MlirBlock *elseBlock) {
  MlirRegion regions[] = {regionWithBlock(thenBlock), regionWithBlock(elseBlock)};
  return scfIfOpCreate(builder, count, types, condition, regions[0], regions[1]);
}

// A loop without results: its body is closed already, code goes before the terminator.
static MlirBlock openLoop(VecLowering *lowering, MlirValue lower, MlirValue upper, int64_t step, TileBuilder *before) {
  MlirBlock body;
  MlirValue by = tileBuildIndex(&lowering->builder, step);
  tileBuildFor(&lowering->builder, lower, upper, by, 0, NULL, &body);
  *before = vecEnter(lowering, body);
  return body;
}

static void closeBlock(VecLowering *lowering, TileBuilder before) {
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

//===--- a vector for every place of a tile ---------------------------------------------===//

typedef struct Nest {
  VecLowering *lowering;
  VecRecord *source;
  VecAccess target;
  VecVectorVisitor visit;
  void *data;
  void (*fill)(VecLowering *lowering, MlirValue value, const VecAccess *target, const VecCoord *coords, int64_t width);
  VecCoord coords[MaxRank];
} Nest;

static void visitVector(Nest *nest, bool inside, VecCoord column, int64_t width) {
  VecBody body = vecBodyBegin(nest->lowering, inside);
  nest->coords[nest->target.shape.rank - 1] = column;
  nest->visit(&body, nest->source, &nest->target, nest->coords, width, nest->data);
  vecBodyEnd(&body);
}

static void visitColumns(Nest *nest, bool inside, MlirValue from, MlirValue to, int64_t width) {
  int64_t first, last;
  if (tileConstantIndex(from, &first) && tileConstantIndex(to, &last) && last - first <= width) {
    if (first < last)
      visitVector(nest, inside, vecCoordConstant(first), width);
    return;
  }
  TileBuilder before;
  MlirBlock body = openLoop(nest->lowering, from, to, width, &before);
  visitVector(nest, inside, vecCoordOf(mlirBlockGetArgument(body, 0)), width);
  closeBlock(nest->lowering, before);
}

// How far dimension d of the target reaches, at most its size: beyond, nothing is written.
static MlirValue reachOf(Nest *nest, intptr_t d) {
  TileBuilder *builder = &nest->lowering->builder;
  const VecAccessDim *dim = &nest->target.dims[d];
  MlirValue size = tileBuildIndex(builder, nest->target.shape.sizes[d]);
  if (!dim->mayOver)
    return size;
  MlirValue rest = tileBuildSub(builder, dim->size, vecCoordValue(builder, dim->origin));
  if (dim->stride != 1)
    rest = tileBuildCeilDiv(builder, rest, tileBuildIndex(builder, dim->stride));
  return tileBuildMin(builder, rest, size);
}

// Vectors that may cross an edge, and, if the target has a place for them, those that are padding only: the loop over
// them evaluates nothing that depends on the column.
static void visitMasked(Nest *nest, MlirValue from, MlirValue end, int64_t width) {
  VecLowering *lowering = nest->lowering;
  intptr_t last = nest->target.shape.rank - 1;
  MlirValue padded = {NULL};
  nest->coords[last] = vecCoordConstant(0);
  if (nest->fill && !nest->target.dims[last].mayOver)
    padded = vecPaddedFrom(lowering, nest->source, nest->coords, width);
  if (mlirValueIsNull(padded)) {
    visitColumns(nest, false, from, end, width);
    return;
  }
  padded = tileBuildMin(&lowering->builder, padded, end);
  visitColumns(nest, false, from, padded, width);
  VecBody body = vecBodyBegin(lowering, false);
  nest->coords[last] = vecCoordOf(padded);
  MlirValue value = vecEvaluate(&body, nest->source, nest->coords, last, width);
  vecBodyEnd(&body);
  TileBuilder before;
  MlirBlock block = openLoop(lowering, padded, end, width, &before);
  nest->coords[last] = vecCoordOf(mlirBlockGetArgument(block, 0));
  nest->fill(lowering, value, &nest->target, nest->coords, width);
  closeBlock(lowering, before);
}

static void visitRow(Nest *nest) {
  VecLowering *lowering = nest->lowering;
  TileBuilder *builder = &lowering->builder;
  int64_t last = vecShapeLast(&nest->target.shape),
          width = last < lowering->widths.lanes ? last : lowering->widths.lanes;
  int64_t whole = last / width * width, rest = last - whole;
  nest->coords[nest->target.shape.rank - 1] = vecCoordConstant(0);
  MlirValue zero = tileBuildIndex(builder, 0), end = tileBuildIndex(builder, whole);
  MlirValue unmasked = vecUnmaskedCount(lowering, nest->source, &nest->target, nest->coords, width);
  visitColumns(nest, true, zero, mlirValueIsNull(unmasked) ? end : unmasked, width);
  if (!mlirValueIsNull(unmasked))
    visitMasked(nest, unmasked, tileBuildMin(builder, end, reachOf(nest, nest->target.shape.rank - 1)), width);
  if (rest)
    visitVector(nest, mlirValueIsNull(unmasked), vecCoordConstant(whole), rest);
}

// A target of rank 0: one element.
static void visitElement(Nest *nest) {
  VecBody body = vecBodyBegin(nest->lowering, true);
  nest->visit(&body, nest->source, &nest->target, nest->coords, 0, nest->data);
  vecBodyEnd(&body);
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
    nest->coords[d] = vecCoordConstant(0);
    visitRows(nest, d + 1);
    return;
  }
  TileBuilder before;
  MlirBlock body = openLoop(nest->lowering, tileBuildIndex(&nest->lowering->builder, 0), reach, 1, &before);
  nest->coords[d] = vecCoordOf(mlirBlockGetArgument(body, 0));
  nest->target.dims[d].mayOver = false; // inside this loop
  visitRows(nest, d + 1);
  nest->target.dims[d].mayOver = over;
  closeBlock(nest->lowering, before);
}

static void visitAllRows(void *nest) { visitRows(nest, 0); }

void vecForEachVector(VecLowering *lowering, VecRecord *source, const VecAccess *target, VecVectorVisitor visit,
                      void *data) {
  Nest nest = {.lowering = lowering, .source = source, .target = *target, .visit = visit, .data = data};
  if (vecShapeCount(&target->shape) > 0)
    visitRows(&nest, 0);
}

//===--- tiles in registers -----------------------------------------------------------------===//

static void evaluateChunks(VecLowering *lowering, VecRecord *record, bool inside, MlirValue *registers) {
  VecBody body = vecBodyBegin(lowering, inside);
  const VecShape *shape = &record->shape;
  int64_t lanes = lowering->widths.lanes, last = vecShapeLast(shape), perRow = (last + lanes - 1) / lanes;
  for (int64_t i = 0; i < vecNumRegisters(lowering, shape); ++i) {
    VecCoord coords[MaxRank];
    int64_t row = i / perRow, column = i % perRow * lanes;
    for (intptr_t d = shape->rank - 2; d >= 0; row /= shape->sizes[d--])
      coords[d] = vecCoordConstant(row % shape->sizes[d]);
    coords[shape->rank - 1] = vecCoordConstant(column);
    registers[i] = vecEvaluate(&body, record, coords, shape->rank - 1, last - column < lanes ? last - column : lanes);
  }
  vecBodyEnd(&body);
}

static void evaluateBranch(VecLowering *lowering, VecRecord *record, bool inside, MlirBlock block,
                           MlirValue *registers) {
  TileBuilder before = vecEnter(lowering, block);
  evaluateChunks(lowering, record, inside, registers);
  tileBuildYield(&lowering->builder, vecNumRegisters(lowering, &record->shape), registers);
  lowering->builder = before;
}

static void chunkTypes(VecLowering *lowering, const VecShape *shape, MlirType *types) {
  int64_t lanes = lowering->widths.lanes, last = vecShapeLast(shape), perRow = (last + lanes - 1) / lanes;
  for (int64_t i = 0; i < vecNumRegisters(lowering, shape); ++i) {
    int64_t rest = last - i % perRow * lanes;
    types[i] = vecVectorOf(shape->element, rest < lanes ? rest : lanes);
  }
}

static void evaluateVersions(VecLowering *lowering, VecRecord *record, MlirValue inside, MlirValue *registers) {
  MlirType types[MaxRegisters];
  MlirBlock then, otherwise;
  intptr_t count = vecNumRegisters(lowering, &record->shape);
  chunkTypes(lowering, &record->shape, types);
  MlirOperation choice = vecBuildIf(&lowering->builder, inside, count, types, &then, &otherwise);
  evaluateBranch(lowering, record, true, then, registers);
  evaluateBranch(lowering, record, false, otherwise, registers);
  for (intptr_t i = 0; i < count; ++i)
    registers[i] = mlirOperationGetResult(choice, i);
}

MlirValue *vecEvaluateRegisters(VecLowering *lowering, VecRecord *record) {
  if (record->kind == VecRecord_Registers)
    return record->registers;
  MlirValue *registers = vecLoweringAllocate(lowering, MaxRegisters * sizeof *registers);
  intptr_t mark = vecSpill(lowering, record, true);
  MlirValue inside = vecAllInside(lowering, record);
  if (!mlirValueIsNull(inside))
    evaluateVersions(lowering, record, inside, registers);
  else
    evaluateChunks(lowering, record, true, registers);
  vecUnspill(lowering, mark);
  return registers;
}

//===--- stores -------------------------------------------------------------------------------===//

static bool holdsRegisters(VecLowering *lowering, VecRecord *record) {
  VecRecords records = vecRecordsBehind(lowering, record);
  for (intptr_t i = 0; i < records.count; ++i)
    if (records.items[i]->kind == VecRecord_Registers)
      return true;
  return false;
}

static void storeChunks(VecLowering *lowering, const VecAccess *target, bool inside, const MlirValue *registers) {
  VecBody body = vecBodyBegin(lowering, inside);
  const VecShape *shape = &target->shape;
  int64_t lanes = lowering->widths.lanes, perRow = (vecShapeLast(shape) + lanes - 1) / lanes;
  for (int64_t i = 0; i < vecNumRegisters(lowering, shape); ++i) {
    VecCoord coords[MaxRank];
    int64_t row = i / perRow;
    for (intptr_t d = shape->rank - 2; d >= 0; row /= shape->sizes[d--])
      coords[d] = vecCoordConstant(row % shape->sizes[d]);
    coords[shape->rank - 1] = vecCoordConstant(i % perRow * lanes);
    int64_t width = mlirShapedTypeGetDimSize(mlirValueGetType(registers[i]), 0);
    vecAccessStore(&body, target, coords, shape->rank - 1, width, registers[i]);
  }
  vecBodyEnd(&body);
}

static void storeRegisters(VecLowering *lowering, const VecAccess *target, const MlirValue *registers) {
  MlirValue inside = vecAccessIsInside(&lowering->builder, target);
  if (mlirValueIsNull(inside)) {
    storeChunks(lowering, target, true, registers);
    return;
  }
  MlirBlock branches[2];
  vecBuildIf(&lowering->builder, inside, 0, NULL, &branches[0], &branches[1]);
  for (int i = 0; i < 2; ++i) {
    TileBuilder before = vecEnter(lowering, branches[i]);
    storeChunks(lowering, target, i == 0, registers);
    closeBlock(lowering, before);
  }
}

static void storeConverted(VecBody *body, MlirValue value, const VecAccess *target, const VecCoord *coords,
                           int64_t width) {
  value = vecConvertElement(&body->lowering->builder, value, target->shape.element, width);
  vecAccessStore(body, target, coords, target->shape.rank - 1, width, value);
}

static void fillVector(VecLowering *lowering, MlirValue value, const VecAccess *target, const VecCoord *coords,
                       int64_t width) {
  VecBody body = vecBodyBegin(lowering, false);
  storeConverted(&body, value, target, coords, width);
  vecBodyEnd(&body);
}

static void storeVector(VecBody *body, VecRecord *source, const VecAccess *target, const VecCoord *coords,
                        int64_t width, void *data) {
  (void)data;
  MlirValue value = vecEvaluate(body, source, coords, target->shape.rank - 1, width);
  storeConverted(body, value, target, coords, width);
}

enum { MostCopiesOfFunction = 4 }; // of the code of math.exp and its like: some 30 instructions and a rare branch each

// A function of every vector of a tile in registers is code for every vector: a loop over the tile in memory is a tenth
// of the code, and its stores and loads take no time beside the function's.
static bool isWrittenByRegisters(VecLowering *lowering, VecRecord *record) {
  return vecFitsRegisters(lowering, &record->shape) && holdsRegisters(lowering, record) &&
         (vecNumRegisters(lowering, &record->shape) <= MostCopiesOfFunction || !vecHasHeavyOps(lowering, record));
}

void vecWriteTile(VecLowering *lowering, VecRecord *record, const VecAccess *target) {
  bool sameElement = mlirTypeEqual(record->shape.element, target->shape.element);
  if (sameElement && isWrittenByRegisters(lowering, record)) {
    storeRegisters(lowering, target, vecEvaluateRegisters(lowering, record));
    return;
  }
  intptr_t mark = vecSpill(lowering, record, false);
  Nest nest = {.lowering = lowering, .source = record, .target = *target, .visit = storeVector, .fill = fillVector};
  bool isSpecial = sameElement && (vecWriteInterleaved(lowering, record, target) ||
                                   vecWriteTransposed(lowering, record, target, visitAllRows, &nest));
  if (vecShapeCount(&target->shape) > 0 && !isSpecial)
    visitRows(&nest, 0);
  vecUnspill(lowering, mark);
}

VecAccess *vecMaterialize(VecLowering *lowering, VecRecord *record, MlirType element) {
  VecShape shape = record->shape;
  if (!mlirTypeIsNull(element))
    shape.element = element;
  VecAccess *access = vecBufferNew(lowering, &shape);
  vecWriteTile(lowering, record, access);
  return access;
}

VecRecord *vecRecordOfAccess(VecLowering *lowering, VecAccess *access) {
  VecRecord *record = vecLoweringAllocate(lowering, sizeof *record);
  *record = (VecRecord){.kind = VecRecord_Memory, .shape = access->shape, .access = access};
  return record;
}

//===--- stores that combine -------------------------------------------------------------------===//

static void combineVector(VecBody *body, VecRecord *source, const VecAccess *target, const VecCoord *coords,
                          int64_t width, void *data) {
  VecLowering *lowering = body->lowering;
  VecCoord at[MaxRank];
  intptr_t axis = target->shape.rank - 1;
  memcpy(at, coords, target->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < (width ? width : 1); ++lane) {
    if (lane > 0)
      ++at[axis].offset;
    MlirValue value = vecEvaluate(body, source, at, -1, 0);
    VecAccess one = *target; // the place of this element alone
    for (intptr_t d = 0; d <= axis; ++d) {
      one.dims[d].origin = vecCoordSum(&lowering->builder, one.dims[d].origin,
                                       vecCoordTimes(&lowering->builder, at[d], one.dims[d].stride));
      one.shape.sizes[d] = 1;
    }
    VecCoord here[MaxRank] = {{{NULL}, 0}};
    MlirValue inside = body->inside ? (MlirValue){NULL} : vecAccessIsInside(&lowering->builder, &one);
    if (mlirValueIsNull(inside)) {
      vecCombineInMemory(&lowering->builder, &one, here, *(MlirStringRef *)data, value);
      continue;
    }
    MlirBlock then;
    vecBuildIf(&lowering->builder, inside, 0, NULL, &then, NULL);
    TileBuilder before = vecEnter(lowering, then);
    vecCombineInMemory(&lowering->builder, &one, here, *(MlirStringRef *)data, value);
    closeBlock(lowering, before);
  }
}

void vecAddToTile(VecLowering *lowering, VecRecord *record, const VecAccess *target, MlirStringRef combine) {
  intptr_t mark = vecSpill(lowering, record, false);
  vecForEachVector(lowering, record, target, combineVector, &combine);
  vecUnspill(lowering, mark);
}

MlirBlock vecBuildLoop(TileBuilder *builder, MlirValue lower, MlirValue upper, int64_t step) {
  MlirBlock body;
  tileBuildFor(builder, lower, upper, tileBuildIndex(builder, step), 0, NULL, &body);
  return body;
}
