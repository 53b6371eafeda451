// Runs a linalg op many points at a time: each instruction of its body goes along a stripe of one loop before the next
// does. Why: deciding what an instruction is costs more than doing it once; here it is decided once per stripe.
// Expects: a body of scalar ops, linear maps, and outputs that no two points of a stripe share unless they are sums.
// Leaves: what point by point would leave; only which of several errors is met first may differ.
#include "lib/interpreter/upstream/nest.h"

#include <stdlib.h>

enum { MaxStripe = 512, LongStripe = 32 };

//===--- may it run so? ------------------------------------------------------------===//

static bool isScalarOp(const Instruction *instruction) {
  bool isKnown = instruction->execute == interpretElementwise || instruction->execute == interpretSelect ||
                 instruction->execute == interpretConstant || instruction->execute == interpretLinalgIndex;
  return isKnown && !interpretTypeIsShaped(tileOnlyResultType(instruction->op));
}

static bool isSimple(const Nest *nest) {
  if (nest->block->numArguments != nest->numOperands)
    return false;
  for (int i = 0; i + 1 < nest->block->numInstructions; ++i)
    if (!isScalarOp(&nest->block->instructions[i]))
      return false;
  for (int o = 0; o < nest->numOperands; ++o)
    if (nest->accesses[o].array && !nest->accesses[o].isLinear)
      return false;
  return true;
}

static bool isSameAccess(const Nest *nest, const InterpretAccess *a, const InterpretAccess *b) {
  bool same = a->place.constant == b->place.constant;
  for (int i = 0; i < nest->loops; ++i)
    same &= a->place.factors[i] == b->place.factors[i];
  return same;
}

// Whether a point may read what another one writes: in memory that an input and an output share.
static bool mayInterfere(const Nest *nest, int output) {
  const InterpretAccess *to = &nest->accesses[output];
  for (int o = 0; o < nest->numOperands; ++o) {
    const InterpretAccess *from = &nest->accesses[o];
    if (o != output && from->array && from->array->storage == to->array->storage &&
        (nest->numOperands - nest->numInputs > 1 || !isSameAccess(nest, from, to)))
      return true;
  }
  return false;
}

static bool isLegalLoop(const Nest *nest, int loop) {
  for (int o = nest->numInputs; o < nest->numOperands; ++o)
    if (nest->reductions[o - nest->numInputs].instruction < 0 && nest->accesses[o].place.factors[loop] == 0)
      return false;
  return true;
}

// The innermost one that is long, else the longest.
int interpretStripeLoopOf(const Instruction *instruction, const Nest *nest) {
  int best = -1;
  if (!isSimple(nest))
    return -1;
  for (int o = nest->numInputs; o < nest->numOperands; ++o)
    if (!mlirAffineMapIsProjectedPermutation(nest->accesses[o].map) || mayInterfere(nest, o))
      return -1;
  for (int loop = nest->loops - 1; loop >= 0; --loop)
    if (isLegalLoop(nest, loop) &&
        (best < 0 || (nest->sizes[best] < LongStripe && nest->sizes[loop] > nest->sizes[best])))
      best = loop;
  return best;
}

//===--- along a stripe ---------------------------------------------------------------===//

// Where the elements of each slot lie during a stripe, and how far from one to the next.
typedef struct Stripe {
  const Element **rows;
  int64_t *steps;
  Element *memory; // room for every result of the body and for accumulators
  int64_t room;    // elements of one row of it
  int inner;
} Stripe;

static Element *rowOf(const Stripe *stripe, int number) { return stripe->memory + number * stripe->room; }

static void setRow(Stripe *stripe, int slot, const Element *row, int64_t step) {
  stripe->rows[slot] = row;
  stripe->steps[slot] = step;
}

