// Products over semirings and what works entry by entry. Only stored entries take part (dialects/sparse/RATIONALE.md).
// Float sums of products are taken in f64 with a bound for any order, as tile.mma's are (docs/numerics.md §4).
#include "dialects/sparse/ops.h"
#include "lib/interpreter/sparse/sparse.h"
#include "lib/interpreter/upstream/upstream.h"
#include "upstream/arith.h"

#include <stdlib.h>
#include <string.h>

//===--- semirings --------------------------------------------------------------------===//

// `scalar` and `format` of the result; a sum of float products keeps its bound in `sum`.
typedef struct Semiring {
  Machine *machine;
  const Instruction *instruction;
  const Row *add, *multiply;
  Format format;
  bool isFloatSum, isMean;
} Semiring;

// ⊕ of the terms so far.
typedef struct Total {
  int64_t terms;
  Element value;
  Sum sum;
} Total;

static const Row *arith(ArithOp integer, ArithOp floating, bool isFloat) {
  return interpretRowFind(isFloat ? floating : integer);
}

static const Row *combination(MlirStringRef name, bool isFloat) {
  if (tileStringEquals(name, "max"))
    return arith(ArithOp_MaxSI, ArithOp_MaximumF, isFloat);
  if (tileStringEquals(name, "min"))
    return arith(ArithOp_MinSI, ArithOp_MinimumF, isFloat);
  if (tileStringEquals(name, "or"))
    return interpretRowFind(ArithOp_OrI);
  return arith(ArithOp_AddI, ArithOp_AddF, isFloat);
}

static Semiring semiringOf(Machine *machine, const Instruction *instruction, MlirType result) {
  Semiring semiring = {machine, instruction};
  interpretFormatOf(interpretElementTypeOf(result), &semiring.format);
  bool isFloat = semiring.format.isFloat;
  MlirAttribute named = tileOpAttribute(instruction->op, "semiring");
  MlirStringRef name = !mlirAttributeIsNull(named) ? mlirStringAttrGetValue(named) : tileString("add_mul");
  size_t add = 0;
  while (add < name.length && name.data[add] != '_')
    ++add;
  MlirStringRef times = mlirStringRefCreate(name.data + add + 1, name.length - add - 1);
  semiring.add = combination(mlirStringRefCreate(name.data, add), isFloat);
  semiring.multiply = tileStringEquals(times, "plus")  ? arith(ArithOp_AddI, ArithOp_AddF, isFloat)
                      : tileStringEquals(times, "and") ? interpretRowFind(ArithOp_AndI)
                                                       : arith(ArithOp_MulI, ArithOp_MulF, isFloat);
  semiring.isMean = tileStringStartsWith(name, "mean");
  semiring.isFloatSum = isFloat && (semiring.isMean || tileStringEquals(name, "add_mul"));
  return semiring;
}

static bool apply(const Semiring *semiring, const Row *row, Element a, Element b, Element *result) {
  return interpretCombineElements(semiring->machine, semiring->instruction, row, &semiring->format, a, b, result);
}

static bool addTerm(const Semiring *semiring, Total *total, Element term) {
  return total->terms++ ? apply(semiring, semiring->add, total->value, term, &total->value)
                        : (total->value = term, true);
}

static bool addProduct(const Semiring *semiring, Total *total, Element a, Element b) {
  Element product;
  if (!interpretElementExpect(semiring->machine, semiring->instruction, a, "multiplies") ||
      !interpretElementExpect(semiring->machine, semiring->instruction, b, "multiplies"))
    return false;
  if (!semiring->isFloatSum)
    return apply(semiring, semiring->multiply, a, b, &product) && addTerm(semiring, total, product);
  ++total->terms;
  sumAddProduct(&total->sum, a, b);
  return true;
}

// The total, divided where it is a mean, and ⊕ with `init` unless that is null. Nothing added: init, or zero.
static bool finish(const Semiring *semiring, Total *total, const Element *init, Element *result) {
  if (!total->terms) {
    *result = init ? *init : elementOfInteger(0);
    return true;
  }
  if (semiring->isFloatSum && init && !semiring->isMean) {
    sumAdd(&total->sum, *init);
    *result = interpretSumFinish(&total->sum, &semiring->format);
    return true;
  }
  Element value = semiring->isFloatSum ? interpretSumFinish(&total->sum, &semiring->format) : total->value;
  bool isFloat = semiring->format.isFloat;
  Element terms = isFloat ? elementOfFloat((double)total->terms, 0) : elementOfInteger(total->terms);
  if (semiring->isMean && !apply(semiring, arith(ArithOp_DivSI, ArithOp_DivF, isFloat), value, terms, &value))
    return false;
  *result = value;
  return !init || apply(semiring, semiring->add, *init, value, result);
}

