// Decodes functions and other isolated regions into instructions over numbered slots (machine.h). Cost: once per op.
// Expects: a verified module. Leaves: bodies that the machine keeps until it ends.
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/ops.h"
#include "lib/interpreter/sparse/levels.h"
#include "lib/interpreter/upstream/upstream.h"
#include "lib/ir/op_query.h"
#include "lib/ir/table.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/cf.h"
#include "upstream/func.h"
#include "upstream/gpu.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <stdlib.h>

//===--- values to slots --------------------------------------------------------===//

// The table holds each value's number plus 1.
typedef struct Slots {
  TileTable numbers;
  int count;
} Slots;

static int slotOf(Slots *slots, MlirValue value) {
  intptr_t number = (intptr_t)tileTableFind(&slots->numbers, value.ptr);
  if (!number)
    tileTableSet(&slots->numbers, value.ptr, (void *)(number = ++slots->count));
  return (int)number - 1;
}

//===--- instructions -------------------------------------------------------------===//

static bool unknown(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef name = tileOpName(instruction->op);
  return interpretUnknown(machine, instruction->op, "not interpreted yet: '%.*s'", (int)name.length, name.data);
}

static bool unknownType(Machine *machine, Frame *frame, const Instruction *instruction) {
  char from[64] = "none", to[64] = "none";
  if (instruction->numOperands)
    tileTypeText(interpretElementTypeOf(tileFirstOperandType(instruction->op)), from, sizeof from);
  if (instruction->numResults)
    tileTypeText(interpretElementTypeOf(tileFirstResultType(instruction->op)), to, sizeof to);
  return interpretUnknown(machine, instruction->op, "not interpreted yet: elements of %s or %s", from, to);
}

static void decodeFlags(Instruction *instruction) {
  MlirAttribute predicate = tileOpAttribute(instruction->op, "predicate");
  if (mlirAttributeIsNull(predicate))
    predicate = tileOpAttribute(instruction->op, "roundingmode");
  if (!mlirAttributeIsNull(predicate) && mlirAttributeIsAInteger(predicate))
    instruction->predicate = mlirIntegerAttrGetValueInt(predicate);
  instruction->isApproximate = tileOpAllows(instruction->op, TileFastMath_Approximate);
  instruction->noSigned = tileOpForbids(instruction->op, TileOverflow_Signed);
  instruction->noUnsigned = tileOpForbids(instruction->op, TileOverflow_Unsigned);
}

static bool unknownEncoding(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef name = tileOpName(instruction->op);
  return interpretFail(machine, instruction->op, "'%.*s' of a sparse tensor has no meaning: unpack it first",
                       (int)name.length, name.data);
}

static bool unknownLevels(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef name = tileOpName(instruction->op);
  return interpretUnknown(machine, instruction->op, "not interpreted yet: '%.*s' of a sparse tensor", (int)name.length,
                          name.data);
}

static bool passesOn(MlirOperation op) {
  return sparseOpKind(op) != SparseOp_None || funcOpKind(op) != FuncOp_None || scfOpKind(op) != ScfOp_None ||
         cfOpKind(op) != CfOp_None || tensorDimOpIsA(op) ||
         (arithSelectOpIsA(op) && !mlirTypeIsAShaped(tileFirstOperandType(op)));
}

// Sparse values go through ops of their own, and through those that only pass values on.
static bool misusesEncoding(MlirOperation op) {
  bool has = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    has |= !mlirAttributeIsNull(sparseTypeGetEncoding(tileOperandType(op, i)));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    has |= !mlirAttributeIsNull(sparseTypeGetEncoding(tileResultType(op, i)));
  return has && !passesOn(op);
}

