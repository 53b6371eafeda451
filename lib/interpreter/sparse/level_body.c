// linalg ops on stored tensors by definition: the body at every point of the iteration space, where each value is
// there, absent, or what a reduction has so far. A product is there where both factors are, a sum where one side is;
// the ops sparse_tensor.binary, unary, select and reduce say it themselves. What is absent is read as zero.
//
// Expects: one result. Why point by point and not entry by entry: the lowering walks entries, and this is its judge.
#include "lib/interpreter/sparse/levels.h"

#include "lib/interpreter/upstream/affine.h"
#include "lib/interpreter/upstream/upstream.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/sparse_tensor.h"

#include <stdlib.h>
#include <string.h>

enum { BodyMaxOperands = 16, BodyMaxLoops = 16 };

// Neutral: what a reduction has so far, which leaves the other side as it is.
typedef enum Presence { Presence_There, Presence_Absent, Presence_Neutral } Presence;

typedef enum OpClass {
  OpClass_Other, // there at every point
  OpClass_Sum,
  OpClass_Difference,
  OpClass_Product,
  OpClass_Scaling, // as the left side
  OpClass_KeepsZero,
  OpClass_Compares, // where one side is, if two zeros do not compare true
  OpClass_Binary,
  OpClass_Unary,
  OpClass_Select,
  OpClass_Reduce,
  OpClass_Choose, // arith.select: where one of the two that it chooses from is
} OpClass;

// A comparison that holds of two zeros is true where nothing is stored, so it is there at every point.
static bool holdsOfZeros(const Instruction *op) {
  if (arithCmpIOpIsA(op->op))
    switch ((ArithCmpI)op->predicate) {
    case ArithCmpI_Eq:
    case ArithCmpI_Sle:
    case ArithCmpI_Sge:
    case ArithCmpI_Ule:
    case ArithCmpI_Uge:
      return true;
    default:
      return false;
    }
  switch ((ArithCmpF)op->predicate) {
  case ArithCmpF_True:
  case ArithCmpF_Oeq:
  case ArithCmpF_Oge:
  case ArithCmpF_Ole:
  case ArithCmpF_Ord:
  case ArithCmpF_Ueq:
  case ArithCmpF_Uge:
  case ArithCmpF_Ule:
    return true;
  default:
    return false;
  }
}

static OpClass classOf(const Instruction *instruction) {
  MlirOperation op = instruction->op;
  static const struct {
    OpClass is;
    TileUpstream kinds[24];
  } classes[] = {
      {OpClass_Sum, {ArithOp_AddF, ArithOp_AddI, ArithOp_OrI, ArithOp_XOrI, TileUpstream_None}},
      {OpClass_Difference, {ArithOp_SubF, ArithOp_SubI, TileUpstream_None}},
      {OpClass_Product, {ArithOp_MulF, ArithOp_MulI, ArithOp_AndI, TileUpstream_None}},
      {OpClass_Scaling,
       {ArithOp_DivF, ArithOp_DivSI, ArithOp_DivUI, ArithOp_ShLI, ArithOp_ShRSI, ArithOp_ShRUI, TileUpstream_None}},
      {OpClass_Compares, {ArithOp_CmpF, ArithOp_CmpI, TileUpstream_None}},
      {OpClass_KeepsZero,
       {ArithOp_NegF,   ArithOp_ExtF,   ArithOp_ExtSI,  ArithOp_ExtUI,    ArithOp_TruncF,  ArithOp_TruncI,
        ArithOp_SIToFP, ArithOp_UIToFP, ArithOp_FPToSI, ArithOp_FPToUI,   ArithOp_Bitcast, ArithOp_IndexCast,
        MathOp_AbsF,    MathOp_AbsI,    MathOp_Ceil,    MathOp_Floor,     MathOp_Sqrt,     MathOp_ExpM1,
        MathOp_Log1p,   MathOp_Sin,     MathOp_Tanh,    TileUpstream_None}},
      {OpClass_Binary, {SparseTensorOp_Binary, TileUpstream_None}},
      {OpClass_Unary, {SparseTensorOp_Unary, TileUpstream_None}},
      {OpClass_Select, {SparseTensorOp_Select, TileUpstream_None}},
      {OpClass_Reduce, {SparseTensorOp_Reduce, TileUpstream_None}},
      {OpClass_Choose, {ArithOp_Select, TileUpstream_None}},
  };
  for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i)
    if (tileUpstreamIsOneOf(op, classes[i].kinds))
      return classes[i].is == OpClass_Compares && holdsOfZeros(instruction) ? OpClass_Other : classes[i].is;
  return OpClass_Other;
}

