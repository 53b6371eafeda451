// scf.for, scf.if and scf.while that carry tiles. A small tile travels as vectors; a large one has a buffer that every
// iteration writes in place. Scalars travel as they are.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/lowering.h"

#include <string.h>

enum { MaxFlat = 256 };

//===--- how a list of values travels -----------------------------------------------------===//

typedef struct Carrier {
  Lowering *lowering;
  MlirOperation op;
  intptr_t count; // values
  MlirType types[MaxFlat];
  Access *buffers[MaxFlat]; // of large tiles; null for the others
  intptr_t numFlat;
  MlirType flat[MaxFlat];
} Carrier;

static bool addFlat(Carrier *carrier, MlirType type) {
  if (carrier->numFlat == MaxFlat)
    return tileError(carrier->op, "not lowered to the CPU yet: so many values carried at once (at most %d)", MaxFlat);
  carrier->flat[carrier->numFlat++] = type;
  return true;
}

static bool addRegisters(Carrier *carrier, const Shape *shape) {
  int64_t lanes = carrier->lowering->lanes, last = shapeLast(shape), perRow = (last + lanes - 1) / lanes;
  for (int64_t i = 0; i < numRegisters(carrier->lowering, shape); ++i) {
    int64_t rest = last - i % perRow * lanes;
    if (!addFlat(carrier, vectorOf(shape->element, rest < lanes ? rest : lanes)))
      return false;
  }
  return true;
}

static bool addValue(Carrier *carrier, MlirType type) {
  if (carrier->count == MaxFlat)
    return addFlat(carrier, type);
  carrier->types[carrier->count++] = type;
  if (tileTypeIsAToken(type))
    return addFlat(carrier, mlirIntegerTypeGet(carrier->lowering->context, 1)); // scheduled.c
  if (!isTile(type))
    return addFlat(carrier, type);
  Shape shape = shapeOf(type);
  if (fitsRegisters(carrier->lowering, &shape))
    return addRegisters(carrier, &shape);
  carrier->buffers[carrier->count - 1] = bufferNew(carrier->lowering, &shape);
  return true;
}

static Carrier carrierFor(Lowering *lowering, MlirOperation op) { return (Carrier){.lowering = lowering, .op = op}; }

// Whether writing `buffer` from `record` element by element reads nothing of it that is gone already.
static bool mayWriteInPlace(Lowering *lowering, Record *record, const Access *buffer) {
  Records records = recordsBehind(lowering, record);
  bool reads = false, reshapes = false;
  for (intptr_t i = 0; i < records.count; ++i) {
    const Record *behind = records.items[i];
    reads = reads || (behind->kind == Record_Memory && behind->access->memref.ptr == buffer->memref.ptr);
    reshapes = reshapes || (behind->kind == Record_Lazy && isShapeOp(behind->op));
  }
  return !reads || !reshapes;
}

static intptr_t numBuffers(const Carrier *carrier) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < carrier->count; ++i)
    count += carrier->buffers[i] != NULL;
  return count;
}

static bool isHeldBy(const Record *record, const Access *buffer) {
  return record->kind == Record_Memory && record->access->memref.ptr == buffer->memref.ptr;
}

// Writes the large ones of `values` to their buffers: through others when one may still be read for another.
static void writeBuffers(Carrier *carrier, const MlirValue *values) {
  Lowering *lowering = carrier->lowering;
  Record *records[MaxFlat];
  for (intptr_t i = 0; i < carrier->count; ++i) {
    if (!carrier->buffers[i])
      continue;
    records[i] = recordOf(lowering, values[i]);
    bool direct = numBuffers(carrier) == 1 && mayWriteInPlace(lowering, records[i], carrier->buffers[i]);
    if (!direct && !isHeldBy(records[i], carrier->buffers[i]))
      records[i] = recordOfAccess(lowering, materialize(lowering, records[i], (MlirType){NULL}));
  }
  for (intptr_t i = 0; i < carrier->count; ++i)
    if (carrier->buffers[i] && !isHeldBy(records[i], carrier->buffers[i]))
      writeTile(lowering, records[i], carrier->buffers[i]);
}