//===--- sparse times dense -----------------------------------------------------------===//

static bool has(const Instruction *instruction, const char *name) {
  return !mlirAttributeIsNull(tileOpAttribute(instruction->op, name));
}

// Element (row, column) of a matrix that may be taken transposed.
static Element at(const Array *matrix, bool transposed, int64_t row, int64_t column) {
  return arrayElements(matrix)[transposed ? column * matrix->sizes[1] + row : row * matrix->sizes[1] + column];
}

// A sparse factor by its lines along the axis that stays; `inner` is the axis summed over.
typedef struct Factor {
  const Entries *entries;
  Lines lines;
  int inner;
  int64_t count; // of lines
} Factor;

static bool factorCreate(Machine *machine, const Instruction *instruction, const Entries *entries, int outer,
                         Factor *factor) {
  *factor = (Factor){.entries = entries, .inner = 1 - outer, .count = entries->sizes[outer]};
  return interpretLinesOf(entries, outer, &factor->lines) || interpretOutOfMemory(machine, instruction->op);
}

static bool expectSize(Machine *machine, const Instruction *instruction, const char *what, int64_t seen,
                       int64_t wanted) {
  return seen == wanted || interpretFail(machine, instruction->op, "%s has size %lld, expected %lld", what,
                                         (long long)seen, (long long)wanted);
}

static bool expectInit(Machine *machine, const Instruction *instruction, const Array *init) {
  for (int64_t i = 0; i < interpretArrayCount(init); ++i)
    if (!interpretElementExpect(machine, instruction, arrayElements(init)[i], "adds to"))
      return false;
  return interpretStep(machine, instruction->op, interpretArrayCount(init));
}

bool interpretSparseSpmv(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *vector = arrayOperand(frame, instruction, 1), *init = arrayOperand(frame, instruction, 2);
  Semiring semiring = semiringOf(machine, instruction, tileOnlyResultType(instruction->op));
  const Entries *matrix = entriesOperand(frame, instruction, 0);
  int outer = has(instruction, "transpose") ? 1 : 0;
  Factor factor;
  if (!expectSize(machine, instruction, "vector", vector->sizes[0], matrix->sizes[1 - outer]) ||
      !expectSize(machine, instruction, "init", init->sizes[0], matrix->sizes[outer]) ||
      !expectInit(machine, instruction, init) || !interpretStep(machine, instruction->op, matrix->count) ||
      !factorCreate(machine, instruction, matrix, outer, &factor))
    return false;
  Array *result = interpretNewArray(machine, instruction, 1, init->sizes);
  bool ok = result != NULL;
  for (int64_t i = 0; ok && i < factor.count; ++i) {
    Total total = {0};
    for (int64_t e = factor.lines.begin[i]; ok && e < factor.lines.begin[i + 1]; ++e) {
      const Entry *entry = &matrix->items[factor.lines.order[e]];
      ok = addProduct(&semiring, &total, entry->value, arrayElements(vector)[entry->at[factor.inner]]);
    }
    ok = ok && finish(&semiring, &total, &arrayElements(init)[i], &arrayElements(result)[i]);
  }
  free(factor.lines.begin);
  if (result)
    setResult(frame, instruction, 0, valueOfObject(&result->object));
  return ok;
}

// Row i and column j of a product one of whose factors is sparse.
typedef struct Mixed {
  Factor sparse;
  const Array *dense;
  bool sparseIsLeft, denseTransposed;
} Mixed;

static bool mixedTotal(const Semiring *semiring, const Mixed *mixed, int64_t i, int64_t j, Total *total) {
  int64_t line = mixed->sparseIsLeft ? i : j;
  for (int64_t e = mixed->sparse.lines.begin[line]; e < mixed->sparse.lines.begin[line + 1]; ++e) {
    const Entry *entry = &mixed->sparse.entries->items[mixed->sparse.lines.order[e]];
    int64_t k = entry->at[mixed->sparse.inner];
    Element dense = mixed->sparseIsLeft ? at(mixed->dense, mixed->denseTransposed, k, j)
                                        : at(mixed->dense, mixed->denseTransposed, i, k);
    if (!addProduct(semiring, total, mixed->sparseIsLeft ? entry->value : dense,
                    mixed->sparseIsLeft ? dense : entry->value))
      return false;
  }
  return true;
}