typedef struct BodyOperand {
  MlirAffineMap map; // null: a scalar
  int rank;
  int64_t sizes[EntriesMaxRank];
  Entries *entries; // what is stored, row-major; null: dense
  const Array *array;
} BodyOperand;

typedef struct LevelBody {
  Machine *machine;
  Frame *frame;
  const Instruction *instruction;
  const InterpretBlock *block;
  int numOperands, numInputs, numLoops;
  BodyOperand operands[BodyMaxOperands];
  int64_t sizes[BodyMaxLoops], point[BodyMaxLoops];
  OpClass *classes;
  Presence *presences;       // by slot
  bool readsOutput, repeats; // several points have one element of the output
  bool yieldsZero;           // a constant, which no stored output keeps
  int64_t numElements;
  Element *elements; // of the output
  char *isThere;     // which of them are stored
  Sum *sums;         // what a chain of additions would be in any order; null: none
  int64_t place;     // of the point's element
} LevelBody;

//===--- ops ---------------------------------------------------------------------------------===//

static Presence presenceOf(const LevelBody *body, int slot) { return body->presences[slot]; }
static Element valueOf(const LevelBody *body, int slot) { return body->frame->slots[slot].scalar; }

static bool setTerm(LevelBody *body, const Instruction *op, Presence presence, Element value) {
  body->presences[op->results[0]] = presence;
  setResult(body->frame, op, 0, valueOfElement(presence == Presence_Absent ? elementOfInteger(0) : value));
  return true;
}

static bool compute(LevelBody *body, const Instruction *op) {
  body->presences[op->results[0]] = Presence_There;
  return op->execute(body->machine, body->frame, op);
}

// What a region yields for these arguments; it is there.
static bool through(LevelBody *body, const Instruction *op, int region, int count, const Element *x) {
  InterpretValue arguments[2];
  for (int i = 0; i < count; ++i)
    arguments[i] = valueOfElement(x[i]);
  return interpretRegionRun(body->machine, body->frame, &op->regions[region], count, arguments) &&
         setTerm(body, op, Presence_There, body->frame->yielded[0].scalar);
}

static bool hasRegion(const Instruction *op, int region) { return op->regions[region].numBlocks > 0; }
static bool hasFlag(const Instruction *op, const char *name) {
  return !mlirAttributeIsNull(tileOpAttribute(op->op, name));
}

static bool runUnary(LevelBody *body, const Instruction *op) {
  bool isThere = presenceOf(body, op->operands[0]) == Presence_There;
  const Element x = valueOf(body, op->operands[0]);
  int region = isThere ? 0 : 1;
  return hasRegion(op, region) ? through(body, op, region, isThere, &x)
                               : setTerm(body, op, Presence_Absent, elementOfInteger(0));
}

static bool runBinary(LevelBody *body, const Instruction *op) {
  const Element x[] = {valueOf(body, op->operands[0]), valueOf(body, op->operands[1])};
  bool left = presenceOf(body, op->operands[0]) == Presence_There;
  bool right = presenceOf(body, op->operands[1]) == Presence_There;
  if (left && right)
    return hasRegion(op, 0) ? through(body, op, 0, 2, x) : setTerm(body, op, Presence_Absent, x[0]);
  for (int side = 0; side < 2; ++side) {
    if (side ? !right : !left)
      continue;
    if (hasFlag(op, side ? "right_identity" : "left_identity"))
      return setTerm(body, op, Presence_There, x[side]);
    if (hasRegion(op, 1 + side))
      return through(body, op, 1 + side, 1, &x[side]);
  }
  return setTerm(body, op, Presence_Absent, x[0]);
}

