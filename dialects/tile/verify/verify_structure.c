// Verifiers of the ops that hold and start kernels: kernel, func, call, return, yield, launch, program ids, assume.
// Why: what a signature, a grid and a promise may say. What a body may hold is checked in verify_kernel.c.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/support/integer.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/func.h"

// A launch has fewer programs than this along an axis: program_id's range, and what a runtime must check.
#define TILE_MAXIMUM_GRID INT32_MAX

//===--- kernel and func ----------------------------------------------------===//

static MlirType functionType(MlirOperation op) { return mlirTypeAttrGetValue(tileOpAttribute(op, "function_type")); }

static bool isKernelParameter(MlirType type) { return mlirTypeIsAMemRef(type) || tileTypeIsAScalar(type); }

bool tileKernelOpVerify(MlirOperation op) {
  MlirType type = functionType(op);
  if (mlirFunctionTypeGetNumResults(type))
    return tileError(op, "returns %s, expected no result: a kernel writes to its memrefs",
                     TILE_TYPE_TEXT(mlirFunctionTypeGetResult(type, 0)));
  for (intptr_t i = 0, count = mlirFunctionTypeGetNumInputs(type); i < count; ++i)
    if (!isKernelParameter(mlirFunctionTypeGetInput(type, i)))
      return tileError(op, "parameter #%d is %s, expected a memref or a scalar (index, integer, float)", (int)i,
                       TILE_TYPE_TEXT(mlirFunctionTypeGetInput(type, i)));
  int64_t warps = 1;
  tileIntegerOf(op, "warps", &warps);
  return tileExpectInteger(op, "warps", warps, 1, 64);
}

// Functions are inlined before layouts are assigned: no tile among their values may have one.
static bool isFunctionValue(MlirType type) {
  if (tileTypeIsATile(type))
    return mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
  return isKernelParameter(type) || tileTypeIsAView(type);
}

static bool expectFunctionValue(MlirOperation op, const char *what, intptr_t index, MlirType type) {
  return isFunctionValue(type) ||
         tileError(op, "%s #%d is %s, expected a scalar, a tile without layout, a view or a memref", what, (int)index,
                   TILE_TYPE_TEXT(type));
}

bool tileFuncOpVerify(MlirOperation op) {
  MlirType type = functionType(op);
  for (intptr_t i = 0, count = mlirFunctionTypeGetNumInputs(type); i < count; ++i)
    if (!expectFunctionValue(op, "parameter", i, mlirFunctionTypeGetInput(type, i)))
      return false;
  for (intptr_t i = 0, count = mlirFunctionTypeGetNumResults(type); i < count; ++i)
    if (!expectFunctionValue(op, "result", i, mlirFunctionTypeGetResult(type, i)))
      return false;
  return true;
}

//===--- call, return, yield ------------------------------------------------===//

MlirAttribute tileCallOpCallee(MlirOperation op) { return tileOpAttribute(op, "callee"); }

void tileCallOpCallArguments(MlirOperation op, intptr_t *begin, intptr_t *count) {
  *begin = 0;
  *count = mlirOperationGetNumOperands(op);
}

// Counts and types of `values`, which a list of types wants. `where` defines the list.
static bool expectTypes(MlirOperation op, MlirOperation where, const char *what, intptr_t seen, intptr_t wanted,
                        MlirType (*seenAt)(MlirOperation, intptr_t), MlirType (*wantedAt)(MlirType, intptr_t)) {
  MlirLocation location = mlirOperationGetLocation(where);
  MlirType signature = functionType(where);
  if (seen != wanted)
    return tileErrorWithNote(op, location, "the signature is given here", "has %d %ss, expected %d", (int)seen, what,
                             (int)wanted);
  for (intptr_t i = 0; i < seen; ++i)
    if (!mlirTypeEqual(seenAt(op, i), wantedAt(signature, i)))
      return tileErrorWithNote(op, location, "the signature is given here", "%s #%d is %s, expected %s", what, (int)i,
                               TILE_TYPE_TEXT(seenAt(op, i)), TILE_TYPE_TEXT(wantedAt(signature, i)));
  return true;
}