// Emits `values` (of the kernel): the flat ones into `flat`, the large ones into their buffers.
static void pass(Carrier *carrier, const MlirValue *values, MlirValue *flat) {
  Lowering *lowering = carrier->lowering;
  intptr_t n = 0;
  for (intptr_t i = 0; i < carrier->count; ++i) {
    if (carrier->buffers[i])
      continue;
    if (!isTile(carrier->types[i])) {
      flat[n++] = scalarOf(lowering, values[i]);
      continue;
    }
    Shape shape = shapeOf(carrier->types[i]);
    intptr_t count = numRegisters(lowering, &shape);
    memcpy(flat + n, evaluateRegisters(lowering, recordOf(lowering, values[i])), count * sizeof *flat);
    n += count;
  }
  writeBuffers(carrier, values);
}

static void passOperands(Carrier *carrier, MlirOperation op, intptr_t first, MlirValue *flat) {
  MlirValue values[MaxFlat];
  for (intptr_t i = 0; i < carrier->count; ++i)
    values[i] = mlirOperationGetOperand(op, first + i);
  pass(carrier, values, flat);
}

// The kernel's value number i is what arrived in `flat`; returns how many it took.
static intptr_t receive(Carrier *carrier, intptr_t i, MlirValue source, const MlirValue *flat) {
  Lowering *lowering = carrier->lowering;
  if (carrier->buffers[i]) {
    recordMemory(lowering, source, carrier->buffers[i]);
    return 0;
  }
  if (!isTile(carrier->types[i])) {
    recordScalar(lowering, source, flat[0]);
    return 1;
  }
  Record *record = recordNew(lowering, source, Record_Registers);
  intptr_t count = numRegisters(lowering, &record->shape);
  record->registers = loweringAllocate(lowering, count * sizeof *flat);
  memcpy(record->registers, flat, count * sizeof *flat);
  return count;
}

static void receiveArguments(Carrier *carrier, MlirBlock from, intptr_t first, MlirBlock to, intptr_t firstFlat) {
  MlirValue flat[MaxFlat];
  for (intptr_t i = 0; i < carrier->numFlat; ++i)
    flat[i] = mlirBlockGetArgument(to, firstFlat + i);
  for (intptr_t i = 0, n = 0; i < carrier->count; ++i)
    n += receive(carrier, i, mlirBlockGetArgument(from, first + i), flat + n);
}

static void receiveResults(Carrier *carrier, MlirOperation from, MlirOperation to) {
  MlirValue flat[MaxFlat];
  for (intptr_t i = 0; i < carrier->numFlat; ++i)
    flat[i] = mlirOperationGetResult(to, i);
  for (intptr_t i = 0, n = 0; i < carrier->count; ++i)
    n += receive(carrier, i, mlirOperationGetResult(from, i), flat + n);
}

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

//===--- for -----------------------------------------------------------------------------------===//

bool lowerFor(Lowering *lowering, MlirOperation op) {
  Carrier carrier = carrierFor(lowering, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!addValue(&carrier, tileResultType(op, i)))
      return false;
  MlirValue flat[MaxFlat], bounds[3];
  for (int i = 0; i < 3; ++i)
    bounds[i] = scalarOf(lowering, mlirOperationGetOperand(op, i));
  passOperands(&carrier, op, 3, flat);
  MlirBlock source = blockOf(op, 0), body;
  MlirOperation loop = tileBuildFor(&lowering->builder, bounds[0], bounds[1], bounds[2], carrier.numFlat, flat, &body);
  TileBuilder before = enter(lowering, body);
  recordScalar(lowering, mlirBlockGetArgument(source, 0), mlirBlockGetArgument(body, 0));
  receiveArguments(&carrier, source, 1, body, 1);
  if (!lowerBlock(lowering, source))
    return false;
  passOperands(&carrier, mlirBlockGetTerminator(source), 0, flat);
  tileBuildYield(&lowering->builder, carrier.numFlat, flat);
  lowering->builder = before;
  receiveResults(&carrier, op, loop);
  return true;
}