static bool runSelect(LevelBody *body, const Instruction *op) {
  const Element x = valueOf(body, op->operands[0]);
  if (presenceOf(body, op->operands[0]) != Presence_There)
    return setTerm(body, op, Presence_Absent, x);
  int64_t keeps = 0;
  InterpretValue argument = valueOfElement(x);
  return interpretRegionRun(body->machine, body->frame, &op->regions[0], 1, &argument) &&
         interpretReadInteger(body->machine, op, body->frame->yielded[0].scalar, &keeps) &&
         setTerm(body, op, keeps ? Presence_There : Presence_Absent, x);
}

// A stored result begins with the identity.
static bool runReduce(LevelBody *body, const Instruction *op) {
  Element x[] = {valueOf(body, op->operands[0]), valueOf(body, op->operands[1])};
  Presence p[] = {presenceOf(body, op->operands[0]), presenceOf(body, op->operands[1])};
  for (int side = 0; side < 2; ++side)
    if (p[side] == Presence_Neutral) {
      if (body->isThere && !body->isThere[body->place])
        x[side] = valueOf(body, op->operands[2]);
      return p[1 - side] == Presence_There ? through(body, op, 0, 2, x) : setTerm(body, op, Presence_Neutral, x[side]);
    }
  if (p[0] == Presence_There && p[1] == Presence_There)
    return through(body, op, 0, 2, x);
  return setTerm(body, op, p[0] == Presence_There || p[1] == Presence_There ? Presence_There : Presence_Absent,
                 p[0] == Presence_There ? x[0] : x[1]);
}

static Element negated(const Instruction *op, Element x) {
  if (op->out.isFloat)
    return elementOfFloat(-x.f, x.bound);
  return elementOfInteger(interpretFormatWrap(&op->out, (uint64_t)0 - (uint64_t)x.i));
}

static bool runSum(LevelBody *body, const Instruction *op, bool isDifference) {
  Presence p = presenceOf(body, op->operands[0]), q = presenceOf(body, op->operands[1]);
  Element x = valueOf(body, op->operands[0]), y = valueOf(body, op->operands[1]);
  if (p != Presence_Absent && q != Presence_Absent)
    return compute(body, op);
  if (p == Presence_Absent)
    return setTerm(body, op, q, isDifference ? negated(op, y) : y);
  return setTerm(body, op, p, x);
}

static bool runProduct(LevelBody *body, const Instruction *op) {
  Presence p = presenceOf(body, op->operands[0]), q = presenceOf(body, op->operands[1]);
  if (p != Presence_Absent && q != Presence_Absent)
    return compute(body, op);
  if (p == Presence_Neutral || q == Presence_Neutral)
    return setTerm(body, op, Presence_Neutral, valueOf(body, op->operands[p == Presence_Neutral ? 0 : 1]));
  return setTerm(body, op, Presence_Absent, elementOfInteger(0));
}