bool tileCallOpVerifySymbolUses(MlirOperation op) {
  MlirOperation callee = mlirExtSymbolLookup(op, tileCallOpCallee(op));
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tileCallOpCallee(op));
  if (mlirOperationIsNull(callee))
    return tileError(op, "calls @%.*s, which is not defined", (int)name.length, name.data);
  if (!tileFuncOpIsA(callee))
    return tileErrorWithNote(op, mlirOperationGetLocation(callee), "it is defined here",
                             "calls @%.*s, expected a tile.func", (int)name.length, name.data);
  MlirType type = functionType(callee);
  return expectTypes(op, callee, "operand", mlirOperationGetNumOperands(op), mlirFunctionTypeGetNumInputs(type),
                     tileOperandType, mlirFunctionTypeGetInput) &&
         expectTypes(op, callee, "result", mlirOperationGetNumResults(op), mlirFunctionTypeGetNumResults(type),
                     tileResultType, mlirFunctionTypeGetResult);
}

bool tileReturnOpVerify(MlirOperation op) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (!tileKernelOpIsA(parent) && !tileFuncOpIsA(parent))
    return tileError(op, "stands in '%.*s', expected a tile.kernel or tile.func", (int)tileOpName(parent).length,
                     tileOpName(parent).data);
  return expectTypes(op, parent, "operand", mlirOperationGetNumOperands(op),
                     mlirFunctionTypeGetNumResults(functionType(parent)), tileOperandType, mlirFunctionTypeGetResult);
}

// What a region of reduce or scan gives: one element per input.
static bool verifyCombinerYield(MlirOperation op, MlirOperation parent) {
  MlirLocation where = mlirOperationGetLocation(parent);
  intptr_t begin, inputs, seen = mlirOperationGetNumOperands(op);
  tileOpOperands(parent, "inputs", &begin, &inputs);
  if (seen != inputs)
    return tileErrorWithNote(op, where, "one per input of this op", "yields %d values, expected %d", (int)seen,
                             (int)inputs);
  for (intptr_t i = 0; i < seen; ++i) {
    MlirType wanted = tileTypeGetElement(tileOperandType(parent, begin + i));
    if (!mlirTypeEqual(tileOperandType(op, i), wanted))
      return tileErrorWithNote(op, where, "the element type of this op's input", "operand #%d is %s, expected %s",
                               (int)i, TILE_TYPE_TEXT(tileOperandType(op, i)), TILE_TYPE_TEXT(wanted));
  }
  return true;
}

bool tileYieldOpVerify(MlirOperation op) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (tileReduceOpIsA(parent) || tileScanOpIsA(parent))
    return verifyCombinerYield(op, parent);
  if (tileGroupOpIsA(parent))
    return true; // tileGroupOpVerifyRegions compares the values with the results
  if (!tileWarpSpecializeOpIsA(parent))
    return tileError(op, "stands in '%.*s', expected a tile.reduce, tile.scan, tile.group or tile.warp_specialize",
                     (int)tileOpName(parent).length, tileOpName(parent).data);
  intptr_t count = mlirOperationGetNumOperands(op);
  return count == 0 || tileErrorWithNote(op, mlirOperationGetLocation(parent), "in a partition of this op",
                                         "yields %d values, expected none", (int)count);
}

//===--- launch -------------------------------------------------------------===//

static bool verifyGrid(MlirOperation op) {
  intptr_t begin, rank, clusterRank = tileArrayCount(op, "cluster");
  tileOpOperands(op, "grid", &begin, &rank);
  if (!tileExpectInteger(op, "the grid's rank", rank, 1, 3))
    return false;
  for (intptr_t i = 0; i < rank; ++i) {
    int64_t size;
    if (tileConstantIndex(mlirOperationGetOperand(op, begin + i), &size) &&
        !tileExpectInteger(op, "a size of the grid", size, 0, TILE_MAXIMUM_GRID))
      return false;
  }
  if (tileHas(op, "cluster") && clusterRank != rank)
    return tileError(op, "cluster has %d sizes, expected %d, one per dimension of the grid", (int)clusterRank,
                     (int)rank);
  for (intptr_t i = 0; i < clusterRank; ++i)
    if (!tileExpectInteger(op, "a size of the cluster", tileArrayAt(op, "cluster", i), 1, 16))
      return false;
  return true;
}

