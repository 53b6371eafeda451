// tile-linalg-of-buffers: linalg on memrefs becomes linalg on tensors that stand for them, and so a kernel.
//
//   linalg.matmul ins(%a, %b : memref…) outs(%c : memref…)
//   →  %apart = (%a and %c, %b and %c do not overlap)
//      scf.if %apart { %r = linalg.matmul ins(to_tensor %a, …) outs(to_tensor %c); materialize %r in %c }
//      else          { linalg.matmul ins(%a, %b) outs(%c) }        // loops, as the op's body says
//
// Why: kernels are made of linalg on tensors; on memrefs it became plain loops (0.3 of 160 GFLOP/s). Expects:
// func.func, before the stages of tensors. Leaves: ops whose outputs are inputs, or whose layouts are not contiguous,
// as they are; no check where allocations show that buffers lie apart. Cost: linear; an op that needs the check stands
// there twice.
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

enum { MaxOperands = 16 };

//===--- questions ------------------------------------------------------------------===//

// An op with one output, its last operand.
typedef struct Buffers {
  MlirOperation op;
  intptr_t numInputs;
} Buffers;

static bool isNumber(MlirType type) {
  return mlirTypeIsAFloat(type) || (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type));
}

static bool isContiguous(MlirType type) {
  return mlirTypeIsAMemRef(type) && mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)) &&
         mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type)) && isNumber(mlirShapedTypeGetElementType(type)) &&
         mlirShapedTypeGetRank(type) > 0;
}

static bool hasOneOutput(MlirOperation op) {
  MlirBlock body =
      mlirOperationGetNumRegions(op) == 1 ? tileOnlyBlock(mlirOperationGetRegion(op, 0)) : (MlirBlock){NULL};
  MlirOperation yield = mlirBlockIsNull(body) ? (MlirOperation){NULL} : mlirBlockGetTerminator(body);
  return linalgYieldOpIsA(yield) && mlirOperationGetNumOperands(yield) == 1;
}

static bool readBuffers(MlirOperation op, Buffers *buffers) {
  intptr_t count = mlirOperationGetNumOperands(op);
  if (!tileOpIsStructured(op) || mlirOperationGetNumResults(op) || count < 1 || count > MaxOperands ||
      !hasOneOutput(op))
    return false;
  *buffers = (Buffers){op, count - 1};
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = tileOperandType(op, i);
    if (!isContiguous(type) && (i == count - 1 || mlirTypeIsAMemRef(type)))
      return false;
  }
  return true;
}

static bool isOnHost(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !tileOpIsOfDialect(op, "gpu"))
    op = mlirOperationGetParentOperation(op);
  return mlirOperationIsNull(op);
}

static bool isAllocation(MlirValue root) {
  MlirOperation op = tileDefiningOp(root);
  return memrefAllocOpIsA(op) || memrefAllocaOpIsA(op);
}

static bool isArgument(MlirValue root) {
  return mlirValueIsABlockArgument(root) && funcFuncOpIsA(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(root)));
}

static bool isNamed(MlirValue root) {
  return isAllocation(root) || isArgument(root) || memrefGetGlobalOpIsA(tileDefiningOp(root));
}

// An allocation is apart from every other allocation, from arguments and from globals.
static bool areApart(MlirValue a, MlirValue b) {
  a = tileMemoryRoot(a);
  b = tileMemoryRoot(b);
  return !mlirValueEqual(a, b) && isNamed(a) && isNamed(b) && (isAllocation(a) || isAllocation(b));
}

//===--- the check ------------------------------------------------------------------===//

static MlirValue endOf(TileBuilder *builder, MlirValue buffer, MlirValue begin) {
  MlirType type = mlirValueGetType(buffer), element = mlirShapedTypeGetElementType(type);
  MlirValue bytes = tileBuildIndex(builder, (tileElementWidth(element) + 7) / 8);
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    bytes =
        tileBuildMul(builder, bytes,
                     mlirShapedTypeIsDynamicDim(type, d) ? tileBuildDim(builder, buffer, d)
                                                         : tileBuildIndex(builder, mlirShapedTypeGetDimSize(type, d)));
  return tileBuildAdd(builder, begin, bytes);
}

static MlirValue buildApart(TileBuilder *builder, MlirValue a, MlirValue b) {
  MlirValue beginA = memrefExtractAlignedPointerAsIndexOpBuild(builder, a);
  MlirValue beginB = memrefExtractAlignedPointerAsIndexOpBuild(builder, b);
  MlirValue before = arithCmpIOpBuild(builder, endOf(builder, a, beginA), beginB, ArithCmpI_Ule);
  MlirValue after = arithCmpIOpBuild(builder, endOf(builder, b, beginB), beginA, ArithCmpI_Ule);
  return arithOrIOpBuild(builder, before, after);
}