static bool misusesLevels(MlirOperation op) {
  bool has = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    has |= interpretLevelsIsEncoded(tileOperandType(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    has |= interpretLevelsIsEncoded(tileResultType(op, i));
  return has && !passesOn(op);
}

static void decodeMeaning(Instruction *instruction) {
  MlirOperation op = instruction->op;
  const Row *row = interpretRowFind(tileUpstreamKind(op));
  instruction->execute = row ? row->execute : tileExecute(op);
  if (!instruction->execute)
    instruction->execute = sparseExecute(op);
  instruction->scalar = row ? row->scalar : NULL;
  instruction->stripe = row ? row->stripe : NULL;
  if (!instruction->execute)
    instruction->execute = tileOpIsStructured(op) ? interpretLinalg : unknown;
  bool known = true;
  if (instruction->numOperands)
    known &= interpretFormatOf(interpretElementTypeOf(tileFirstOperandType(op)), &instruction->in);
  if (instruction->numResults)
    known &= interpretFormatOf(interpretElementTypeOf(tileFirstResultType(op)), &instruction->out);
  if (instruction->scalar && !known)
    instruction->execute = unknownType;
  if (misusesEncoding(op))
    instruction->execute = unknownEncoding;
  if (misusesLevels(op))
    instruction->execute = unknownLevels;
  Execute ofLevels = interpretLevelsExecute(op);
  if (ofLevels)
    instruction->execute = ofLevels;
  if (instruction->scalar)
    decodeFlags(instruction);
  instruction->plan = tilePlan(op);
}

// Only arith.constant: other ops that hold a value (memref.global) read it themselves.
static void decodeConstant(Instruction *instruction) {
  if (arithConstantOpIsA(instruction->op) &&
      !interpretValueOfAttribute(tileOpAttribute(instruction->op, "value"), &instruction->constant))
    instruction->execute = unknown;
}

static void decodeRegion(MlirRegion from, Slots *slots, InterpretRegion *region);

static bool isIsolated(MlirOperation op) {
  return funcFuncOpIsA(op) || builtinModuleOpIsA(op) || tileFuncOpIsA(op) || tileKernelOpIsA(op) ||
         tileWarpSpecializeOpIsA(op) || gpuGPUFuncOpIsA(op);
}

static int blockNumber(MlirRegion region, MlirBlock wanted) {
  int number = 0;
  for (MlirBlock block = mlirRegionGetFirstBlock(region); !mlirBlockEqual(block, wanted);
       block = mlirBlockGetNextInRegion(block))
    ++number;
  return number;
}

static void decodeOp(MlirOperation op, MlirRegion parent, Slots *slots, Instruction *instruction) {
  *instruction = (Instruction){
      .op = op, .numOperands = (int)mlirOperationGetNumOperands(op), .numResults = (int)mlirOperationGetNumResults(op)};
  int *numbers = calloc((size_t)(instruction->numOperands + instruction->numResults + 1), sizeof *numbers);
  instruction->operands = numbers;
  instruction->results = numbers + instruction->numOperands;
  for (int i = 0; i < instruction->numOperands; ++i)
    instruction->operands[i] = slotOf(slots, mlirOperationGetOperand(op, i));
  for (int i = 0; i < instruction->numResults; ++i)
    instruction->results[i] = slotOf(slots, mlirOperationGetResult(op, i));
  intptr_t successors = mlirOperationGetNumSuccessors(op);
  instruction->isBranch = successors > 0;
  for (intptr_t i = 0; i < successors && i < 2; ++i)
    instruction->successors[i] = blockNumber(parent, mlirOperationGetSuccessor(op, i));
  decodeMeaning(instruction);
  decodeConstant(instruction);
  int regions = isIsolated(op) ? 0 : (int)mlirOperationGetNumRegions(op);
  instruction->numRegions = regions;
  instruction->regions = calloc((size_t)regions + 1, sizeof *instruction->regions);
  for (int i = 0; i < regions; ++i)
    decodeRegion(mlirOperationGetRegion(op, i), slots, &instruction->regions[i]);
}

static void decodeBlock(MlirBlock from, MlirRegion parent, Slots *slots, InterpretBlock *block) {
  int count = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    ++count;
  block->numInstructions = count;
  block->instructions = calloc((size_t)count + 1, sizeof *block->instructions);
  int at = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    decodeOp(op, parent, slots, &block->instructions[at++]);
  if (count)
    block->instructions[count - 1].isTerminator = true;
}

static void decodeRegion(MlirRegion from, Slots *slots, InterpretRegion *region) {
  for (MlirBlock block = mlirRegionGetFirstBlock(from); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    ++region->numBlocks;
  region->blocks = calloc((size_t)region->numBlocks + 1, sizeof *region->blocks);
  InterpretBlock *to = region->blocks;
  for (MlirBlock block = mlirRegionGetFirstBlock(from); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block), to++) {
    to->numArguments = (int)mlirBlockGetNumArguments(block);
    to->arguments = calloc((size_t)to->numArguments + 1, sizeof *to->arguments);
    for (int i = 0; i < to->numArguments; ++i)
      to->arguments[i] = slotOf(slots, mlirBlockGetArgument(block, i));
    decodeBlock(block, from, slots, to);
  }
}

//===--- bodies ---------------------------------------------------------------------===//

const InterpretBody *interpretBodyOf(Machine *machine, MlirOperation op, int index) {
  MlirRegion region = mlirOperationGetRegion(op, index);
  for (InterpretBody *body = machine->bodies; body; body = body->next)
    if (body->key == region.ptr)
      return body;
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(region))) {
    interpretFail(machine, op, "is a declaration; there is nothing to run");
    return NULL;
  }
  InterpretBody *body = calloc(1, sizeof *body);
  Slots slots = {.count = 0};
  decodeRegion(region, &slots, &body->region);
  body->key = region.ptr;
  body->numSlots = slots.count;
  tileTableFree(&slots.numbers);
  body->next = machine->bodies;
  machine->bodies = body;
  return body;
}

static void regionDestroy(InterpretRegion *region) {
  for (int b = 0; b < region->numBlocks; ++b) {
    InterpretBlock *block = &region->blocks[b];
    for (int i = 0; i < block->numInstructions; ++i) {
      Instruction *instruction = &block->instructions[i];
      for (int r = 0; r < instruction->numRegions; ++r)
        regionDestroy(&instruction->regions[r]);
      valueRelease(instruction->constant);
      free(instruction->regions);
      free(instruction->operands);
      free(instruction->plan);
    }
    free(block->instructions);
    free(block->arguments);
  }
  free(region->blocks);
}

void interpretBodiesDestroy(Machine *machine) {
  while (machine->bodies) {
    InterpretBody *body = machine->bodies;
    machine->bodies = body->next;
    regionDestroy(&body->region);
    free(body);
  }
}
