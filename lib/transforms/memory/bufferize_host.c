// Bufferizes the host: tensors of every func.func become memrefs, kernels are left alone.
//
// Expects: the tile graph on tensors (tile.launch in destination style beside whatever linalg is left over).
// Leaves: the same on memrefs; function borders with identity layouts; kernels untouched; every launch operand of the
// layout its kernel asks for (a strided one is copied and counted); public functions marked as entries, callable from C
// (llvm.emit_c_interface). Counts linalg ops left over: they go by upstream's
// route (fallback_ops). Tensors with an encoding are refused: upstream would drop the encoding without a word.
// Analysis: upstream's one-shot bufferization, https://arxiv.org/abs/2202.03293 §4.3.
#include "lib/capi/bufferization.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"

#include <string.h>

enum { Statistic_Fallback, Statistic_Allocations, Statistic_InPlace, Statistic_OutOfPlace, Statistic_Copies };

//===--- questions ----------------------------------------------------------===//

static bool isInKernel(MlirOperation op, void *userData) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
    if (tileOpIs(op, "tile.kernel") || tileOpIs(op, "tile.func"))
      return true;
  return false;
}

static bool isLinalgCompute(MlirOperation op) {
  MlirStringRef name = tileOpName(op);
  return name.length > 7 && memcmp(name.data, "linalg.", 7) == 0 && !tileOpIs(op, "linalg.yield") &&
         !tileOpIs(op, "linalg.index");
}

static bool hasEncoding(MlirType type) {
  return mlirTypeIsARankedTensor(type) && !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}

// What a walk over the host gathers before bufferization.
typedef struct HostFindings {
  uint64_t fallbacks;
  bool failed;
} HostFindings;

static void checkType(MlirOperation op, MlirType type, HostFindings *findings) {
  if (findings->failed || !hasEncoding(type))
    return;
  char text[256];
  tileError(op, "has a value of type %s: an encoding must be expanded or removed before bufferization",
            tileTypeText(type, text, sizeof text));
  findings->failed = true;
}

static MlirWalkResult examine(MlirOperation op, void *userData) {
  HostFindings *findings = userData;
  if (tileOpIs(op, "tile.kernel") || tileOpIs(op, "tile.func"))
    return MlirWalkResultSkip;
  findings->fallbacks += isLinalgCompute(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    checkType(op, tileOperandType(op, i), findings);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    checkType(op, tileResultType(op, i), findings);
  return findings->failed ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

//===--- launch operands ----------------------------------------------------===//

static bool isContiguous(MlirType memref) { return mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref)); }

static MlirType contiguousType(MlirType memref) {
  int64_t sizes[16];
  intptr_t rank = mlirShapedTypeGetRank(memref);
  for (intptr_t i = 0; i < rank; i++)
    sizes[i] = mlirShapedTypeGetDimSize(memref, i);
  return mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(memref), rank, sizes, (MlirAttribute){NULL});
}

// A contiguous buffer as large as `value`.
static MlirValue allocateLike(TileBuilder *builder, MlirValue value) {
  MlirType type = contiguousType(mlirValueGetType(value));
  MlirValue sizes[16];
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++) {
    if (!mlirShapedTypeIsDynamicDim(type, i))
      continue;
    MlirValue operands[2] = {value, tileBuildIndex(builder, i)};
    sizes[count++] = tileBuildValue(builder, "memref.dim", mlirIndexTypeGet(builder->context), 2, operands, NULL);
  }
  TileAttributeEntry segments[] = {
      {"operandSegmentSizes", mlirDenseI32ArrayGet(builder->context, 2, (int32_t[]){(int32_t)count, 0})}, {0}};
  return tileBuildValue(builder, "memref.alloc", type, count, sizes, segments);
}

static void buildCopy(TileBuilder *builder, MlirValue source, MlirValue target) {
  tileBuild(builder, "memref.copy", 2, (MlirValue[]){source, target}, 0, NULL, NULL, 0, NULL);
}

// The kernel's parameter type for operand `index` of the launch (grid operands are not parameters).
static MlirType parameterType(MlirOperation kernel, intptr_t index) {
  MlirAttribute type = tileOpAttribute(kernel, "function_type");
  return mlirFunctionTypeGetInput(mlirTypeAttrGetValue(type), index);
}

