// scf.for, scf.if and scf.while that carry tiles. A small tile is carried as vectors. A large tile has a buffer that
// every iteration writes in place. Scalars are carried unchanged.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/lowering.h"
#include "upstream/scf.h"

#include <string.h>

enum { MaxFlat = 256 };

//===--- how a list of values travels -----------------------------------------------------===//

typedef struct Carrier {
  VecLowering *lowering;
  MlirOperation op;
  intptr_t count; // values
  MlirType types[MaxFlat];
  VecAccess *buffers[MaxFlat]; // of large tiles; null for the others
  intptr_t numFlat;
  MlirType flat[MaxFlat];
} Carrier;

static bool addFlat(Carrier *carrier, MlirType type) {
  if (carrier->numFlat == MaxFlat)
    return tileError(carrier->op,
                     "not lowered to the CPU yet: a loop or branch that carries more than %d vectors and scalars",
                     MaxFlat);
  carrier->flat[carrier->numFlat++] = type;
  return true;
}

static bool addRegisters(Carrier *carrier, const VecShape *shape) {
  int64_t lanes = carrier->lowering->widths.lanes, last = vecShapeLast(shape), perRow = (last + lanes - 1) / lanes;
  for (int64_t i = 0; i < vecNumRegisters(carrier->lowering, shape); ++i) {
    int64_t rest = last - i % perRow * lanes;
    if (!addFlat(carrier, vecVectorOf(shape->element, rest < lanes ? rest : lanes)))
      return false;
  }
  return true;
}

static bool addValue(Carrier *carrier, MlirType type) {
  if (carrier->count == MaxFlat)
    return addFlat(carrier, type);
  carrier->types[carrier->count++] = type;
  if (tileTypeIsAToken(type))
    return addFlat(carrier, mlirIntegerTypeGet(carrier->lowering->context, 1)); // flow/scheduled.c
  if (!vecIsTile(type))
    return addFlat(carrier, type);
  VecShape shape = vecShapeOf(type);
  if (vecFitsRegisters(carrier->lowering, &shape))
    return addRegisters(carrier, &shape);
  carrier->buffers[carrier->count - 1] = vecBufferNew(carrier->lowering, &shape);
  return true;
}

static Carrier carrierFor(VecLowering *lowering, MlirOperation op) { return (Carrier){.lowering = lowering, .op = op}; }

// Whether writing `buffer` from `record` element by element reads nothing of it that is gone already.
static bool mayWriteInPlace(VecLowering *lowering, VecRecord *record, const VecAccess *buffer) {
  VecRecords records = vecRecordsBehind(lowering, record);
  bool reads = false, reshapes = false;
  for (intptr_t i = 0; i < records.count; ++i) {
    const VecRecord *behind = records.items[i];
    reads = reads || (behind->kind == VecRecord_Memory && mlirValueEqual(behind->access->memref, buffer->memref));
    reshapes = reshapes || (behind->kind == VecRecord_Lazy && vecIsShapeOp(behind->op));
  }
  return !reads || !reshapes;
}

static intptr_t numBuffers(const Carrier *carrier) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < carrier->count; ++i)
    count += carrier->buffers[i] != NULL;
  return count;
}

static bool isHeldBy(const VecRecord *record, const VecAccess *buffer) {
  return record->kind == VecRecord_Memory && mlirValueEqual(record->access->memref, buffer->memref);
}

// Writes the large ones of `values` to their buffers: through others when one may still be read for another.
static void writeBuffers(Carrier *carrier, const MlirValue *values) {
  VecLowering *lowering = carrier->lowering;
  VecRecord *records[MaxFlat];
  for (intptr_t i = 0; i < carrier->count; ++i) {
    if (!carrier->buffers[i])
      continue;
    records[i] = vecRecordOf(lowering, values[i]);
    bool direct = numBuffers(carrier) == 1 && mayWriteInPlace(lowering, records[i], carrier->buffers[i]);
    if (!direct && !isHeldBy(records[i], carrier->buffers[i]))
      records[i] = vecRecordOfAccess(lowering, vecMaterialize(lowering, records[i], (MlirType){NULL}));
  }
  for (intptr_t i = 0; i < carrier->count; ++i)
    if (carrier->buffers[i] && !isHeldBy(records[i], carrier->buffers[i]))
      vecWriteTile(lowering, records[i], carrier->buffers[i]);
}

