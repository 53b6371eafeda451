// group and grouped_matmul by definition: the places of each number, and rows multiplied by the matrix of their group.
// Float sums are taken in f64 with a bound for any order, as linalg's are (docs/numerics.md §4).
#include "dialects/sparse/ops.h"
#include "lib/interpreter/sparse/sparse.h"
#include "upstream/arith.h"

#include <stdlib.h>

//===--- group ------------------------------------------------------------------------===//

// Places of `number`, in order, into coordinates from `next` on.
static int64_t listPlaces(const int64_t *numbers, int64_t count, int64_t number, Array *coordinates, int64_t next) {
  for (int64_t i = 0; i < count; ++i)
    if (numbers[i] == number)
      arrayElements(coordinates)[next++] = elementOfInteger(i);
  return next;
}

static bool readNumbers(Machine *machine, const Instruction *instruction, const Array *from, int64_t groups,
                        int64_t *numbers) {
  bool isPartial = sparseGroupOpHasPartial(instruction->op);
  for (int64_t i = 0; i < from->sizes[0]; ++i) {
    if (!interpretReadInteger(machine, instruction, arrayElements(from)[i], &numbers[i]))
      return false;
    if (!isPartial && (numbers[i] < 0 || numbers[i] >= groups))
      return interpretFail(machine, instruction->op, "number %lld is %lld, expected one of %lld groups", (long long)i,
                           (long long)numbers[i], (long long)groups);
  }
  return true;
}

static bool groupCount(Machine *machine, Frame *frame, const Instruction *instruction, int64_t *groups) {
  MlirType positions = sparseGroupOpGetPositionsType(instruction->op);
  if (!mlirShapedTypeIsDynamicDim(positions, 0)) {
    *groups = mlirShapedTypeGetDimSize(positions, 0) - 1;
    return true;
  }
  if (!interpretIndexOperand(machine, frame, instruction, 1, groups))
    return false;
  return (*groups >= 0 && *groups <= INT32_MAX) ||
         interpretFail(machine, instruction->op, "number of groups is %lld, expected 0 to %d", (long long)*groups,
                       INT32_MAX);
}

bool interpretSparseGroup(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int64_t count = from->sizes[0], groups, next = 0;
  if (!groupCount(machine, frame, instruction, &groups) ||
      !interpretStep(machine, instruction->op, count * (groups + 1)))
    return false;
  int64_t ends = groups + 1, *numbers = calloc((size_t)count + 1, sizeof *numbers);
  Array *positions = interpretNewArray(machine, instruction, 1, &ends);
  Array *coordinates = interpretNewArray(machine, instruction, 1, &count);
  bool ok = (numbers || interpretOutOfMemory(machine, instruction->op)) && positions && coordinates &&
            readNumbers(machine, instruction, from, groups, numbers);
  for (int64_t group = 0; ok && group < ends; ++group) {
    arrayElements(positions)[group] = elementOfInteger(next);
    if (group < groups)
      next = listPlaces(numbers, count, group, coordinates, next);
  }
  for (; ok && next < count; ++next)
    arrayElements(coordinates)[next] = elementOfInteger(-1);
  free(numbers);
  if (positions)
    setResult(frame, instruction, 0, valueOfObject(&positions->object));
  if (coordinates)
    setResult(frame, instruction, 1, valueOfObject(&coordinates->object));
  return ok;
}

//===--- grouped_matmul ---------------------------------------------------------------===//

typedef struct Routed {
  Machine *machine;
  const Instruction *instruction;
  const Array *lhs, *rhs, *positions, *coordinates;
  Array *result;
  Format format; // of the result
  int64_t gather, depth, columns;
  bool isScattered, isTransposed;
} Routed;

static bool multiplyElement(const Routed *routed, int64_t group, int64_t from, int64_t to, int64_t column) {
  const Array *rhs = routed->rhs;
  Element *place = &arrayElements(routed->result)[to * routed->columns + column];
  const Row *add = interpretRowFind(ArithOp_AddI), *multiply = interpretRowFind(ArithOp_MulI);
  Sum sum = {0};
  Element total = *place, product;
  sumAdd(&sum, *place);
  for (int64_t k = 0; k < routed->depth; ++k) {
    int64_t row = routed->isTransposed ? column : k, across = routed->isTransposed ? k : column;
    Element a = arrayElements(routed->lhs)[from * routed->depth + k],
            b = arrayElements(rhs)[(group * rhs->sizes[1] + row) * rhs->sizes[2] + across];
    if (!interpretElementExpect(routed->machine, routed->instruction, a, "multiplies") ||
        !interpretElementExpect(routed->machine, routed->instruction, b, "multiplies"))
      return false;
    if (routed->format.isFloat)
      sumAddProduct(&sum, a, b);
    else if (!interpretCombineElements(routed->machine, routed->instruction, multiply, &routed->format, a, b,
                                       &product) ||
             !interpretCombineElements(routed->machine, routed->instruction, add, &routed->format, total, product,
                                       &total))
      return false;
  }
  *place = routed->format.isFloat && routed->depth ? interpretSumFinish(&sum, &routed->format) : total;
  return true;
}