static bool runOp(LevelBody *body, int number) {
  const Instruction *op = &body->block->instructions[number];
  switch (body->classes[number]) {
  case OpClass_Sum:
  case OpClass_Difference:
    return runSum(body, op, body->classes[number] == OpClass_Difference);
  case OpClass_Product:
    return runProduct(body, op);
  case OpClass_Scaling:
  case OpClass_KeepsZero:
    if (presenceOf(body, op->operands[0]) == Presence_Absent)
      return setTerm(body, op, Presence_Absent, elementOfInteger(0));
    return compute(body, op);
  case OpClass_Compares:
    if (presenceOf(body, op->operands[0]) == Presence_Absent && presenceOf(body, op->operands[1]) == Presence_Absent)
      return setTerm(body, op, Presence_Absent, elementOfInteger(0));
    return compute(body, op);
  case OpClass_Choose:
    if (presenceOf(body, op->operands[1]) == Presence_Absent && presenceOf(body, op->operands[2]) == Presence_Absent)
      return setTerm(body, op, Presence_Absent, elementOfInteger(0));
    return compute(body, op);
  case OpClass_Binary:
    return runBinary(body, op);
  case OpClass_Unary:
    return runUnary(body, op);
  case OpClass_Select:
    return runSelect(body, op);
  case OpClass_Reduce:
    return runReduce(body, op);
  case OpClass_Other:
    for (int r = 0; r < op->numResults; ++r)
      body->presences[op->results[r]] = Presence_There;
    return op->execute(body->machine, body->frame, op);
  }
  return false;
}

//===--- points -------------------------------------------------------------------------------===//

static bool placeAt(const LevelBody *body, const BodyOperand *operand, int64_t *at) {
  for (int r = 0; r < operand->rank; ++r)
    if (!interpretAffineValue(mlirAffineMapGetResult(operand->map, r), body->point, NULL, &at[r]) || at[r] < 0 ||
        at[r] >= operand->sizes[r])
      return interpretFail(body->machine, body->instruction->op,
                           "is out of bounds in dimension %d, which has size %lld", r, (long long)operand->sizes[r]);
  return true;
}

static bool bindOperand(LevelBody *body, int number) {
  const BodyOperand *operand = &body->operands[number];
  int slot = body->block->arguments[number];
  Element value = operandOf(body->frame, body->instruction, number).scalar;
  int64_t at[EntriesMaxRank] = {0};
  bool isOutput = number == body->numInputs;
  Presence presence = Presence_There;
  if (!mlirAffineMapIsNull(operand->map) && !placeAt(body, operand, at))
    return false;
  if (isOutput) {
    body->place = 0;
    for (int r = 0; r < operand->rank; ++r)
      body->place = body->place * operand->sizes[r] + at[r];
    value = body->elements[body->place];
    bool isAbsent = body->isThere && !body->isThere[body->place];
    presence = !body->isThere || body->repeats ? Presence_Neutral : isAbsent ? Presence_Absent : Presence_There;
    if (!body->repeats && !body->isThere)
      presence = Presence_There;
  } else if (operand->entries) {
    const Entry *entry = interpretEntriesFind(operand->entries, at);
    presence = entry ? Presence_There : Presence_Absent;
    value = entry ? entry->value : elementOfInteger(0);
  } else if (operand->array)
    value = operand->array->storage->elements[interpretPlaceOf(operand->array, at)];
  body->presences[slot] = presence;
  frameSet(body->frame, slot, valueOfElement(value));
  return true;
}

// The term that the body's last op adds to what there is so far; -1: it does something else.
static int termOf(const LevelBody *body) {
  const Instruction *yield = &body->block->instructions[body->block->numInstructions - 1];
  int so = body->block->arguments[body->numInputs];
  for (int i = 0; i + 1 < body->block->numInstructions; ++i) {
    const Instruction *op = &body->block->instructions[i];
    if (arithAddFOpIsA(op->op) && op->results[0] == yield->operands[0])
      return op->operands[0] == so ? op->operands[1] : op->operands[1] == so ? op->operands[0] : -1;
  }
  return -1;
}

static void addToSum(LevelBody *body, int term) {
  Sum *sum = &body->sums[body->place];
  if (!sum->terms)
    sumAdd(sum, body->elements[body->place]);
  sumAdd(sum, valueOf(body, term));
}