// Emits `values` (of the kernel): the flat ones into `flat`, the large ones into their buffers.
static void pass(Carrier *carrier, const MlirValue *values, MlirValue *flat) {
  VecLowering *lowering = carrier->lowering;
  intptr_t n = 0;
  for (intptr_t i = 0; i < carrier->count; ++i) {
    if (carrier->buffers[i])
      continue;
    if (!vecIsTile(carrier->types[i])) {
      flat[n++] = vecScalarOf(lowering, values[i]);
      continue;
    }
    VecShape shape = vecShapeOf(carrier->types[i]);
    intptr_t count = vecNumRegisters(lowering, &shape);
    memcpy(flat + n, vecEvaluateRegisters(lowering, vecRecordOf(lowering, values[i])), count * sizeof *flat);
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
  VecLowering *lowering = carrier->lowering;
  if (carrier->buffers[i]) {
    vecRecordMemory(lowering, source, carrier->buffers[i]);
    return 0;
  }
  if (!vecIsTile(carrier->types[i])) {
    vecRecordScalar(lowering, source, flat[0]);
    return 1;
  }
  VecRecord *record = vecRecordNew(lowering, source, VecRecord_Registers);
  intptr_t count = vecNumRegisters(lowering, &record->shape);
  record->registers = vecLoweringAllocate(lowering, count * sizeof *flat);
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

//===--- for -----------------------------------------------------------------------------------===//

bool vecLowerFor(VecLowering *lowering, MlirOperation op) {
  Carrier carrier = carrierFor(lowering, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!addValue(&carrier, tileResultType(op, i)))
      return false;
  MlirValue flat[MaxFlat], lower = vecScalarOf(lowering, scfForOpGetLowerBound(op));
  MlirValue upper = vecScalarOf(lowering, scfForOpGetUpperBound(op)), step = vecScalarOf(lowering, scfForOpGetStep(op));
  passOperands(&carrier, op, scfForOpGetInitArgsBegin(op), flat);
  MlirBlock source = mlirRegionGetFirstBlock(scfForOpGetRegion(op)), body;
  MlirOperation loop = tileBuildFor(&lowering->builder, lower, upper, step, carrier.numFlat, flat, &body);
  TileBuilder before = vecEnter(lowering, body);
  vecRecordScalar(lowering, mlirBlockGetArgument(source, 0), mlirBlockGetArgument(body, 0));
  receiveArguments(&carrier, source, 1, body, 1);
  if (!vecLowerBlock(lowering, source))
    return false;
  passOperands(&carrier, mlirBlockGetTerminator(source), 0, flat);
  tileBuildYield(&lowering->builder, carrier.numFlat, flat);
  lowering->builder = before;
  receiveResults(&carrier, op, loop);
  return true;
}

//===--- if --------------------------------------------------------------------------------------===//

static bool lowerBranch(Carrier *carrier, MlirBlock source, MlirBlock target) {
  VecLowering *lowering = carrier->lowering;
  TileBuilder before = vecEnter(lowering, target);
  if (!vecLowerBlock(lowering, source))
    return false;
  MlirValue flat[MaxFlat];
  passOperands(carrier, mlirBlockGetTerminator(source), 0, flat);
  tileBuildYield(&lowering->builder, carrier->numFlat, flat);
  lowering->builder = before;
  return true;
}

bool vecLowerIf(VecLowering *lowering, MlirOperation op) {
  Carrier carrier = carrierFor(lowering, op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!addValue(&carrier, tileResultType(op, i)))
      return false;
  MlirBlock then, otherwise = {NULL}, sourceElse = mlirRegionGetFirstBlock(scfIfOpGetElseRegion(op));
  MlirValue condition = vecScalarOf(lowering, scfIfOpGetCondition(op));
  MlirOperation choice = vecBuildIf(&lowering->builder, condition, carrier.numFlat, carrier.flat, &then,
                                    mlirBlockIsNull(sourceElse) ? NULL : &otherwise);
  if (!lowerBranch(&carrier, mlirRegionGetFirstBlock(scfIfOpGetThenRegion(op)), then))
    return false;
  if (!mlirBlockIsNull(sourceElse) && !lowerBranch(&carrier, sourceElse, otherwise))
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

static bool lowerBefore(VecLowering *lowering, Carrier *arguments, Carrier *forwarded, MlirBlock source,
                        MlirBlock target) {
  TileBuilder before = vecEnter(lowering, target);
  receiveArguments(arguments, source, 0, target, 0);
  if (!vecLowerBlock(lowering, source))
    return false;
  MlirOperation condition = mlirBlockGetTerminator(source);
  MlirValue flat[MaxFlat], holds = vecScalarOf(lowering, scfConditionOpGetCondition(condition));
  passOperands(forwarded, condition, scfConditionOpGetArgsBegin(condition), flat);
  scfConditionOpBuild(&lowering->builder, holds, forwarded->numFlat, flat);
  lowering->builder = before;
  return true;
}

static bool lowerAfter(VecLowering *lowering, Carrier *arguments, Carrier *forwarded, MlirBlock source,
                       MlirBlock target) {
  TileBuilder before = vecEnter(lowering, target);
  receiveArguments(forwarded, source, 0, target, 0);
  if (!vecLowerBlock(lowering, source))
    return false;
  MlirValue flat[MaxFlat];
  passOperands(arguments, mlirBlockGetTerminator(source), 0, flat);
  tileBuildYield(&lowering->builder, arguments->numFlat, flat);
  lowering->builder = before;
  return true;
}

bool vecLowerWhile(VecLowering *lowering, MlirOperation op) {
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
  MlirOperation loop = scfWhileOpBuild(&lowering->builder, forwarded.numFlat, forwarded.flat, arguments.numFlat, flat,
                                       regions[0], regions[1]);
  if (!lowerBefore(lowering, &arguments, &forwarded, mlirRegionGetFirstBlock(scfWhileOpGetBefore(op)), before) ||
      !lowerAfter(lowering, &arguments, &forwarded, mlirRegionGetFirstBlock(scfWhileOpGetAfter(op)), after))
    return false;
  receiveResults(&forwarded, op, loop);
  return true;
}