static void bindOperands(const Frame *frame, const Instruction *instruction, const Nest *nest, Stripe *stripe,
                         int64_t count) {
  const InterpretBlock *block = nest->block;
  for (int o = 0; o < nest->numOperands; ++o) {
    const InterpretAccess *access = &nest->accesses[o];
    if (!access->array) {
      setRow(stripe, block->arguments[o], &frame->slots[instruction->operands[o]].scalar, 0);
      continue;
    }
    const Element *first = access->array->storage->elements + linearAt(&access->place, nest->loops, nest->point);
    int64_t step = access->place.factors[stripe->inner];
    setRow(stripe, block->arguments[o], first, step);
    if (o < nest->numInputs || nest->numOperands - nest->numInputs < 2)
      continue;
    Element *copy = rowOf(stripe, 2 * block->numInstructions + o); // another output may be written before it is read
    for (int64_t k = 0; k < count; ++k)
      copy[k] = first[k * step];
    setRow(stripe, block->arguments[o], copy, 1);
  }
}

static void runIndex(const Instruction *instruction, const Nest *nest, Stripe *stripe, int64_t count, Element *to) {
  int64_t loop = mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "dim"));
  bool isAlong = loop == stripe->inner;
  for (int64_t k = 0; k < (isAlong ? count : 1); ++k)
    to[k] = elementOfInteger(nest->point[loop] + k);
  setRow(stripe, instruction->results[0], to, isAlong);
}

// An op none of whose operands changes along the stripe runs once.
static bool runInstruction(Machine *machine, const Instruction *instruction, Stripe *stripe, int64_t count,
                           Element *to) {
  const Element *x[MaxScalarOperands];
  int64_t steps[MaxScalarOperands];
  bool changes = false;
  for (int i = 0; i < instruction->numOperands; ++i) {
    x[i] = stripe->rows[instruction->operands[i]];
    steps[i] = stripe->steps[instruction->operands[i]];
    changes |= steps[i] != 0;
  }
  count = changes ? count : 1;
  for (int r = 0; r < instruction->numResults; ++r)
    setRow(stripe, instruction->results[r], to + r * stripe->room, changes);
  if (instruction->scalar)
    return interpretApplyScalars(machine, instruction, count, x, steps, (Element *[]){to, to + stripe->room});
  for (int64_t k = 0; k < count; ++k)
    to[k] = interpretSelectElement(&instruction->out, x[0][k * steps[0]], x[1][k * steps[1]], x[2][k * steps[2]]);
  return true;
}

static bool isReduced(const Nest *nest, int number) {
  for (int o = 0; o < nest->numOperands - nest->numInputs; ++o)
    if (nest->reductions[o].instruction == number)
      return true;
  return false;
}

static bool runBody(Machine *machine, const Nest *nest, Stripe *stripe, int64_t count) {
  const InterpretBlock *block = nest->block;
  for (int i = 0; i + 1 < block->numInstructions; ++i) {
    const Instruction *instruction = &block->instructions[i];
    Element *to = rowOf(stripe, 2 * i);
    if (isReduced(nest, i) || instruction->execute == interpretConstant)
      continue;
    if (instruction->execute == interpretLinalgIndex)
      runIndex(instruction, nest, stripe, count, to);
    else if (!runInstruction(machine, instruction, stripe, count, to))
      return false;
  }
  return true;
}

//===--- its outputs --------------------------------------------------------------------===//

// All terms of a stripe into one sum.
static bool addStripe(Machine *machine, const Instruction *combine, Sum *sum, int64_t count, const Element *terms,
                      int64_t step) {
  Sum s = *sum;
  for (int64_t k = 0; k < count; ++k) {
    if (elementIsMissing(terms[k * step]))
      return interpretElementExpect(machine, combine, terms[k * step], "uses");
    sumAdd(&s, terms[k * step]);
  }
  *sum = s;
  return true;
}

static bool reduceStripe(Machine *machine, const Nest *nest, const Stripe *stripe, int output, int64_t count) {
  const Reduction *reduction = &nest->reductions[output];
  const InterpretAccess *access = &nest->accesses[nest->numInputs + output];
  const Instruction *combine = &nest->block->instructions[reduction->instruction];
  const Element *terms = stripe->rows[reduction->term], *elements = access->array->storage->elements;
  int64_t place = linearAt(&access->place, nest->loops, nest->point), along = access->place.factors[stripe->inner];
  int64_t step = stripe->steps[reduction->term], first = along == 0 && !reduction->isProduct ? 1 : count;
  for (int64_t k = 0; k < first; ++k)
    if (!interpretNestAddTerm(machine, combine, reduction, elements[place + k * along], place + k * along,
                              terms[k * step]))
      return false;
  return first == count ||
         addStripe(machine, combine, &reduction->sums[place], count - first, terms + first * step, step);
}