//===--- if --------------------------------------------------------------------------------------===//

static bool lowerBranch(Carrier *carrier, MlirBlock source, MlirBlock target) {
  Lowering *lowering = carrier->lowering;
  TileBuilder before = enter(lowering, target);
  if (!lowerBlock(lowering, source))
    return false;
  MlirValue flat[MaxFlat];
  passOperands(carrier, mlirBlockGetTerminator(source), 0, flat);
  tileBuildYield(&lowering->builder, carrier->numFlat, flat);
  lowering->builder = before;
  return true;
}

bool lowerIf(Lowering *lowering, MlirOperation op) {
  Carrier carrier = carrierFor(lowering, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!addValue(&carrier, tileResultType(op, i)))
      return false;
  MlirBlock then, otherwise = {NULL}, sourceElse = blockOf(op, 1);
  MlirValue condition = scalarOf(lowering, mlirOperationGetOperand(op, 0));
  MlirOperation choice =
      buildIf(&lowering->builder, condition, carrier.numFlat, carrier.flat, &then, sourceElse.ptr ? &otherwise : NULL);
  if (!lowerBranch(&carrier, blockOf(op, 0), then))
    return false;
  if (sourceElse.ptr && !lowerBranch(&carrier, sourceElse, otherwise))
    return false;
  receiveResults(&carrier, op, choice);
  return true;
}

//===--- while ------------------------------------------------------------------------------------===//

static MlirRegion regionFor(Carrier *carrier, MlirBlock *block) {
  MlirLocation locations[MaxFlat];
  for (intptr_t i = 0; i < carrier->numFlat; ++i)
    locations[i] = mlirOperationGetLocation(carrier->op);
  *block = mlirBlockCreate(carrier->numFlat, carrier->flat, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, *block);
  return region;
}

static bool lowerBefore(Lowering *lowering, Carrier *arguments, Carrier *forwarded, MlirBlock source,
                        MlirBlock target) {
  TileBuilder before = enter(lowering, target);
  receiveArguments(arguments, source, 0, target, 0);
  if (!lowerBlock(lowering, source))
    return false;
  MlirOperation condition = mlirBlockGetTerminator(source);
  MlirValue operands[MaxFlat + 1] = {scalarOf(lowering, mlirOperationGetOperand(condition, 0))};
  passOperands(forwarded, condition, 1, operands + 1);
  tileBuild(&lowering->builder, "scf.condition", forwarded->numFlat + 1, operands, 0, NULL, NULL, 0, NULL);
  lowering->builder = before;
  return true;
}

static bool lowerAfter(Lowering *lowering, Carrier *arguments, Carrier *forwarded, MlirBlock source, MlirBlock target) {
  TileBuilder before = enter(lowering, target);
  receiveArguments(forwarded, source, 0, target, 0);
  if (!lowerBlock(lowering, source))
    return false;
  MlirValue flat[MaxFlat];
  passOperands(arguments, mlirBlockGetTerminator(source), 0, flat);
  tileBuildYield(&lowering->builder, arguments->numFlat, flat);
  lowering->builder = before;
  return true;
}

bool lowerWhile(Lowering *lowering, MlirOperation op) {
  Carrier arguments = carrierFor(lowering, op), forwarded = carrierFor(lowering, op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!addValue(&arguments, tileOperandType(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!addValue(&forwarded, tileResultType(op, i)))
      return false;
  MlirValue flat[MaxFlat];
  passOperands(&arguments, op, 0, flat);
  MlirBlock before, after;
  MlirRegion regions[] = {regionFor(&arguments, &before), regionFor(&forwarded, &after)};
  MlirOperation loop = tileBuild(&lowering->builder, "scf.while", arguments.numFlat, flat, forwarded.numFlat,
                                 forwarded.flat, NULL, 2, regions);
  if (!lowerBefore(lowering, &arguments, &forwarded, blockOf(op, 0), before) ||
      !lowerAfter(lowering, &arguments, &forwarded, blockOf(op, 1), after))
    return false;
  receiveResults(&forwarded, op, loop);
  return true;
}