static bool expectMixed(Machine *machine, const Instruction *instruction, const Mixed *mixed, const Array *init) {
  int inner = mixed->sparseIsLeft ? 0 : 1;
  const int64_t *sizes = mixed->dense->sizes;
  return expectSize(machine, instruction, "the dense factor", sizes[mixed->denseTransposed ? 1 - inner : inner],
                    mixed->sparse.entries->sizes[mixed->sparse.inner]) &&
         expectSize(machine, instruction, "init", init->sizes[1 - inner],
                    sizes[mixed->denseTransposed ? inner : 1 - inner]) &&
         expectSize(machine, instruction, "init", init->sizes[inner], mixed->sparse.count);
}

bool interpretSparseSpmm(Machine *machine, Frame *frame, const Instruction *instruction) {
  Semiring semiring = semiringOf(machine, instruction, tileOnlyResultType(instruction->op));
  const Array *init = arrayOperand(frame, instruction, 2);
  Mixed mixed = {.sparseIsLeft = !mlirAttributeIsNull(sparseTypeGetEncoding(sparseSpmmOpGetLhsType(instruction->op)))};
  int sparse = mixed.sparseIsLeft ? 0 : 1;
  bool transposed = has(instruction, sparse ? "transpose_rhs" : "transpose_lhs");
  mixed.dense = arrayOperand(frame, instruction, 1 - sparse);
  mixed.denseTransposed = has(instruction, sparse ? "transpose_lhs" : "transpose_rhs");
  if (!expectInit(machine, instruction, init) ||
      !factorCreate(machine, instruction, entriesOperand(frame, instruction, sparse), transposed ? 1 - sparse : sparse,
                    &mixed.sparse))
    return false;
  int64_t products = mixed.sparse.entries->count * init->sizes[sparse ? 0 : 1];
  bool ok = expectMixed(machine, instruction, &mixed, init) && interpretStep(machine, instruction->op, products);
  Array *result = ok ? interpretNewArray(machine, instruction, 2, init->sizes) : NULL;
  ok = result != NULL;
  for (int64_t i = 0; ok && i < init->sizes[0]; ++i)
    for (int64_t j = 0; ok && j < init->sizes[1]; ++j) {
      Total total = {0};
      int64_t place = i * init->sizes[1] + j;
      ok = mixedTotal(&semiring, &mixed, i, j, &total) &&
           finish(&semiring, &total, &arrayElements(init)[place], &arrayElements(result)[place]);
    }
  free(mixed.sparse.lines.begin);
  if (result)
    setResult(frame, instruction, 0, valueOfObject(&result->object));
  return ok;
}

//===--- into a pattern ---------------------------------------------------------------===//

// The list again, with its values to be computed.
static Entries *sameEntries(Machine *machine, const Instruction *instruction, const Entries *pattern) {
  Entries *result = interpretEntriesCreate(pattern->rank, pattern->sizes);
  bool ok = result != NULL;
  for (int64_t i = 0; ok && i < pattern->count; ++i)
    ok = interpretEntriesAppend(result, pattern->items[i]);
  if (!ok)
    interpretOutOfMemory(machine, instruction->op);
  return result;
}

static bool setEntries(Frame *frame, const Instruction *instruction, Entries *entries, bool ok) {
  if (entries)
    setResult(frame, instruction, 0, valueOfObject(&entries->object));
  return entries && ok;
}