static bool verifyMeets(MlirOperation op) {
  MlirAttribute meets = tileOpAttribute(op, "meets");
  intptr_t begin, inputs;
  tileOpOperands(op, "inputs", &begin, &inputs);
  if (mlirAttributeIsNull(meets) || mlirArrayAttrGetNumElements(meets) == inputs)
    return true;
  return tileError(op, "meets has %d levels, expected %d, one per ins", (int)mlirArrayAttrGetNumElements(meets),
                   (int)inputs);
}

bool tileLaunchExpectMeetsInGlobal(MlirOperation launch) {
  MlirAttribute meets = tileOpAttribute(launch, "meets");
  for (intptr_t i = 0; !mlirAttributeIsNull(meets) && i < mlirArrayAttrGetNumElements(meets); ++i) {
    MlirStringRef level = mlirStringAttrGetValue(mlirArrayAttrGetElement(meets, i));
    if (!tileStringEquals(level, "global"))
      return tileError(launch,
                       "meets: level #%d is %.*s; launches meet in global memory, and a tile.group of ops makes one "
                       "kernel whose tiles meet nearer",
                       (int)i, (int)level.length, level.data);
  }
  return true;
}

// A result per output that is a tensor, of its type, in order.
static bool verifyLaunchResults(MlirOperation op) {
  intptr_t begin, count, result = 0, results = mlirOperationGetNumResults(op);
  tileOpOperands(op, "outputs", &begin, &count);
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = tileOperandType(op, begin + i);
    if (!mlirTypeIsARankedTensor(type))
      continue;
    if (result < results && !mlirTypeEqual(tileResultType(op, result), type))
      return tileErrorWithNote(op, mlirValueGetLocation(mlirOperationGetOperand(op, begin + i)), "it is defined here",
                               "result #%d is %s, expected the type of its outs, %s", (int)result,
                               TILE_TYPE_TEXT(tileResultType(op, result)), TILE_TYPE_TEXT(type));
    ++result;
  }
  return result == results ||
         tileError(op, "has %d results, expected %d, one per tensor in outs", (int)results, (int)result);
}

static bool verifyLaunchOperands(MlirOperation op) {
  intptr_t begin, count;
  tileOpOperands(op, "inputs", &begin, &count);
  for (intptr_t i = begin; i < begin + count; ++i) {
    MlirType type = tileOperandType(op, i);
    if (!mlirTypeIsARankedTensor(type) && !isKernelParameter(type))
      return tileError(op, "ins #%d is %s, expected a tensor, a memref or a scalar", (int)(i - begin),
                       TILE_TYPE_TEXT(type));
  }
  return true;
}

bool tileLaunchOpVerify(MlirOperation op) {
  return verifyGrid(op) && verifyMeets(op) && verifyLaunchOperands(op) && verifyLaunchResults(op);
}

void tileLaunchOpDestinationInits(MlirOperation op, intptr_t *begin, intptr_t *count) {
  tileOpOperands(op, "outputs", begin, count);
}

// A tensor stands for a memref of its element and shape, or of a shape that leaves sizes open: upstream folds casts of
// tensors into every op in destination style. Anything else must be the parameter's type itself.
static bool fitsParameter(MlirType argument, MlirType parameter) {
  if (mlirTypeIsARankedTensor(argument))
    return mlirTypeIsAMemRef(parameter) && tileSizesCover(parameter, argument) &&
           mlirTypeEqual(tileTypeGetElement(argument), tileTypeGetElement(parameter));
  return mlirTypeEqual(argument, parameter);
}

static bool verifyArguments(MlirOperation op, MlirOperation kernel) {
  MlirLocation where = mlirOperationGetLocation(kernel);
  MlirType type = functionType(kernel);
  intptr_t grid, first, wanted = mlirFunctionTypeGetNumInputs(type);
  tileOpOperands(op, "grid", &first, &grid);
  intptr_t seen = mlirOperationGetNumOperands(op) - grid;
  if (seen != wanted)
    return tileErrorWithNote(op, where, "the kernel is defined here",
                             "gives %d arguments (ins, then outs), expected %d", (int)seen, (int)wanted);
  for (intptr_t i = 0; i < seen; ++i)
    if (!fitsParameter(tileOperandType(op, grid + i), mlirFunctionTypeGetInput(type, i)))
      return tileErrorWithNote(op, where, "the kernel is defined here", "argument #%d is %s, expected %s%s", (int)i,
                               TILE_TYPE_TEXT(tileOperandType(op, grid + i)),
                               TILE_TYPE_TEXT(mlirFunctionTypeGetInput(type, i)),
                               mlirTypeIsAMemRef(mlirFunctionTypeGetInput(type, i)) ? " or a tensor of its shape" : "");
  return true;
}

