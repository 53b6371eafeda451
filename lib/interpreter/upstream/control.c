// func, scf, cf, and what arith does beside arithmetic: constants, calls, loops, branches.
// A region runs in the frame of its function; what it yields is moved to results or to arguments of the next round.
#include "lib/interpreter/upstream/upstream.h"
#include "upstream/cf.h"

#include <math.h>
#include <stdlib.h>

bool interpretConstant(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueRetain(instruction->constant));
  return true;
}

bool interpretPoison(Machine *machine, Frame *frame, const Instruction *instruction) {
  if (!interpretTypeIsShaped(tileOnlyResultType(instruction->op))) {
    setResult(frame, instruction, 0, valueOfElement(elementMissing(ELEMENT_POISON)));
    return true;
  }
  Array *array = interpretNewResult(machine, instruction, 0);
  for (int64_t i = 0; array && i < interpretArrayCount(array); ++i)
    arrayElements(array)[i] = elementMissing(ELEMENT_POISON);
  if (array)
    interpretSetArray(frame, instruction, 0, array);
  return array != NULL;
}

bool interpretYield(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretYieldOperands(frame, instruction) || interpretOutOfMemory(machine, instruction->op);
}

//===--- select ---------------------------------------------------------------------===//

// Only what is chosen is looked at. An undecided condition: the other one may be right too.
Element interpretSelectElement(const Format *format, Element condition, Element a, Element b) {
  if (elementIsMissing(condition))
    return elementMissing(ELEMENT_POISON);
  Element chosen = condition.i ? a : b, other = condition.i ? b : a;
  if (condition.bound > 0 && !elementIsMissing(chosen) && !elementIsMissing(other)) {
    double apart = format->isFloat ? fabs(a.f - b.f) : a.i == b.i ? 0 : INFINITY;
    chosen.bound = fmax(chosen.bound, isnan(apart) ? INFINITY : apart + other.bound);
  }
  return chosen;
}

bool interpretSelect(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue condition = operandOf(frame, instruction, 0), a = operandOf(frame, instruction, 1);
  InterpretValue b = operandOf(frame, instruction, 2);
  if (!condition.object && (a.object || !mlirTypeIsAShaped(tileOnlyResultType(instruction->op)))) {
    if (!a.object) {
      setResult(frame, instruction, 0,
                valueOfElement(interpretSelectElement(&instruction->out, condition.scalar, a.scalar, b.scalar)));
      return true;
    }
    int64_t chosen;
    if (!interpretReadInteger(machine, instruction, condition.scalar, &chosen))
      return false;
    setResult(frame, instruction, 0, valueRetain(chosen ? a : b));
    return true;
  }
  if (!interpretExpectSizes(machine, frame, instruction, arrayOf(condition)))
    return false;
  Array *result = interpretNewArray(machine, instruction, arrayOf(condition)->rank, arrayOf(condition)->sizes);
  if (!result)
    return false;
  for (int64_t i = 0; i < interpretArrayCount(result); ++i)
    arrayElements(result)[i] = interpretSelectElement(&instruction->out, arrayElements(arrayOf(condition))[i],
                                                      arrayElements(arrayOf(a))[i], arrayElements(arrayOf(b))[i]);
  interpretSetArray(frame, instruction, 0, result);
  return true;
}

//===--- functions and branches -------------------------------------------------------===//

// Not on the stack: calls may nest deep.
static bool callFunction(Machine *machine, Frame *frame, const Instruction *instruction, const InterpretBody *body) {
  InterpretValue *values = calloc((size_t)(instruction->numOperands + instruction->numResults) + 1, sizeof *values);
  if (!values)
    return interpretOutOfMemory(machine, instruction->op);
  InterpretValue *results = values + instruction->numOperands;
  for (int i = 0; i < instruction->numOperands; ++i)
    values[i] = valueRetain(operandOf(frame, instruction, i));
  bool ok = interpretBodyCall(machine, instruction->op, body, instruction->numOperands, values, instruction->numResults,
                              results);
  for (int i = 0; i < instruction->numResults && ok; ++i)
    setResult(frame, instruction, i, results[i]);
  free(values);
  return ok;
}

bool interpretCall(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute callee = tileOpAttribute(instruction->op, "callee");
  MlirOperation function = interpretFindSymbol(machine->module, mlirFlatSymbolRefAttrGetValue(callee));
  if (mlirOperationIsNull(function))
    return interpretFail(machine, instruction->op, "calls a function that is not in the module");
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0))))
    return interpretExternal(machine, frame, instruction, mlirFlatSymbolRefAttrGetValue(callee));
  const InterpretBody *body = interpretBodyOf(machine, function, 0);
  return body && callFunction(machine, frame, instruction, body);
}

bool interpretBranch(Machine *machine, Frame *frame, const Instruction *instruction) {
  frame->jump = instruction->successors[0];
  return interpretYield(machine, frame, instruction);
}

