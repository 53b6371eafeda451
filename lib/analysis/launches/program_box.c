// See program_box.h.
#include "lib/analysis/launches/program_box.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/op_query.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

enum { MostDepth = 24 };

//===--- ranges of indices ----------------------------------------------------------------------------===//

typedef struct Range {
  int64_t low, high; // both are reached or beyond what is
} Range;

static bool rangeOf(const TileProgramPlace *place, MlirValue value, int depth, Range *range);

static bool fits(__int128 value) { return value >= INT32_MIN && value <= INT32_MAX; }

static bool setRange(Range *range, __int128 low, __int128 high) {
  *range = (Range){(int64_t)low, (int64_t)high};
  return fits(low) && fits(high);
}

// The index of a loop that runs at least once.
static bool rangeOfArgument(const TileProgramPlace *place, MlirValue value, int depth, Range *range) {
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  Range first, end;
  if (!scfForOpIsA(loop) || mlirBlockArgumentGetArgNumber(value) != 0 ||
      !rangeOf(place, scfForOpGetLowerBound(loop), depth, &first) ||
      !rangeOf(place, scfForOpGetUpperBound(loop), depth, &end))
    return false;
  return setRange(range, first.low, tessera_max(first.low, end.high - 1));
}

static bool rangeOfProduct(Range a, Range b, Range *range) {
  __int128 corners[] = {(__int128)a.low * b.low, (__int128)a.low * b.high, (__int128)a.high * b.low,
                        (__int128)a.high * b.high};
  __int128 low = corners[0], high = corners[0];
  for (int i = 1; i < 4; ++i) {
    low = corners[i] < low ? corners[i] : low;
    high = corners[i] > high ? corners[i] : high;
  }
  return setRange(range, low, high);
}

// Numbers that are not negative by a positive constant: signs make no difference.
static bool rangeOfQuotient(Range a, Range b, bool isRest, Range *range) {
  if (a.low < 0 || b.low != b.high || b.low <= 0)
    return false;
  if (!isRest)
    return setRange(range, a.low / b.low, a.high / b.low);
  bool isWithin = a.low / b.low == a.high / b.low;
  return isWithin ? setRange(range, a.low % b.low, a.high % b.low) : setRange(range, 0, b.low - 1);
}

static bool rangeOfPair(const TileProgramPlace *place, MlirOperation op, int depth, Range *range) {
  Range a, b;
  if (!rangeOf(place, tileBinaryLhs(op), depth, &a) || !rangeOf(place, tileBinaryRhs(op), depth, &b))
    return false;
  switch (tileUpstreamKind(op)) {
  case ArithOp_AddI:
    return setRange(range, (__int128)a.low + b.low, (__int128)a.high + b.high);
  case ArithOp_SubI:
    return setRange(range, (__int128)a.low - b.high, (__int128)a.high - b.low);
  case ArithOp_MulI:
    return rangeOfProduct(a, b, range);
  case ArithOp_DivUI:
  case ArithOp_DivSI:
    return rangeOfQuotient(a, b, false, range);
  case ArithOp_RemUI:
  case ArithOp_RemSI:
    return rangeOfQuotient(a, b, true, range);
  case ArithOp_MinSI:
    return setRange(range, tessera_min(a.low, b.low), tessera_min(a.high, b.high));
  case ArithOp_MaxSI:
    return setRange(range, tessera_max(a.low, b.low), tessera_max(a.high, b.high));
  default:
    return false;
  }
}

static bool rangeOf(const TileProgramPlace *place, MlirValue value, int depth, Range *range) {
  int64_t constant;
  if (depth == MostDepth)
    return false;
  if (mlirValueIsABlockArgument(value))
    return rangeOfArgument(place, value, depth + 1, range);
  if (tileConstantIndex(value, &constant))
    return setRange(range, constant, constant);
  MlirOperation op = mlirOpResultGetOwner(value);
  if (tileProgramIdOpIsA(op))
    return setRange(range, place->ids[tileProgramIdOpGetAxisValue(op)], place->ids[tileProgramIdOpGetAxisValue(op)]);
  if (tileNumProgramsOpIsA(op)) {
    int64_t size = place->grid[tileNumProgramsOpGetAxisValue(op)];
    return setRange(range, size, size);
  }
  if (tileAssumeOpIsA(op) || arithIndexCastOpIsA(op))
    return rangeOf(place, tileOnlyOperand(op), depth + 1, range);
  return mlirOperationGetNumOperands(op) == 2 && rangeOfPair(place, op, depth + 1, range);
}

//===--- branches ---------------------------------------------------------------------------------------===//

// 1: holds, 0: does not, -1: not known.
static int holds(const TileProgramPlace *place, MlirValue condition) {
  MlirOperation op = tileDefiningOp(condition);
  Range a, b;
  if (mlirOperationIsNull(op) || !arithCmpIOpIsA(op) || !rangeOf(place, arithCmpIOpGetLhs(op), 0, &a) ||
      !rangeOf(place, arithCmpIOpGetRhs(op), 0, &b) || a.low < 0 || b.low < 0)
    return -1;
  switch (arithCmpIOpGetPredicateValue(op)) {
  case ArithCmpI_Eq:
    return a.low == a.high && b.low == b.high && a.low == b.low ? 1 : a.high < b.low || b.high < a.low ? 0 : -1;
  case ArithCmpI_Slt:
  case ArithCmpI_Ult:
    return a.high < b.low ? 1 : a.low >= b.high ? 0 : -1;
  case ArithCmpI_Sge:
  case ArithCmpI_Uge:
    return a.low >= b.high ? 1 : a.high < b.low ? 0 : -1;
  default:
    return -1;
  }
}