static bool finishPoint(LevelBody *body, int term) {
  const Instruction *yield = &body->block->instructions[body->block->numInstructions - 1];
  Presence presence = presenceOf(body, yield->operands[0]);
  Element *element = &body->elements[body->place];
  if (body->yieldsZero && body->isThere)
    presence = Presence_Absent;
  if (presence == Presence_There) {
    if (body->sums && presenceOf(body, term) == Presence_There)
      addToSum(body, term);
    *element = valueOf(body, yield->operands[0]);
    if (body->isThere)
      body->isThere[body->place] = 1;
  } else if (!body->isThere && !body->readsOutput)
    *element = elementOfInteger(0);
  return true;
}

static bool runPoints(LevelBody *body) {
  const int64_t *outer = body->frame->point;
  int term = body->sums ? termOf(body) : -1;
  bool ok = true;
  body->frame->point = body->point;
  do {
    for (int o = 0; ok && o < body->numOperands; ++o)
      ok = bindOperand(body, o);
    for (int i = 0; ok && i + 1 < body->block->numInstructions; ++i)
      ok = runOp(body, i);
    ok = ok && finishPoint(body, term) &&
         interpretStep(body->machine, body->instruction->op, body->block->numInstructions);
  } while (ok && interpretIndexNext(body->numLoops, body->sizes, body->point));
  body->frame->point = outer;
  return ok;
}

//===--- the op ---------------------------------------------------------------------------------===//

static bool takeOperand(LevelBody *body, int number, MlirAffineMap map, MlirType type) {
  BodyOperand *operand = &body->operands[number];
  InterpretValue value = operandOf(body->frame, body->instruction, number);
  if (!value.object)
    return true;
  operand->map = map;
  bool isStored = value.object->kind == ObjectEntries;
  operand->rank = isStored ? entriesOf(value)->rank : arrayOf(value)->rank;
  if (operand->rank > EntriesMaxRank)
    return interpretUnknown(body->machine, body->instruction->op, "not interpreted yet: a tensor of rank %d here",
                            operand->rank);
  memcpy(operand->sizes, isStored ? entriesOf(value)->sizes : arrayOf(value)->sizes,
         (size_t)operand->rank * sizeof *operand->sizes);
  if (!isStored) {
    operand->array = arrayOf(value);
    return true;
  }
  operand->entries = interpretLevelsEntriesOf(body->machine, body->instruction, value, type, false);
  return operand->entries != NULL;
}

static bool findSizes(LevelBody *body) {
  for (int i = 0; i < body->numLoops; ++i)
    body->sizes[i] = -1;
  for (int o = 0; o < body->numOperands; ++o)
    for (int r = 0; r < body->operands[o].rank; ++r) {
      MlirAffineExpr expression = mlirAffineMapGetResult(body->operands[o].map, r);
      if (!mlirAffineExprIsADim(expression))
        continue;
      int64_t *size = &body->sizes[mlirAffineDimExprGetPosition(expression)], seen = body->operands[o].sizes[r];
      if (*size >= 0 && *size != seen)
        return interpretFail(body->machine, body->instruction->op,
                             "has operands that disagree: dimension %d of operand %d has size %lld, expected %lld", r,
                             o, (long long)seen, (long long)*size);
      *size = seen;
    }
  for (int i = 0; i < body->numLoops; ++i)
    if (body->sizes[i] < 0)
      return interpretFail(body->machine, body->instruction->op, "has a loop %d that no operand is indexed by alone",
                           i);
  return true;
}

// Whether some loop leaves the output's element as it is.
static bool findRepeats(const LevelBody *body) {
  const BodyOperand *output = &body->operands[body->numInputs];
  for (int i = 0; i < body->numLoops; ++i) {
    bool isUsed = false;
    for (int r = 0; r < output->rank; ++r)
      isUsed |= mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(output->map, r), i);
    if (!isUsed)
      return true;
  }
  return false;
}

