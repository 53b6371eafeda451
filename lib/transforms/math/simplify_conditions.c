// tile-simplify-conditions: computes with conditions instead of the numbers that they are made into.
//
//   %n = arith.extui %c : i1 to i64          %n3 = arith.select %c, 3, 0
//   %n3 = arith.muli %n, 3             →     %is3 is %c
//   %is3 = arith.cmpi eq, %n3, 3
//   ori(xori(andi(%a, %b), true), %b)  →     true
// A number that is one constant where a condition holds, and another constant elsewhere, is a select of both. An op of
// such numbers and constants is again a select of two constants. Logic of a few conditions becomes what its truth table
// says.
// LLVM finds these by itself; C compilers do not find them in vectors, whose conditions change their width on the way.
//
// Expects: arith on scalars or vectors, in any region. Leaves: fewer ops; dead ones stay for canonicalize. Cost: linear
// in the ops.
#include "lib/transforms/math/simplify_conditions.h"

#include "lib/capi/folding.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"

static bool isCondition(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAVector(type))
    type = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
}

static MlirAttribute constantOf(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  return !mlirOperationIsNull(op) && arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
}

static MlirAttribute splatOf(MlirType type, int64_t value) {
  MlirType element = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  MlirAttribute one = mlirIntegerAttrGet(element, value);
  return mlirTypeIsAVector(type) ? mlirDenseElementsAttrSplatGet(type, one) : one;
}

//===--- numbers ------------------------------------------------------------------------------------------===//

// A value that is `yes` where the condition holds, and `no` elsewhere.
typedef struct Choice {
  MlirValue condition;
  MlirAttribute yes, no;
} Choice;

// Has the condition a lane for each lane of the type?
static bool isOneFor(MlirValue condition, MlirType type) {
  MlirType its = mlirValueGetType(condition);
  bool isOne = mlirTypeIsAVector(its) == mlirTypeIsAVector(type);
  if (!isOne || !mlirTypeIsAVector(type))
    return isOne;
  isOne = mlirShapedTypeGetRank(its) == mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; isOne && i < mlirShapedTypeGetRank(type); ++i)
    isOne = mlirShapedTypeGetDimSize(its, i) == mlirShapedTypeGetDimSize(type, i);
  return isOne;
}

static bool readChoice(MlirValue value, Choice *choice) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op))
    return false;
  if (arithSelectOpIsA(op)) {
    *choice = (Choice){arithSelectOpGetCondition(op), constantOf(arithSelectOpGetTrueValue(op)),
                       constantOf(arithSelectOpGetFalseValue(op))};
    return isOneFor(choice->condition, mlirValueGetType(value)) && !mlirAttributeIsNull(choice->yes) &&
           !mlirAttributeIsNull(choice->no);
  }
  if ((!arithExtUIOpIsA(op) && !arithExtSIOpIsA(op)) || !isCondition(tileOnlyOperand(op)))
    return false;
  MlirType type = mlirValueGetType(value);
  *choice = (Choice){tileOnlyOperand(op), splatOf(type, arithExtUIOpIsA(op) ? 1 : -1), splatOf(type, 0)};
  return true;
}

// What the op gives if the operand that is a choice has that constant.
static MlirAttribute foldWith(MlirOperation op, MlirValue operand, MlirAttribute constant) {
  enum { Most = 2 };
  MlirAttribute operands[Most];
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    operands[i] = mlirValueEqual(value, operand) ? constant : constantOf(value);
    if (mlirAttributeIsNull(operands[i]))
      return operands[i];
  }
  return mlirExtOperationFold(op, count, operands);
}

// Arithmetic on a choice and constants is a choice.
static bool readFolded(MlirOperation op, Choice *choice) {
  intptr_t count = mlirOperationGetNumOperands(op);
  if (count < 1 || count > 2 || !tileOpIsElementwise(op))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (mlirAttributeIsNull(constantOf(operand)) && readChoice(operand, choice)) {
      choice->yes = foldWith(op, operand, choice->yes);
      choice->no = foldWith(op, operand, choice->no);
      return !mlirAttributeIsNull(choice->yes) && !mlirAttributeIsNull(choice->no) &&
             isOneFor(choice->condition, tileOnlyResultType(op));
    }
  }
  return false;
}

static MlirValue negation(TileBuilder *builder, MlirValue condition) {
  MlirValue all = tileBuildConstant(builder, splatOf(mlirValueGetType(condition), 1));
  return arithXOrIOpBuild(builder, condition, all);
}