// Row `row` of a matrix of so many.
static bool expectRow(const Routed *routed, const char *name, int64_t place, int64_t row, int64_t rows) {
  return (row >= 0 && row < rows) ||
         interpretFail(routed->machine, routed->instruction->op, "place %lld takes row %lld of %s, which has %lld",
                       (long long)place, (long long)row, name, (long long)rows);
}

static bool multiplyRow(const Routed *routed, int64_t group, int64_t place, char *isWritten) {
  int64_t coordinate = place, from = place, to = place;
  if ((routed->gather || routed->isScattered) &&
      (!expectRow(routed, "coordinates", place, place, routed->coordinates->sizes[0]) ||
       !interpretReadInteger(routed->machine, routed->instruction, arrayElements(routed->coordinates)[place],
                             &coordinate)))
    return false;
  if (routed->gather)
    from = coordinate < 0 ? coordinate : coordinate / routed->gather;
  if (routed->isScattered)
    to = coordinate;
  if (!expectRow(routed, "lhs", place, from, routed->lhs->sizes[0]) ||
      !expectRow(routed, "init", place, to, routed->result->sizes[0]))
    return false;
  if (isWritten[to]++)
    return interpretFail(routed->machine, routed->instruction->op, "coordinate %lld is %lld, which stands before it",
                         (long long)place, (long long)to);
  for (int64_t column = 0; column < routed->columns; ++column)
    if (!multiplyElement(routed, group, from, to, column))
      return false;
  return true;
}

static bool multiplyGroups(const Routed *routed, char *isWritten) {
  for (int64_t group = 0; group < routed->rhs->sizes[0]; ++group) {
    int64_t begin, end;
    if (!interpretReadInteger(routed->machine, routed->instruction, arrayElements(routed->positions)[group], &begin) ||
        !interpretReadInteger(routed->machine, routed->instruction, arrayElements(routed->positions)[group + 1],
                              &end) ||
        !interpretStep(routed->machine, routed->instruction->op, (end - begin) * routed->columns * routed->depth))
      return false;
    for (int64_t place = begin; place < end; ++place)
      if (!multiplyRow(routed, group, place, isWritten))
        return false;
  }
  return true;
}

static bool expectSize(const Routed *routed, const char *what, int64_t seen, int64_t wanted) {
  return seen == wanted || interpretFail(routed->machine, routed->instruction->op, "%s has size %lld, expected %lld",
                                         what, (long long)seen, (long long)wanted);
}

bool interpretSparseGroupedMatmul(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirOperation op = instruction->op;
  MlirAttribute gather = sparseGroupedMatmulOpGetGather(op);
  const Array *init = arrayOperand(frame, instruction, 4);
  Routed routed = {.machine = machine,
                   .instruction = instruction,
                   .lhs = arrayOperand(frame, instruction, 0),
                   .rhs = arrayOperand(frame, instruction, 1),
                   .positions = arrayOperand(frame, instruction, 2),
                   .coordinates = arrayOperand(frame, instruction, 3),
                   .gather = mlirAttributeIsNull(gather) ? 0 : mlirIntegerAttrGetValueInt(gather),
                   .isScattered = sparseGroupedMatmulOpHasScatter(op),
                   .isTransposed = sparseGroupedMatmulOpHasTransposeRhs(op)};
  routed.depth = routed.lhs->sizes[1];
  routed.columns = init->sizes[1];
  interpretFormatOf(interpretElementTypeOf(tileOnlyResultType(op)), &routed.format);
  if (!expectSize(&routed, "rhs", routed.rhs->sizes[routed.isTransposed ? 2 : 1], routed.depth) ||
      !expectSize(&routed, "init", routed.columns, routed.rhs->sizes[routed.isTransposed ? 1 : 2]) ||
      !expectSize(&routed, "positions", routed.positions->sizes[0], routed.rhs->sizes[0] + 1) ||
      !interpretStep(machine, op, interpretArrayCount(init)))
    return false;
  char *isWritten = calloc((size_t)init->sizes[0] + 1, 1);
  routed.result = interpretArrayCopy(init);
  bool ok = (isWritten && routed.result) || interpretOutOfMemory(machine, op);
  ok = ok && multiplyGroups(&routed, isWritten);
  free(isWritten);
  if (routed.result)
    setResult(frame, instruction, 0, valueOfObject(&routed.result->object));
  return ok;
}