bool interpretSparseSddmm(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *lhs = arrayOperand(frame, instruction, 0), *rhs = arrayOperand(frame, instruction, 1);
  const Entries *pattern = entriesOperand(frame, instruction, 2);
  bool left = has(instruction, "transpose_lhs"), right = has(instruction, "transpose_rhs");
  Semiring semiring = semiringOf(machine, instruction, tileOnlyResultType(instruction->op));
  int64_t depth = lhs->sizes[left ? 0 : 1];
  if (!expectSize(machine, instruction, "rhs", rhs->sizes[right ? 1 : 0], depth) ||
      !expectSize(machine, instruction, "pattern", pattern->sizes[0], lhs->sizes[left ? 1 : 0]) ||
      !expectSize(machine, instruction, "pattern", pattern->sizes[1], rhs->sizes[right ? 0 : 1]) ||
      !interpretStep(machine, instruction->op, pattern->count * depth))
    return false;
  Entries *result = sameEntries(machine, instruction, pattern);
  bool ok = result && !machine->failed;
  for (int64_t e = 0; ok && e < result->count; ++e) {
    Entry *entry = &result->items[e];
    Total total = {0};
    if (!interpretEntryIsInside(result, entry))
      continue;
    for (int64_t k = 0; ok && k < depth; ++k)
      ok = addProduct(&semiring, &total, at(lhs, left, entry->at[0], k), at(rhs, right, k, entry->at[1]));
    ok = ok && finish(&semiring, &total, NULL, &entry->value);
  }
  return setEntries(frame, instruction, result, ok);
}

// In row-major order, those at one place added up.
static Entries *sorted(Machine *machine, const Instruction *instruction, const Entries *entries) {
  Entries *copy = sameEntries(machine, instruction, entries);
  return copy && !machine->failed ? interpretEntriesMerge(machine, instruction, copy, true) : NULL;
}

// The entries of lhs's line i by where they are along the inner axis; those of rhs's line j look theirs up.
static bool sparseTotal(const Semiring *semiring, const Factor *lhs, const Factor *rhs, const Entry **byInner,
                        const Entry *into, Total *total) {
  const Lines *left = &lhs->lines, *right = &rhs->lines;
  int64_t i = into->at[0], j = into->at[1];
  bool ok = true;
  for (int64_t e = left->begin[i]; e < left->begin[i + 1]; ++e) {
    const Entry *entry = &lhs->entries->items[left->order[e]];
    byInner[entry->at[lhs->inner]] = entry;
  }
  for (int64_t e = right->begin[j]; ok && e < right->begin[j + 1]; ++e) {
    const Entry *entry = &rhs->entries->items[right->order[e]];
    const Entry *partner = byInner[entry->at[rhs->inner]];
    ok = !partner || addProduct(semiring, total, partner->value, entry->value);
  }
  for (int64_t e = left->begin[i]; e < left->begin[i + 1]; ++e)
    byInner[lhs->entries->items[left->order[e]].at[lhs->inner]] = NULL;
  return ok;
}

bool interpretSparseSpgemm(Machine *machine, Frame *frame, const Instruction *instruction) {
  Semiring semiring = semiringOf(machine, instruction, tileOnlyResultType(instruction->op));
  const Entries *pattern = entriesOperand(frame, instruction, 2);
  Entries *left = sorted(machine, instruction, entriesOperand(frame, instruction, 0));
  Entries *right = left ? sorted(machine, instruction, entriesOperand(frame, instruction, 1)) : NULL;
  Factor lhs = {0}, rhs = {0};
  bool ok = right && factorCreate(machine, instruction, left, has(instruction, "transpose_lhs") ? 1 : 0, &lhs) &&
            factorCreate(machine, instruction, right, has(instruction, "transpose_rhs") ? 0 : 1, &rhs);
  int64_t depth = ok ? lhs.entries->sizes[lhs.inner] : 0;
  ok = ok && expectSize(machine, instruction, "rhs", rhs.entries->sizes[rhs.inner], depth) &&
       expectSize(machine, instruction, "pattern", pattern->sizes[0], lhs.count) &&
       expectSize(machine, instruction, "pattern", pattern->sizes[1], rhs.count);
  const Entry **byInner = ok ? calloc((size_t)depth + 1, sizeof *byInner) : NULL;
  Entries *result = ok ? sameEntries(machine, instruction, pattern) : NULL;
  ok = ok && !machine->failed && (byInner || interpretOutOfMemory(machine, instruction->op));
  for (int64_t e = 0; ok && e < result->count; ++e) {
    Entry *entry = &result->items[e];
    Total total = {0};
    if (!interpretEntryIsInside(result, entry))
      continue;
    int64_t work = lhs.lines.begin[entry->at[0] + 1] - lhs.lines.begin[entry->at[0]] +
                   rhs.lines.begin[entry->at[1] + 1] - rhs.lines.begin[entry->at[1]];
    ok = interpretStep(machine, instruction->op, work + 1) &&
         sparseTotal(&semiring, &lhs, &rhs, byInner, entry, &total) && finish(&semiring, &total, NULL, &entry->value);
  }
  free(byInner);
  free(lhs.lines.begin);
  free(rhs.lines.begin);
  if (left)
    valueRelease(valueOfObject(&left->object));
  if (right)
    valueRelease(valueOfObject(&right->object));
  return setEntries(frame, instruction, result, ok);
}