static bool isTaken(const TileProgramPlace *place, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  for (MlirOperation around = mlirBlockGetParentOperation(block); !tileKernelOpIsA(around);
       block = mlirOperationGetBlock(around), around = mlirBlockGetParentOperation(block)) {
    if (!scfIfOpIsA(around))
      continue;
    bool isElse = mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(around, 1)));
    if (holds(place, scfIfOpGetCondition(around)) == isElse)
      return false;
  }
  return true;
}

//===--- accesses -----------------------------------------------------------------------------------------===//

typedef struct Query {
  const TileProgramPlace *place;
  bool isWrite;
  MlirType parameter;
  TileProgramBox box;
} Query;

static void addBox(Query *q, const Range *ranges) {
  for (intptr_t d = 0; d < q->box.rank; ++d) {
    int64_t size = mlirShapedTypeGetDimSize(q->parameter, d);
    int64_t first = tessera_max(ranges[d].low, 0), end = tessera_min(ranges[d].high + 1, size);
    q->box.first[d] = q->box.isEmpty ? first : tessera_min(q->box.first[d], first);
    q->box.end[d] = q->box.isEmpty ? end : tessera_max(q->box.end[d], end);
  }
  q->box.isEmpty = false;
}

// The memref's dimensions that the view fixes have ranges; the others are listed in `kept`.
static bool fixDimensions(Query *q, MlirOperation view, Range *ranges, intptr_t *kept) {
  MlirAttribute fixed = tileViewOpGetFixed(view);
  intptr_t count = mlirAttributeIsNull(fixed) ? 0 : mlirDenseArrayGetNumElements(fixed), numKept = 0;
  for (intptr_t d = 0; d < q->box.rank; ++d) {
    bool isFixed = false;
    for (intptr_t i = 0; i < count; ++i)
      if (mlirDenseI64ArrayGetElement(fixed, i) == d) {
        isFixed = true;
        if (!rangeOf(q->place, tileViewOpGetIndices(view, i), 0, &ranges[d]))
          return false;
      }
    if (!isFixed)
      kept[numKept++] = d;
  }
  return true;
}

static bool addTile(Query *q, MlirOperation view, MlirOperation access, intptr_t firstIndex) {
  MlirType type = mlirValueGetType(tileViewOpGetResult(view));
  Range ranges[TileProgramBoxRank], index;
  intptr_t kept[TileProgramBoxRank];
  if (!mlirAttributeIsNull(tileViewTypeGetPacked(type)) || !fixDimensions(q, view, ranges, kept))
    return false;
  for (intptr_t axis = 0; axis < tileViewTypeGetRank(type); ++axis) {
    int64_t step = tileViewTypeGetStep(type, axis);
    int64_t length = (tileViewTypeGetSize(type, axis) - 1) * tileViewTypeGetStride(type, axis);
    if (step < 0 || length < 0 || !rangeOf(q->place, mlirOperationGetOperand(access, firstIndex + axis), 0, &index))
      return false;
    ranges[kept[tileViewTypeGetOrder(type, axis)]] = (Range){index.low * step, index.high * step + length};
  }
  addBox(q, ranges);
  return true;
}

static bool addElement(Query *q, MlirOperation access, intptr_t firstIndex) {
  Range ranges[TileProgramBoxRank];
  for (intptr_t d = 0; d < q->box.rank; ++d)
    if (!rangeOf(q->place, mlirOperationGetOperand(access, firstIndex + d), 0, &ranges[d]))
      return false;
  addBox(q, ranges);
  return true;
}

static bool addUses(Query *q, MlirValue memory, MlirOperation view);

static bool addUse(Query *q, MlirOperation user, intptr_t operand, MlirOperation view) {
  bool isView = !mlirOperationIsNull(view);
  if (!isTaken(q->place, user) || memrefDimOpIsA(user))
    return true;
  if (tileAssumeOpIsA(user))
    return addUses(q, tileOnlyResult(user), view);
  if (tileViewOpIsA(user) && !isView)
    return addUses(q, tileOnlyResult(user), user);
  if (isView && tileLoadOpIsA(user))
    return q->isWrite || addTile(q, view, user, 1);
  if (isView && tileStoreOpIsA(user) && operand == 1)
    return (!q->isWrite && mlirAttributeIsNull(tileOpAttribute(user, "combine"))) || addTile(q, view, user, 2);
  if (!isView && memrefLoadOpIsA(user))
    return q->isWrite || addElement(q, user, 1);
  if (!isView && memrefStoreOpIsA(user) && operand == 1)
    return !q->isWrite || addElement(q, user, 2);
  return false;
}

static bool addUses(Query *q, MlirValue memory, MlirOperation view) {
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!addUse(q, mlirOpOperandGetOwner(use), (intptr_t)mlirOpOperandGetOperandNumber(use), view))
      return false;
  return true;
}

TileProgramBox tileProgramBoxOf(const TileProgramPlace *place, intptr_t parameter, bool isWrite) {
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(place->kernel));
  MlirValue memory = mlirBlockGetArgument(body, parameter);
  Query q = {.place = place, .isWrite = isWrite, .parameter = mlirValueGetType(memory), .box = {.isEmpty = true}};
  if (!mlirTypeIsAMemRef(q.parameter) || !mlirShapedTypeHasStaticShape(q.parameter) ||
      mlirShapedTypeGetRank(q.parameter) > TileProgramBoxRank)
    return q.box;
  q.box.rank = mlirShapedTypeGetRank(q.parameter);
  q.box.isKnown = addUses(&q, memory, (MlirOperation){NULL});
  return q.box;
}
