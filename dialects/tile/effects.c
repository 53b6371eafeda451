// Memory effects that a row's text cannot say: they depend on types, attributes or on what is in flight.
// Why: CSE, dead code elimination and code motion ask here what may be merged, dropped or moved.
// Expects: a verified op. Leaves: effects on values where a value stands for the memory, on all memory where none does.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

static void readsOperand(MlirOperation op, MlirExtEffects effects, intptr_t operand) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Read, operand, -1);
}

static void writesOperand(MlirOperation op, MlirExtEffects effects, intptr_t operand) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Write, operand, -1);
}

// Orders this op against every access to memory.
static void ordersMemory(MlirExtEffects effects) {
  mlirExtEffectsAddOn(effects, MlirExtEffect_Read, MlirExtResource_Order);
  mlirExtEffectsAddOn(effects, MlirExtEffect_Write, MlirExtResource_Order);
}

static intptr_t positionOf(MlirOperation op, const char *name) {
  intptr_t begin, count;
  tileOpOperands(op, name, &begin, &count);
  return begin;
}

//===--- structure ----------------------------------------------------------===//

// Launches on tensors are values: equal ones merge, dead ones vanish. On memrefs, ins are read, outs read and written.
// A launch without outs can be there only for what its kernel prints or asserts.
void tileLaunchOpEffects(MlirOperation op, MlirExtEffects effects) {
  intptr_t outputs = positionOf(op, "outputs");
  if (outputs == mlirOperationGetNumOperands(op))
    mlirExtEffectsAddOn(effects, MlirExtEffect_Write, MlirExtResource_Debug);
  for (intptr_t i = positionOf(op, "inputs"); i < mlirOperationGetNumOperands(op); ++i) {
    if (!mlirTypeIsAMemRef(tileOperandType(op, i)))
      continue;
    readsOperand(op, effects, i);
    if (i >= outputs)
      writesOperand(op, effects, i);
  }
}

//===--- memory -------------------------------------------------------------===//

// Memory is a view, buffer or memref; addresses in a tile may point anywhere.
static void accesses(MlirOperation op, MlirExtEffects effects, intptr_t memory, bool reads, bool writes) {
  intptr_t operand = tileTypeIsATile(tileOperandType(op, memory)) ? -1 : memory;
  if (reads)
    mlirExtEffectsAdd(effects, op, MlirExtEffect_Read, operand, -1);
  if (writes)
    mlirExtEffectsAdd(effects, op, MlirExtEffect_Write, operand, -1);
}

void tileStoreOpEffects(MlirOperation op, MlirExtEffects effects) {
  accesses(op, effects, 1, tileHas(op, "combine"), true);
}

// A gather along an axis of a tile reads no memory.
void tileGatherOpEffects(MlirOperation op, MlirExtEffects effects) {
  if (!tileHas(op, "axis"))
    accesses(op, effects, 0, true, false);
}

void tileScatterOpEffects(MlirOperation op, MlirExtEffects effects) {
  accesses(op, effects, 1, tileHas(op, "combine"), true);
}

// An ordered atomic publishes or receives what other memory holds.
static void accessesAtomically(MlirOperation op, MlirExtEffects effects, bool reads, bool writes) {
  accesses(op, effects, positionOf(op, "memory"), reads, writes);
  if (!tileKeywordIs(op, "order", "relaxed"))
    ordersMemory(effects);
}

void tileAtomicRmwOpEffects(MlirOperation op, MlirExtEffects effects) { accessesAtomically(op, effects, true, true); }

void tileAtomicCasOpEffects(MlirOperation op, MlirExtEffects effects) { accessesAtomically(op, effects, true, true); }

// Another program may write between two atomic loads (a loop that polls): no two of them are one, hence the write.
void tileAtomicLoadOpEffects(MlirOperation op, MlirExtEffects effects) { accessesAtomically(op, effects, true, true); }

void tileAtomicStoreOpEffects(MlirOperation op, MlirExtEffects effects) {
  accessesAtomically(op, effects, false, true);
}

//===--- scheduled level ----------------------------------------------------===//

void tileCopyAsyncOpEffects(MlirOperation op, MlirExtEffects effects) {
  readsOperand(op, effects, 0);
  writesOperand(op, effects, 1);
  if (mlirValueIsNull(tileOpOperand(op, "barrier")))
    return;
  readsOperand(op, effects, positionOf(op, "barrier"));
  writesOperand(op, effects, positionOf(op, "barrier"));
}

// Reads its buffers, until waited for; a buffer that accumulates is written, and its barrier signalled.
void tileMmaAsyncOpEffects(MlirOperation op, MlirExtEffects effects) {
  for (intptr_t i = 0; i < 3; ++i)
    if (tileTypeIsABuffer(tileOperandType(op, i)))
      readsOperand(op, effects, i);
  if (tileTypeIsABuffer(tileMmaAsyncOpGetAccumulatorType(op)))
    writesOperand(op, effects, 2);
  if (!mlirValueIsNull(tileOpOperand(op, "barrier")))
    writesOperand(op, effects, positionOf(op, "barrier"));
}