// A kernel that is code already: func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64), as convert-tile-to-vector
// leaves it. Its parameters are packed, so there is nothing to compare the launch's operands with.
static bool isLoweredKernel(MlirOperation op) {
  MlirAttribute attribute = tileOpAttribute(op, "function_type");
  if (!funcFuncOpIsA(op) || mlirAttributeIsNull(attribute))
    return false;
  MlirType type = mlirTypeAttrGetValue(attribute);
  return mlirFunctionTypeGetNumInputs(type) == 3 && mlirFunctionTypeGetNumResults(type) == 0 &&
         mlirTypeIsALLVMPointerType(mlirFunctionTypeGetInput(type, 0)) &&
         mlirTypeIsAInteger(mlirFunctionTypeGetInput(type, 1)) && mlirTypeIsAInteger(mlirFunctionTypeGetInput(type, 2));
}

// The form with plain arguments: the launch's, three sizes of the grid, the first and the last program.
static bool isPlainKernel(MlirOperation op, MlirOperation launch) {
  enum { NumIndices = 5 };
  MlirAttribute attribute = tileOpAttribute(op, "function_type");
  if (!funcFuncOpIsA(op) || mlirAttributeIsNull(attribute))
    return false;
  MlirType type = mlirTypeAttrGetValue(attribute);
  intptr_t rank = tileLaunchOpGetNumGrid(launch), count = mlirOperationGetNumOperands(launch) - rank;
  bool isPlain = mlirFunctionTypeGetNumInputs(type) == count + NumIndices && mlirFunctionTypeGetNumResults(type) == 0;
  for (intptr_t i = 0; i < count && isPlain; ++i)
    isPlain = mlirTypeEqual(mlirFunctionTypeGetInput(type, i), tileOperandType(launch, rank + i));
  for (intptr_t i = 0; i < NumIndices && isPlain; ++i)
    isPlain = mlirTypeIsAIndex(mlirFunctionTypeGetInput(type, count + i));
  return isPlain;
}

bool tileLaunchOpVerifySymbolUses(MlirOperation op) {
  MlirAttribute symbol = tileOpAttribute(op, "kernel");
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(symbol);
  MlirOperation kernel = mlirExtSymbolLookup(op, symbol);
  if (mlirOperationIsNull(kernel))
    return tileError(op, "launches @%.*s, which is not defined", (int)name.length, name.data);
  if (isLoweredKernel(kernel) || isPlainKernel(kernel, op))
    return true;
  if (!tileKernelOpIsA(kernel))
    return tileErrorWithNote(op, mlirOperationGetLocation(kernel), "it is defined here",
                             "launches @%.*s, expected a tile.kernel", (int)name.length, name.data);
  return verifyArguments(op, kernel);
}

//===--- program ids --------------------------------------------------------===//

static bool verifyProgram(MlirOperation op) {
  int64_t axis = 0;
  tileIntegerOf(op, "axis", &axis);
  if (!tileExpectInteger(op, "the grid's axis", axis, 0, 2))
    return false;
  bool isInside =
      !mlirOperationIsNull(tileParentOp(op, tileKernelOpIsA)) || !mlirOperationIsNull(tileParentOp(op, tileFuncOpIsA));
  return isInside || tileError(op, "stands outside of a tile.kernel, which alone has programs");
}

bool tileProgramIdOpVerify(MlirOperation op) { return verifyProgram(op); }

bool tileNumProgramsOpVerify(MlirOperation op) { return verifyProgram(op); }

//===--- assume -------------------------------------------------------------===//