static bool writeStripe(Machine *machine, const Nest *nest, const Stripe *stripe, int output, int64_t count) {
  const InterpretAccess *access = &nest->accesses[nest->numInputs + output];
  const Instruction *yield = &nest->block->instructions[nest->block->numInstructions - 1];
  int64_t place = linearAt(&access->place, nest->loops, nest->point), along = access->place.factors[stripe->inner];
  int slot = yield->operands[output];
  for (int64_t k = 0; k < count; ++k)
    if (!interpretMemoryWrite(machine, yield, access->array->storage, place + k * along,
                              stripe->rows[slot][k * stripe->steps[slot]]))
      return false;
  return true;
}

static bool runStripe(Machine *machine, Frame *frame, const Instruction *instruction, Nest *nest, Stripe *stripe,
                      int64_t count) {
  bindOperands(frame, instruction, nest, stripe, count);
  bool ok = runBody(machine, nest, stripe, count);
  for (int o = 0; o < nest->numOperands - nest->numInputs && ok; ++o)
    ok = nest->reductions[o].sums ? reduceStripe(machine, nest, stripe, o, count)
                                  : writeStripe(machine, nest, stripe, o, count);
  return ok && interpretStep(machine, instruction->op, count * nest->block->numInstructions);
}

//===--- all of them ----------------------------------------------------------------------===//

// What the body uses from outside stays where it is; its constants are set once.
static bool bindOutside(Machine *machine, Frame *frame, const Nest *nest, Stripe *stripe) {
  for (int i = 0; i < nest->block->numInstructions; ++i) {
    const Instruction *instruction = &nest->block->instructions[i];
    if (instruction->execute == interpretConstant && !interpretConstant(machine, frame, instruction))
      return false;
    for (int o = 0; o < instruction->numOperands; ++o)
      setRow(stripe, instruction->operands[o], &frame->slots[instruction->operands[o]].scalar, 0);
  }
  return true;
}

static bool runAll(Machine *machine, Frame *frame, const Instruction *instruction, Nest *nest, Stripe *stripe) {
  int64_t length = nest->sizes[stripe->inner], outer[MaxLoops];
  for (int i = 0; i < nest->loops; ++i)
    outer[i] = i == stripe->inner ? 1 : nest->sizes[i];
  do
    for (int64_t begin = 0; begin < length; begin += MaxStripe) {
      nest->point[stripe->inner] = begin;
      if (!runStripe(machine, frame, instruction, nest, stripe,
                     length - begin < MaxStripe ? length - begin : MaxStripe))
        return false;
    }
  while (interpretIndexNext(nest->loops, outer, nest->point));
  return true;
}

bool interpretRunStripes(Machine *machine, Frame *frame, const Instruction *instruction, Nest *nest, int inner) {
  size_t slots = (size_t)frame->body->numSlots, rows = (size_t)(2 * nest->block->numInstructions + nest->numOperands);
  Stripe stripe = {.room = nest->sizes[inner] < MaxStripe ? nest->sizes[inner] : MaxStripe, .inner = inner};
  stripe.rows = calloc(slots + 1, sizeof *stripe.rows);
  stripe.steps = calloc(slots + 1, sizeof *stripe.steps);
  stripe.memory = malloc(rows * (size_t)stripe.room * sizeof *stripe.memory);
  bool ok = (stripe.rows && stripe.steps && stripe.memory) || interpretOutOfMemory(machine, instruction->op);
  ok = ok && bindOutside(machine, frame, nest, &stripe) && runAll(machine, frame, instruction, nest, &stripe);
  free(stripe.rows);
  free(stripe.steps);
  free(stripe.memory);
  return ok;
}