//===--- entry by entry ---------------------------------------------------------------===//

// Both lists in row-major order, walked side by side.
static bool walk(const Semiring *semiring, const Entries *lhs, const Entries *rhs, bool isUnion, Entries *into) {
  int64_t i = 0, j = 0;
  bool ok = true;
  while (ok && (i < lhs->count || j < rhs->count)) {
    int order = i == lhs->count ? 1 : j == rhs->count ? -1 : interpretEntryCompare(&lhs->items[i], &rhs->items[j]);
    Entry entry = order <= 0 ? lhs->items[i] : rhs->items[j];
    entry.part = 0;
    if (order == 0)
      ok = apply(semiring, isUnion ? semiring->add : semiring->multiply, lhs->items[i].value, rhs->items[j].value,
                 &entry.value);
    if (ok && (isUnion || order == 0) && !interpretEntriesAppend(into, entry))
      ok = interpretOutOfMemory(semiring->machine, semiring->instruction->op);
    i += order <= 0;
    j += order >= 0;
  }
  return ok;
}

static bool combineEntries(Machine *machine, Frame *frame, const Instruction *instruction, bool isUnion) {
  MlirType type = tileOnlyResultType(instruction->op);
  const Entries *a = entriesOperand(frame, instruction, 0), *b = entriesOperand(frame, instruction, 1);
  Semiring semiring = semiringOf(machine, instruction, type);
  for (int i = 0; i < a->rank; ++i)
    if (!expectSize(machine, instruction, "rhs", b->sizes[i], a->sizes[i]))
      return false;
  if (!interpretStep(machine, instruction->op, a->count + b->count))
    return false;
  Entries *lhs = sorted(machine, instruction, a), *rhs = lhs ? sorted(machine, instruction, b) : NULL;
  Entries *result = rhs ? interpretEntriesCreate(a->rank, a->sizes) : NULL;
  bool ok = result && walk(&semiring, lhs, rhs, isUnion, result);
  if (lhs)
    valueRelease(valueOfObject(&lhs->object));
  if (rhs)
    valueRelease(valueOfObject(&rhs->object));
  if (ok)
    result = interpretEntriesLayOut(machine, instruction, result, sparseTypeGetEncoding(type));
  return setEntries(frame, instruction, result, ok);
}

bool interpretSparseAdd(Machine *machine, Frame *frame, const Instruction *instruction) {
  return combineEntries(machine, frame, instruction, true);
}
bool interpretSparseMul(Machine *machine, Frame *frame, const Instruction *instruction) {
  return combineEntries(machine, frame, instruction, false);
}

// Runs the region on an entry; what it yields.
static bool runOn(Machine *machine, Frame *frame, const Instruction *instruction, int rank, const Entry *entry,
                  Element *yielded) {
  const InterpretRegion *region = &instruction->regions[0];
  frameSet(frame, region->blocks->arguments[0], valueOfElement(entry->value));
  for (int i = 0; i < rank; ++i)
    frameSet(frame, region->blocks->arguments[1 + i], valueOfInteger(entry->at[i]));
  if (!interpretRegionRun(machine, frame, region, 0, NULL))
    return false;
  *yielded = frame->yielded[0].scalar;
  return true;
}

bool interpretSparseMap(Machine *machine, Frame *frame, const Instruction *instruction) {
  Entries *result = sameEntries(machine, instruction, entriesOperand(frame, instruction, 0));
  bool ok = result && !machine->failed;
  for (int64_t i = 0; ok && i < result->count; ++i)
    if (interpretEntryIsInside(result, &result->items[i]))
      ok = runOn(machine, frame, instruction, result->rank, &result->items[i], &result->items[i].value);
  return setEntries(frame, instruction, result, ok);
}