// `sizes` or `strides`: a divisor per dimension, dynamic for none.
static bool verifyDivisors(MlirOperation op, const char *name) {
  MlirType type = tileAssumeOpGetValueType(op);
  intptr_t count = tileArrayCount(op, name);
  if (!tileHas(op, name))
    return true;
  if (count != tileTypeGetRank(type))
    return tileError(op, "%s has %d entries, expected %d, one per dimension of %s", name, (int)count,
                     (int)tileTypeGetRank(type), TILE_TYPE_TEXT(type));
  for (intptr_t i = 0; i < count; ++i)
    if (!mlirShapedTypeIsDynamicSize(tileArrayAt(op, name, i)) &&
        !tileExpectInteger(op, name, tileArrayAt(op, name, i), 1, INT64_MAX))
      return false;
  return true;
}

static bool refutesSizes(MlirOperation op) {
  MlirType type = tileAssumeOpGetValueType(op);
  for (intptr_t i = 0, count = tileArrayCount(op, "sizes"); i < count; ++i) {
    int64_t divisor = tileArrayAt(op, "sizes", i), size = tileTypeGetSize(type, i);
    if (mlirShapedTypeIsDynamicSize(divisor) || mlirShapedTypeIsDynamicSize(size) || size % divisor == 0)
      continue;
    return !tileError(op, "says that size #%d is divisible by %lld, but it is %lld", (int)i, (long long)divisor,
                      (long long)size);
  }
  return false;
}

static bool verifyMemrefPromise(MlirOperation op) {
  int64_t align = 1;
  tileIntegerOf(op, "align", &align);
  if (!tessera_is_power_of_two(align))
    return tileError(op, "align is %lld, expected a power of two", (long long)align);
  if (tileHas(op, "divisible") || tileHas(op, "range"))
    return tileError(op, "says divisible or range of %s, expected align, sizes or strides",
                     TILE_TYPE_TEXT(tileAssumeOpGetValueType(op)));
  return verifyDivisors(op, "sizes") && verifyDivisors(op, "strides") && !refutesSizes(op);
}

static bool verifyRange(MlirOperation op) {
  intptr_t count = tileArrayCount(op, "range");
  if (!tileHas(op, "range"))
    return true;
  if (count != 2)
    return tileError(op, "range has %d bounds, expected 2", (int)count);
  if (tileArrayAt(op, "range", 0) > tileArrayAt(op, "range", 1))
    return tileError(op, "range begins at %lld and ends at %lld, expected ascending bounds",
                     (long long)tileArrayAt(op, "range", 0), (long long)tileArrayAt(op, "range", 1));
  return true;
}

static bool refutesNumber(MlirOperation op, int64_t divisible) {
  MlirValue value = tileAssumeOpGetValue(op);
  int64_t constant;
  if (!tileConstantIndex(value, &constant))
    return false;
  if (constant % divisible)
    return !tileErrorWithNote(op, mlirValueGetLocation(value), "the constant is here",
                              "says that its operand is divisible by %lld, but it is %lld", (long long)divisible,
                              (long long)constant);
  if (!tileHas(op, "range"))
    return false;
  int64_t lower = tileArrayAt(op, "range", 0), upper = tileArrayAt(op, "range", 1);
  if (constant >= lower && constant <= upper)
    return false;
  return !tileErrorWithNote(op, mlirValueGetLocation(value), "the constant is here",
                            "says that its operand lies in [%lld, %lld], but it is %lld", (long long)lower,
                            (long long)upper, (long long)constant);
}

static bool verifyNumberPromise(MlirOperation op) {
  int64_t divisible = 1;
  tileIntegerOf(op, "divisible", &divisible);
  if (tileHas(op, "align") || tileHas(op, "sizes") || tileHas(op, "strides"))
    return tileError(op, "says align, sizes or strides of %s, expected divisible or range",
                     TILE_TYPE_TEXT(tileAssumeOpGetValueType(op)));
  return tileExpectInteger(op, "divisible", divisible, 1, INT64_MAX) && verifyRange(op) &&
         !refutesNumber(op, divisible);
}

bool tileAssumeOpVerify(MlirOperation op) {
  MlirType type = tileAssumeOpGetValueType(op);
  if (mlirTypeIsAMemRef(type))
    return verifyMemrefPromise(op);
  if (mlirTypeIsAIndex(type) || mlirTypeIsAInteger(type))
    return verifyNumberPromise(op);
  return tileError(op, "is about %s, expected a memref, an index or an integer", TILE_TYPE_TEXT(type));
}