// Whether the output lies apart from each input; null: the program shows that it does.
static MlirValue buildCheck(TileBuilder *builder, const Buffers *buffers) {
  MlirValue check = {NULL}, output = mlirOperationGetOperand(buffers->op, buffers->numInputs);
  for (intptr_t i = 0; i < buffers->numInputs; ++i) {
    MlirValue input = mlirOperationGetOperand(buffers->op, i);
    if (!mlirTypeIsAMemRef(mlirValueGetType(input)) || areApart(input, output))
      continue;
    MlirValue apart = buildApart(builder, input, output);
    check = mlirValueIsNull(check) ? apart : arithAndIOpBuild(builder, check, apart);
  }
  return check;
}

static bool isInPlace(const Buffers *buffers) {
  MlirValue output = tileMemoryRoot(mlirOperationGetOperand(buffers->op, buffers->numInputs));
  for (intptr_t i = 0; i < buffers->numInputs; ++i)
    if (mlirValueEqual(tileMemoryRoot(mlirOperationGetOperand(buffers->op, i)), output))
      return true;
  return false;
}

//===--- the op on tensors ------------------------------------------------------------===//

static MlirValue tensorOf(TileBuilder *builder, MlirValue buffer, bool isWritten) {
  MlirType type = mlirValueGetType(buffer);
  int64_t sizes[32];
  if (!mlirTypeIsAMemRef(type))
    return buffer; // a scalar
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t d = 0; d < rank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  MlirAttribute unit = mlirUnitAttrGet(builder->context), none = {NULL};
  MlirType tensor = mlirRankedTensorTypeGet(rank, sizes, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  return tileOnlyResult(bufferizationToTensorOpCreate(builder, tensor, buffer, unit, isWritten ? unit : none));
}

static void buildOnTensors(TileBuilder *builder, const Buffers *buffers) {
  MlirValue operands[MaxOperands], output = mlirOperationGetOperand(buffers->op, buffers->numInputs);
  for (intptr_t i = 0; i <= buffers->numInputs; ++i)
    operands[i] = tensorOf(builder, mlirOperationGetOperand(buffers->op, i), i == buffers->numInputs);
  MlirType type = mlirValueGetType(operands[buffers->numInputs]);
  MlirValue result = tileOnlyResult(tileBuildLike(builder, buffers->op, operands, 1, &type));
  MlirAttribute unit = mlirUnitAttrGet(builder->context);
  bufferizationMaterializeInDestinationOpCreate(builder, (MlirType){NULL}, result, output, unit, unit);
}

static MlirRegion branch(const TileBuilder *builder, TileBuilder *inside) {
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  *inside = tileBuilderAtEnd(block, builder->location);
  return region;
}

static void rewrite(const Buffers *buffers) {
  TileBuilder builder = tileBuilderBefore(buffers->op), apart, together;
  MlirValue check = buildCheck(&builder, buffers);
  if (mlirValueIsNull(check)) {
    buildOnTensors(&builder, buffers);
  } else {
    MlirRegion regions[] = {branch(&builder, &apart), branch(&builder, &together)};
    buildOnTensors(&apart, buffers);
    tileBuilderInsert(&together, mlirOperationClone(buffers->op));
    tileBuildYield(&apart, 0, NULL);
    tileBuildYield(&together, 0, NULL);
    scfIfOpBuild(&builder, 0, NULL, check, regions[0], regions[1]);
  }
  mlirOperationDestroy(buffers->op);
}

//===--- the pass -----------------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollect(function, NULL);
  uint64_t taken = 0;
  for (intptr_t i = 0; i < ops.count; ++i) {
    Buffers buffers;
    if (!readBuffers(ops.items[i], &buffers) || isInPlace(&buffers) || !isOnHost(ops.items[i]))
      continue;
    rewrite(&buffers);
    ++taken;
  }
  mlirExtPassAddStatistic(pass, 0, taken);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileLinalgOfBuffersPass = {
    .argument = "tile-linalg-of-buffers",
    .summary = "Let linalg on memrefs become kernels: by tensors that stand for the memrefs, where they lie apart",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"taken: linalg ops on memrefs that became linalg on tensors", NULL},
    .dialects = (const char *const[]){"arith", "bufferization", "memref", "scf", NULL},
    .run = run,
};