// What a custom reduction starts from instead of a dense output's numbers, as upstream's sparsifier has it. The
// identity comes from around the body or is a constant. `isFound` says whether there is one; false after an error.
static bool findIdentity(const LevelBody *body, bool *isFound, Element *identity) {
  const InterpretBlock *block = body->block;
  const Instruction *yield = &block->instructions[block->numInstructions - 1], *reduce = NULL, *inside = NULL;
  for (int i = 0; i + 1 < block->numInstructions; ++i)
    if (sparseTensorReduceOpIsA(block->instructions[i].op) && block->instructions[i].results[0] == yield->operands[0])
      reduce = &block->instructions[i];
  *isFound = reduce && body->repeats && !body->operands[body->numInputs].entries;
  for (int i = 0; *isFound && i + 1 < block->numInstructions; ++i)
    if (block->instructions[i].numResults > 0 && block->instructions[i].results[0] == reduce->operands[2])
      inside = &block->instructions[i];
  if (!*isFound || !inside) {
    *identity = *isFound ? valueOf(body, reduce->operands[2]) : elementOfInteger(0);
    return true;
  }
  return (arithConstantOpIsA(inside->op) &&
          interpretElementOfAttribute(arithConstantOpGetValue(inside->op), identity)) ||
         interpretUnknown(body->machine, reduce->op, "not interpreted yet: an identity that the body computes");
}

static bool prepareOutput(LevelBody *body) {
  const BodyOperand *output = &body->operands[body->numInputs];
  Element identity;
  bool hasIdentity;
  body->numElements = interpretCountOf(output->rank, output->sizes);
  if (body->numElements > INT64_C(1) << 30)
    return interpretUnknown(body->machine, body->instruction->op, "not interpreted yet: a result of more than 2^30");
  body->elements = calloc((size_t)body->numElements + 1, sizeof *body->elements);
  body->isThere = output->entries ? calloc((size_t)body->numElements + 1, 1) : NULL;
  body->repeats = findRepeats(body);
  body->sums = body->repeats && termOf(body) >= 0 ? calloc((size_t)body->numElements + 1, sizeof *body->sums) : NULL;
  if (!body->elements || (output->entries && !body->isThere))
    return interpretOutOfMemory(body->machine, body->instruction->op);
  if (!findIdentity(body, &hasIdentity, &identity))
    return false;
  int64_t at[EntriesMaxRank] = {0};
  for (int64_t i = 0; i < body->numElements; ++i) {
    const Entry *entry = output->entries ? interpretEntriesFind(output->entries, at) : NULL;
    if (hasIdentity)
      body->elements[i] = identity;
    else if (!output->entries)
      body->elements[i] = output->array->storage->elements[interpretPlaceOf(output->array, at)];
    else if (entry) {
      body->elements[i] = entry->value;
      body->isThere[i] = 1;
    }
    interpretIndexNext(output->rank, output->sizes, at);
  }
  return true;
}

// Another order of the additions may give another sum.
static void boundSums(LevelBody *body) {
  Format format;
  interpretFormatOf(interpretElementTypeOf(tileOnlyResultType(body->instruction->op)), &format);
  for (int64_t i = 0; body->sums && i < body->numElements; ++i) {
    if (!body->sums[i].terms)
      continue;
    Element exact = interpretSumFinish(&body->sums[i], &format);
    double apart = fabs(exact.f - body->elements[i].f);
    body->elements[i].bound = exact.bound + (isnan(apart) ? 0 : apart);
  }
}