bool interpretSparseSelect(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Entries *input = entriesOperand(frame, instruction, 0);
  Entries *result = interpretEntriesCreate(input->rank, input->sizes);
  bool ok = result || interpretOutOfMemory(machine, instruction->op);
  for (int64_t i = 0; ok && i < input->count; ++i) {
    Entry *entry = &input->items[i];
    int64_t keeps;
    Element yielded;
    if (!interpretEntryIsInside(input, entry))
      continue;
    ok = runOn(machine, frame, instruction, input->rank, entry, &yielded) &&
         interpretReadInteger(machine, instruction, yielded, &keeps);
    if (ok && keeps && !interpretEntriesAppend(result, *entry))
      ok = interpretOutOfMemory(machine, instruction->op);
  }
  MlirAttribute encoding = sparseTypeGetEncoding(tileOnlyResultType(instruction->op));
  if (ok && !sparseEncodingMayRepeat(encoding))
    result = interpretEntriesLayOut(machine, instruction, result, encoding);
  return setEntries(frame, instruction, result, ok);
}

bool interpretSparseReduce(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Entries *input = entriesOperand(frame, instruction, 0);
  const Array *init = arrayOperand(frame, instruction, 1);
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(instruction->op, "combine"));
  int axis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "axis"));
  Semiring semiring = {.machine = machine, .instruction = instruction, .isMean = tileStringEquals(name, "mean")};
  interpretFormatOf(interpretElementTypeOf(tileOnlyResultType(instruction->op)), &semiring.format);
  semiring.add = combination(name, semiring.format.isFloat);
  semiring.isFloatSum = semiring.format.isFloat && (semiring.isMean || tileStringEquals(name, "add"));
  Lines lines = {NULL, NULL};
  if (!expectSize(machine, instruction, "init", init->sizes[0], input->sizes[1 - axis]) ||
      !expectInit(machine, instruction, init) || !interpretStep(machine, instruction->op, input->count))
    return false;
  Array *result = interpretNewArray(machine, instruction, 1, init->sizes);
  bool ok = result && (interpretLinesOf(input, 1 - axis, &lines) || interpretOutOfMemory(machine, instruction->op));
  for (int64_t i = 0; ok && i < init->sizes[0]; ++i) {
    Total total = {0};
    for (int64_t e = lines.begin[i]; ok && e < lines.begin[i + 1]; ++e) {
      Element x = input->items[lines.order[e]].value;
      ok = interpretElementExpect(machine, instruction, x, "combines");
      if (!ok || !semiring.isFloatSum)
        ok = ok && addTerm(&semiring, &total, x);
      else
        total.terms++, sumAdd(&total.sum, x);
    }
    ok = ok && finish(&semiring, &total, &arrayElements(init)[i], &arrayElements(result)[i]);
  }
  free(lines.begin);
  if (result)
    setResult(frame, instruction, 0, valueOfObject(&result->object));
  return ok;
}

// The quotients of a line's entries, in place.
static bool weighLine(Machine *machine, const Instruction *instruction, const Format *format, Entries *entries,
                      const int64_t *numbers, int64_t count) {
  SoftmaxRow row = {0};
  for (int64_t i = 0; i < count; ++i) {
    Element x = entries->items[numbers[i]].value;
    if (!interpretElementExpect(machine, instruction, x, "uses"))
      return false;
    interpretSoftmaxRead(&row, x);
  }
  for (int64_t i = 0; i < count; ++i)
    interpretSoftmaxSum(&row, entries->items[numbers[i]].value);
  for (int64_t i = 0; i < count; ++i) {
    Element *x = &entries->items[numbers[i]].value;
    *x = interpretSoftmaxQuotient(format, x->f, &row);
  }
  return true;
}

bool interpretSparseSoftmax(Machine *machine, Frame *frame, const Instruction *instruction) {
  int axis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "axis"));
  Entries *result = sameEntries(machine, instruction, entriesOperand(frame, instruction, 0));
  Lines lines = {NULL, NULL};
  Format format;
  interpretFormatOf(interpretElementTypeOf(tileOnlyResultType(instruction->op)), &format);
  bool ok = result && !machine->failed && interpretStep(machine, instruction->op, result->count) &&
            (interpretLinesOf(result, 1 - axis, &lines) || interpretOutOfMemory(machine, instruction->op));
  for (int64_t i = 0; ok && i < result->sizes[1 - axis]; ++i)
    ok = weighLine(machine, instruction, &format, result, lines.order + lines.begin[i],
                   lines.begin[i + 1] - lines.begin[i]);
  free(lines.begin);
  return setEntries(frame, instruction, result, ok);
}