// Gives the launch a contiguous copy where its kernel takes one and the operand is strided. Returns copies made.
static uint64_t makeOperandsContiguous(MlirOperation launch) {
  MlirOperation kernel = mlirExtSymbolLookup(launch, tileOpAttribute(launch, "kernel"));
  MlirAttribute segments = tileOpAttribute(launch, "operandSegmentSizes");
  if (mlirOperationIsNull(kernel) || mlirAttributeIsNull(segments))
    return 0;
  intptr_t grid = mlirDenseI32ArrayGetElement(segments, 0), inputs = mlirDenseI32ArrayGetElement(segments, 1);
  uint64_t copies = 0;
  for (intptr_t i = grid; i < mlirOperationGetNumOperands(launch); i++) {
    MlirValue value = mlirOperationGetOperand(launch, i);
    MlirType parameter = parameterType(kernel, i - grid);
    if (!mlirTypeIsAMemRef(mlirValueGetType(value)) || isContiguous(mlirValueGetType(value)) ||
        !mlirTypeIsAMemRef(parameter) || !isContiguous(parameter))
      continue;
    TileBuilder before = tileBuilderBefore(launch), after = tileBuilderAfter(launch);
    MlirValue copy = allocateLike(&before, value);
    buildCopy(&before, value, copy);
    if (i >= grid + inputs)
      buildCopy(&after, copy, value);
    mlirOperationSetOperand(launch, i, copy);
    copies++;
  }
  return copies;
}

//===--- entries ------------------------------------------------------------===//

static bool isEntry(MlirOperation function) {
  MlirAttribute visibility = tileOpAttribute(function, "sym_visibility");
  bool isPublic = mlirAttributeIsNull(visibility) || tileStringEquals(mlirStringAttrGetValue(visibility), "public");
  return isPublic && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)));
}

static void markEntries(MlirOperation module) {
  TileOps functions = tileCollect(module, "func.func");
  MlirAttribute unit = mlirUnitAttrGet(mlirOperationGetContext(module));
  for (intptr_t i = 0; i < functions.count; i++)
    if (isEntry(functions.items[i]))
      mlirOperationSetDiscardableAttributeByName(functions.items[i], tileString("llvm.emit_c_interface"), unit);
  tileOpsFree(&functions);
}

//===--- the pass -----------------------------------------------------------===//

static bool run(MlirOperation module, MlirExtPass pass) {
  HostFindings findings = {0};
  mlirOperationWalk(module, examine, &findings, MlirWalkPreOrder);
  if (findings.failed)
    return false;
  mlirExtPassAddStatistic(pass, Statistic_Fallback, findings.fallbacks);

  MlirExtBufferizationOptions options = {
      .functionBoundaries = true, .allowReturnAllocsFromLoops = true, .skip = isInKernel};
  MlirExtBufferizationStatistics statistics = {0};
  if (mlirLogicalResultIsFailure(mlirExtOneShotBufferizeModule(module, &options, &statistics)))
    return false;
  mlirExtPassAddStatistic(pass, Statistic_Allocations, (uint64_t)statistics.allocations);
  mlirExtPassAddStatistic(pass, Statistic_InPlace, (uint64_t)statistics.inPlace);
  mlirExtPassAddStatistic(pass, Statistic_OutOfPlace, (uint64_t)statistics.outOfPlace);

  markEntries(module);
  TileOps launches = tileCollect(module, "tile.launch");
  uint64_t copies = 0;
  for (intptr_t i = 0; i < launches.count; i++)
    copies += makeOperandsContiguous(launches.items[i]);
  tileOpsFree(&launches);
  mlirExtPassAddStatistic(pass, Statistic_Copies, copies);
  return true;
}

static void dependents(MlirDialectRegistry registry) {
  mlirExtDialectRegistryInsertBufferization(registry);
  tileInsertDialects(registry, (const char *const[]){"memref", "arith", "scf", "func", NULL});
}

const MlirExtPassDefinition tileBufferizeHostPass = {
    .argument = "tile-bufferize-host",
    .summary = "Bufferize host functions (one-shot analysis), leaving kernels alone",
    .anchor = "builtin.module",
    .statistics =
        (const char *const[]){"fallback_ops: linalg ops left for upstream's route", "allocations: buffers allocated",
                              "in_place: operands bufferized in place", "out_of_place: operands copied by the analysis",
                              "operand_copies: strided launch operands copied to contiguous ones", NULL},
    .dependentDialects = dependents,
    .run = run,
};