static bool giveResult(LevelBody *body) {
  const BodyOperand *output = &body->operands[body->numInputs];
  MlirType type = tileOnlyResultType(body->instruction->op);
  boundSums(body);
  if (!output->entries) {
    Array *array = interpretNewArray(body->machine, body->instruction, output->rank, output->sizes);
    if (!array)
      return false;
    memcpy(arrayElements(array), body->elements, (size_t)body->numElements * sizeof *body->elements);
    setResult(body->frame, body->instruction, 0, valueOfObject(&array->object));
    return true;
  }
  Entries *entries = interpretEntriesCreate(output->rank, output->sizes);
  bool ok = entries != NULL;
  int64_t at[EntriesMaxRank] = {0};
  for (int64_t i = 0; ok && i < body->numElements; ++i) {
    Entry entry = {.value = body->elements[i]};
    memcpy(entry.at, at, sizeof at);
    ok = !body->isThere[i] || interpretEntriesAppend(entries, entry);
    interpretIndexNext(output->rank, output->sizes, at);
  }
  if (!ok)
    return interpretOutOfMemory(body->machine, body->instruction->op);
  entries = interpretLevelsStore(body->machine, body->instruction, type, entries, NULL);
  if (entries)
    setResult(body->frame, body->instruction, 0, valueOfObject(&entries->object));
  return entries != NULL;
}

static void bodyDestroy(LevelBody *body) {
  for (int o = 0; o < body->numOperands; ++o)
    if (body->operands[o].entries)
      valueRelease(valueOfObject(&body->operands[o].entries->object));
  free(body->classes);
  free(body->presences);
  free(body->elements);
  free(body->isThere);
  free(body->sums);
  free(body);
}

// The body runs: its operands are taken.
static bool bodyRun(LevelBody *body) {
  bool ok = findSizes(body) && prepareOutput(body);
  if (ok && interpretCountOf(body->numLoops, body->sizes) > 0)
    ok = runPoints(body);
  return ok && giveResult(body);
}

// Null after an error.
static LevelBody *bodyCreate(Machine *machine, Frame *frame, const Instruction *instruction,
                             const InterpretBlock *block) {
  LevelBody *body = calloc(1, sizeof *body);
  if (!body) {
    interpretOutOfMemory(machine, instruction->op);
    return NULL;
  }
  *body = (LevelBody){.machine = machine,
                      .frame = frame,
                      .instruction = instruction,
                      .block = block,
                      .numOperands = instruction->numOperands,
                      .numInputs = instruction->numOperands - 1};
  body->classes = calloc((size_t)block->numInstructions, sizeof *body->classes);
  body->presences = calloc((size_t)frame->body->numSlots + 1, sizeof *body->presences);
  if (!body->classes || !body->presences) {
    bodyDestroy(body);
    interpretOutOfMemory(machine, instruction->op);
    return NULL;
  }
  for (int i = 0; i < block->numInstructions; ++i)
    body->classes[i] = classOf(&block->instructions[i]);
  return body;
}

bool interpretLevelsLinalg(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(instruction->op);
  if (mlirAttributeIsNull(maps) || instruction->numResults != 1 || instruction->numOperands > BodyMaxOperands)
    return interpretUnknown(machine, instruction->op,
                            "not interpreted yet: no indexing maps, too many operands, or not one result");
  LevelBody *body = bodyCreate(machine, frame, instruction, instruction->regions[0].blocks);
  if (!body)
    return false;
  bool ok = true;
  body->numLoops = (int)mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)));
  double number = 1;
  int64_t integer = 1;
  MlirValue yielded = tileFirstOperand(body->block->instructions[body->block->numInstructions - 1].op);
  body->yieldsZero =
      (tileConstantFloat(yielded, &number) && number == 0) || (tileConstantIndex(yielded, &integer) && integer == 0);
  body->readsOutput = !mlirOpOperandIsNull(mlirValueGetFirstUse(
      mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(instruction->op, 0)), body->numInputs)));
  if (body->numLoops > BodyMaxLoops || body->block->numArguments != body->numOperands)
    ok = interpretUnknown(machine, instruction->op, "not interpreted yet: %d loops", body->numLoops);
  for (int o = 0; ok && o < body->numOperands; ++o)
    ok = takeOperand(body, o, mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, o)),
                     tileOperandType(instruction->op, o));
  ok = ok && bodyRun(body);
  bodyDestroy(body);
  return ok;
}

//===--- arith and math on whole tensors ---------------------------------------------------------===//