bool interpretCondBranch(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t condition;
  if (!interpretIndexOperand(machine, frame, instruction, 0, &condition))
    return false;
  intptr_t trueCount = cfCondBranchOpGetNumTrueDestOperands(instruction->op);
  intptr_t falseCount = cfCondBranchOpGetNumFalseDestOperands(instruction->op);
  Instruction chosen = *instruction;
  chosen.operands = instruction->operands + 1 + (condition ? 0 : trueCount);
  chosen.numOperands = (int)(condition ? trueCount : falseCount);
  frame->jump = instruction->successors[condition ? 0 : 1];
  return interpretYield(machine, frame, &chosen);
}

bool interpretAssert(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t holds;
  MlirStringRef text = mlirStringAttrGetValue(tileOpAttribute(instruction->op, "msg"));
  if (!interpretIndexOperand(machine, frame, instruction, 0, &holds))
    return false;
  return holds || interpretFail(machine, instruction->op, "assertion failed: %.*s", (int)text.length, text.data);
}

//===--- scf --------------------------------------------------------------------------===//

bool interpretForResults(Machine *machine, Frame *frame, const Instruction *instruction,
                         const InterpretRegion *region) {
  if (!interpretRegionRun(machine, frame, region, 0, NULL))
    return false;
  interpretTakeYielded(frame, instruction->numResults, instruction->results, 0);
  return true;
}

bool interpretIf(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t condition;
  if (!interpretIndexOperand(machine, frame, instruction, 0, &condition))
    return false;
  const InterpretRegion *region = &instruction->regions[condition ? 0 : 1];
  return region->numBlocks == 0 || interpretForResults(machine, frame, instruction, region);
}

bool interpretRegion(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretForResults(machine, frame, instruction, &instruction->regions[0]);
}

bool interpretIndexSwitch(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t chosen;
  if (!interpretIndexOperand(machine, frame, instruction, 0, &chosen))
    return false;
  MlirAttribute cases = tileOpAttribute(instruction->op, "cases");
  int region = 0; // the default
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(cases); ++i)
    if (mlirDenseI64ArrayGetElement(cases, i) == chosen)
      region = (int)i + 1;
  return interpretForResults(machine, frame, instruction, &instruction->regions[region]);
}

// Operands from `from` on become the block's arguments from `argument` on.
static void bind(Frame *frame, const Instruction *instruction, int from, const InterpretBlock *block, int argument) {
  for (int i = argument; i < block->numArguments; ++i)
    frameSet(frame, block->arguments[i], valueRetain(operandOf(frame, instruction, from + i - argument)));
}

static void giveArguments(Frame *frame, const Instruction *instruction, const InterpretBlock *block, int argument) {
  for (int i = 0; i < instruction->numResults; ++i)
    setResult(frame, instruction, i, valueRetain(frame->slots[block->arguments[argument + i]]));
}

bool interpretLoop(Machine *machine, Frame *frame, const Instruction *instruction, const int64_t *bounds,
                   int firstInit) {
  const InterpretRegion *region = &instruction->regions[0];
  const InterpretBlock *block = region->blocks;
  bind(frame, instruction, firstInit, block, 1);
  for (int64_t i = bounds[0]; i < bounds[1]; i += bounds[2]) {
    frameSet(frame, block->arguments[0], valueOfInteger(i));
    if (!interpretRegionRun(machine, frame, region, 0, NULL))
      return false;
    interpretTakeYielded(frame, block->numArguments - 1, block->arguments + 1, 0);
    if (i > INT64_MAX - bounds[2])
      break;
  }
  giveArguments(frame, instruction, block, 1);
  return true;
}

bool interpretFor(Machine *machine, Frame *frame, const Instruction *instruction) {
  int64_t bounds[3];
  if (!interpretIndexOperands(machine, frame, instruction, 0, 3, bounds))
    return false;
  if (bounds[2] <= 0)
    return interpretFail(machine, instruction->op, "has step %lld; expected a positive one", (long long)bounds[2]);
  return interpretLoop(machine, frame, instruction, bounds, 3);
}

bool interpretWhile(Machine *machine, Frame *frame, const Instruction *instruction) {
  const InterpretBlock *before = instruction->regions[0].blocks, *after = instruction->regions[1].blocks;
  bind(frame, instruction, 0, before, 0);
  for (;;) {
    int64_t goesOn;
    if (!interpretRegionRun(machine, frame, &instruction->regions[0], 0, NULL) ||
        !interpretReadInteger(machine, instruction, frame->yielded[0].scalar, &goesOn))
      return false;
    if (!goesOn) {
      interpretTakeYielded(frame, instruction->numResults, instruction->results, 1);
      return true;
    }
    interpretTakeYielded(frame, after->numArguments, after->arguments, 1);
    if (!interpretRegionRun(machine, frame, &instruction->regions[1], 0, NULL))
      return false;
    interpretTakeYielded(frame, before->numArguments, before->arguments, 0);
  }
}