static MlirValue buildChoice(TileBuilder *builder, const Choice *choice, MlirType type) {
  if (mlirAttributeEqual(choice->yes, choice->no))
    return tileBuildConstant(builder, choice->yes);
  if (mlirTypeEqual(type, mlirValueGetType(choice->condition))) {
    if (mlirAttributeEqual(choice->yes, splatOf(type, 1)) && mlirAttributeEqual(choice->no, splatOf(type, 0)))
      return choice->condition;
    if (mlirAttributeEqual(choice->yes, splatOf(type, 0)) && mlirAttributeEqual(choice->no, splatOf(type, 1)))
      return negation(builder, choice->condition);
  }
  MlirValue yes = tileBuildConstant(builder, choice->yes), no = tileBuildConstant(builder, choice->no);
  return arithSelectOpBuild(builder, choice->condition, yes, no);
}

//===--- logic --------------------------------------------------------------------------------------------===//

enum { MostConditions = 6 }; // a table of 64 bits

static bool isLogic(MlirOperation op) {
  static const TileUpstream kinds[] = {ArithOp_AndI, ArithOp_OrI, ArithOp_XOrI, TileUpstream_None};
  return !mlirOperationIsNull(op) && tileUpstreamIsOneOf(op, kinds) && isCondition(tileOnlyResult(op));
}

// Bit i of a table is the result where condition k is bit k of i.
typedef struct Logic {
  MlirValue conditions[MostConditions];
  int count, numOps;
} Logic;

static uint64_t tableOfCondition(int number) {
  uint64_t table = 0;
  for (int i = 0; i < 64; ++i)
    table |= (uint64_t)(i >> number & 1) << i;
  return table;
}

static bool readLogic(Logic *logic, MlirValue value, uint64_t *table) {
  enum { MostOps = 32 };
  MlirOperation op = tileDefiningOp(value);
  uint64_t a, b;
  if (isLogic(op)) {
    if (++logic->numOps > MostOps || !readLogic(logic, tileBinaryLhs(op), &a) ||
        !readLogic(logic, tileBinaryRhs(op), &b))
      return false;
    *table = arithAndIOpIsA(op) ? a & b : arithOrIOpIsA(op) ? a | b : a ^ b;
    return true;
  }
  MlirAttribute constant = constantOf(value);
  for (int all = 0; all < 2 && !mlirAttributeIsNull(constant); ++all)
    if (mlirAttributeEqual(constant, splatOf(mlirValueGetType(value), all))) {
      *table = all ? UINT64_MAX : 0;
      return true;
    }
  int number = 0;
  while (number < logic->count && !mlirValueEqual(logic->conditions[number], value))
    ++number;
  if (number == MostConditions)
    return false;
  logic->conditions[number] = value;
  logic->count += number == logic->count;
  *table = tableOfCondition(number);
  return true;
}

// Logic that is a constant, one of its conditions, or the opposite of one. Null: it is none of them.
static MlirValue simplerLogic(MlirOperation op, TileBuilder *builder) {
  Logic logic = {.count = 0};
  uint64_t table;
  if (!readLogic(&logic, tileOnlyResult(op), &table))
    return (MlirValue){NULL};
  if (table == 0 || table == UINT64_MAX)
    return tileBuildConstant(builder, splatOf(tileOnlyResultType(op), table != 0));
  for (int i = 0; i < logic.count; ++i) {
    if (table == tableOfCondition(i))
      return logic.conditions[i];
    if (table == ~tableOfCondition(i) && logic.numOps > 1)
      return negation(builder, logic.conditions[i]);
  }
  return (MlirValue){NULL};
}

//===--- the pass -----------------------------------------------------------------------------------------===//

static bool isSimple(MlirOperation op) { return mlirOperationGetNumResults(op) == 1; }

static bool run(MlirOperation around, MlirExtPass pass) {
  (void)pass;
  TileOps ops = tileCollectOps(around, isSimple);
  for (intptr_t i = 0; i < ops.count; ++i) {
    MlirOperation op = ops.items[i];
    TileBuilder builder = tileBuilderBefore(op);
    MlirValue simpler = {NULL};
    Choice choice;
    if (isLogic(op))
      simpler = simplerLogic(op, &builder);
    if (mlirValueIsNull(simpler) && readFolded(op, &choice))
      simpler = buildChoice(&builder, &choice, tileOnlyResultType(op));
    if (!mlirValueIsNull(simpler))
      mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), simpler);
  }
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileSimplifyConditionsPass = {
    .argument = "tile-simplify-conditions",
    .summary = "Compute with conditions instead of the numbers that they are made into",
    .dialects = (const char *const[]){"arith", NULL},
    .run = run,
};