// Slots of a frame of its own: the op's operands, what its result is before, its result; then the same of one element.
enum { ElementwiseOperands = MaxScalarOperands + 1, ElementwiseSlots = 2 * (ElementwiseOperands + 1) };

// The result before any point runs: nothing stored, or any elements.
static InterpretValue emptyResult(Machine *machine, const Instruction *instruction, InterpretValue like) {
  MlirType type = tileOnlyResultType(instruction->op);
  bool isStored = like.object->kind == ObjectEntries;
  int rank = isStored ? entriesOf(like)->rank : arrayOf(like)->rank;
  const int64_t *sizes = isStored ? entriesOf(like)->sizes : arrayOf(like)->sizes;
  if (!interpretLevelsIsEncoded(type)) {
    Array *array = interpretNewArray(machine, instruction, rank, sizes);
    return array ? valueOfObject(&array->object) : (InterpretValue){.object = NULL};
  }
  Entries *entries = interpretEntriesCreate(rank, sizes);
  if (!entries)
    interpretOutOfMemory(machine, instruction->op);
  else
    entries = interpretLevelsStore(machine, instruction, type, entries, NULL);
  return entries ? valueOfObject(&entries->object) : (InterpretValue){.object = NULL};
}

static bool runElementwise(Machine *machine, Frame *frame, const Instruction *all, const InterpretBlock *block) {
  LevelBody *body = bodyCreate(machine, frame, all, block);
  if (!body)
    return false;
  bool ok = true;
  body->numLoops = (int)mlirShapedTypeGetRank(tileOnlyResultType(all->op));
  MlirAffineMap map = mlirAffineMapMultiDimIdentityGet(mlirOperationGetContext(all->op), body->numLoops);
  for (int o = 0; ok && o < all->numOperands; ++o)
    ok = takeOperand(body, o, map, o < body->numInputs ? tileOperandType(all->op, o) : tileOnlyResultType(all->op));
  ok = ok && bodyRun(body);
  bodyDestroy(body);
  return ok;
}

bool interpretLevelsElementwise(Machine *machine, Frame *frame, const Instruction *instruction) {
  int count = instruction->numOperands, numbers[ElementwiseSlots];
  MlirType type = tileFirstResultType(instruction->op);
  if (!instruction->scalar || instruction->numResults != 1 || count > MaxScalarOperands ||
      mlirShapedTypeGetRank(type) > EntriesMaxRank)
    return interpretUnknown(machine, instruction->op, "not interpreted yet: this op on a sparse tensor");
  InterpretValue slots[ElementwiseSlots] = {{.object = NULL}};
  const InterpretBody slotsOnly = {.numSlots = ElementwiseSlots};
  Frame own = {.body = &slotsOnly, .slots = slots, .jump = -1};
  for (int i = 0; i < ElementwiseSlots; ++i)
    numbers[i] = i;
  int *ofElement = numbers + ElementwiseOperands + 1;
  for (int i = 0; i < count; ++i)
    slots[i] = operandOf(frame, instruction, i);
  slots[count] = emptyResult(machine, instruction, slots[count - 1]);
  Instruction steps[] = {*instruction, {.op = instruction->op, .numOperands = 1, .isTerminator = true}},
              all = *instruction;
  steps[0].operands = ofElement;
  steps[0].results = steps[1].operands = ofElement + ElementwiseOperands;
  steps[0].execute = interpretElementwise;
  const InterpretBlock block = {
      .instructions = steps, .numInstructions = 2, .numArguments = count + 1, .arguments = ofElement};
  all.operands = numbers;
  all.numOperands = count + 1;
  all.results = numbers + ElementwiseOperands;
  bool ok = slots[count].object && runElementwise(machine, &own, &all, &block);
  if (ok)
    setResult(frame, instruction, 0, valueRetain(slots[ElementwiseOperands]));
  valueRelease(slots[count]);
  valueRelease(slots[ElementwiseOperands]);
  return ok;
}
