// Values of the host's side: sizes, casts, empty tensors, launches, bodies.
#include <stdlib.h>

#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"

//===--- sizes ----------------------------------------------------------------===//

MlirValue sparseSize(SparseLowering *lowering, intptr_t operand, intptr_t axis) {
  MlirType type = tileOperandType(lowering->op, operand);
  MlirExtValueRange values = lowering->operands[operand];
  if (mlirAttributeIsNull(sparseTypeGetEncoding(type)))
    return tileBuildSize(&lowering->builder, values.values[0], axis);
  if (!mlirShapedTypeIsDynamicDim(type, axis))
    return tileBuildIndex(&lowering->builder, mlirShapedTypeGetDimSize(type, axis));
  intptr_t after = 1; // this one and those after it stand at the end
  for (intptr_t i = axis + 1; i < mlirShapedTypeGetRank(type); ++i)
    after += mlirShapedTypeIsDynamicDim(type, i);
  return values.values[values.count - after];
}

MlirType sparseElement(MlirValue tensor) { return mlirShapedTypeGetElementType(mlirValueGetType(tensor)); }

int64_t sparseBits(MlirType element) { return tileElementWidth(element); }

//===--- tensors --------------------------------------------------------------===//

MlirValue sparseCast(SparseLowering *lowering, MlirValue value, MlirType type) {
  if (mlirTypeEqual(mlirValueGetType(value), type))
    return value;
  return tensorCastOpBuild(&lowering->builder, type, value);
}

// Axes `begin` to `end` - 1 as one group among single ones.
static MlirAttribute groupsOf(const TileBuilder *b, intptr_t rank, intptr_t begin, intptr_t end) {
  MlirAttribute groups[8], axes[8];
  intptr_t count = 0;
  for (intptr_t i = 0; i < rank; ++count) {
    intptr_t first = i, past = i == begin ? end : i + 1;
    for (; i < past; ++i)
      axes[i - first] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), i);
    groups[count] = mlirArrayAttrGet(b->context, past - first, axes);
  }
  return mlirArrayAttrGet(b->context, count, groups);
}

MlirAttribute sparseOneGroup(const TileBuilder *b, intptr_t rank) { return groupsOf(b, rank, 0, rank); }

MlirValue sparseCollapse(SparseLowering *lowering, MlirValue value, intptr_t begin, intptr_t end) {
  MlirType type = mlirValueGetType(value);
  int64_t shape[8], whole = 1;
  intptr_t rank = mlirShapedTypeGetRank(type), axes = 0;
  for (intptr_t i = 0; i < rank; ++i) {
    bool isInside = i > begin && i < end;
    int64_t size = mlirShapedTypeGetDimSize(type, i);
    bool isOpen = mlirShapedTypeIsDynamicSize(size) || mlirShapedTypeIsDynamicSize(whole);
    whole = !isInside ? size : isOpen ? mlirShapedTypeGetDynamicSize() : whole * size;
    axes += !isInside;
    shape[axes - 1] = whole;
  }
  MlirType flat = mlirRankedTensorTypeGet(axes, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  return tensorCollapseShapeOpBuild(&lowering->builder, flat, value, groupsOf(&lowering->builder, rank, begin, end));
}

MlirValue sparseEmpty(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes) {
  return tensorEmptyOpBuild(&lowering->builder, type, count, sizes);
}

MlirValue sparseZeros(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes) {
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirValue zero = mlirTypeIsAFloat(element) ? tileBuildFloat(&lowering->builder, element, 0)
                                             : tileBuildInteger(&lowering->builder, element, 0);
  return tensorSplatOpBuild(&lowering->builder, type, zero, count, sizes);
}

//===--- kernels and launches ---------------------------------------------------===//

typedef struct SparseKernelMade {
  char *text;
  MlirAttribute symbol;
  struct SparseKernelMade *next;
} SparseKernelMade;

void sparseKernelsEnd(SparseKernels *kernels) {
  while (kernels->made) {
    SparseKernelMade *made = kernels->made;
    kernels->made = made->next;
    free(made->text);
    free(made);
  }
}

MlirAttribute sparseKernelGet(SparseKernels *kernels, const TileTemplateUse *use, MlirLocation location) {
  MlirOperation kernel = tileTemplateMake(location, use);
  if (mlirOperationIsNull(kernel))
    return mlirAttributeGetNull();
  char *text = tileTemplatePrint(kernel);
  for (const SparseKernelMade *made = kernels->made; made; made = made->next)
    if (text && made->text && !strcmp(made->text, text)) {
      free(text);
      mlirOperationDestroy(kernel);
      return made->symbol;
    }
  SparseKernelMade *made = calloc(1, sizeof *made);
  *made = (SparseKernelMade){text, tileTemplateInsert(kernels->module, kernel, use->from->name), kernels->made};
  kernels->made = made;
  ++kernels->count;
  return made->symbol;
}

bool sparseLaunchAll(SparseLowering *lowering, TileTemplateUse kernel, intptr_t numGrid, const MlirValue *grid,
                     intptr_t numInputs, const MlirValue *inputs, intptr_t numOutputs, MlirValue *outputs) {
  MlirAttribute none = mlirAttributeGetNull();
  MlirType types[SparseMaxValues];
  MlirAttribute symbol = sparseKernelGet(lowering->kernels, &kernel, lowering->builder.location);
  if (mlirAttributeIsNull(symbol))
    return false;
  for (intptr_t i = 0; i < numOutputs; ++i)
    types[i] = mlirValueGetType(outputs[i]);
  MlirOperation op = tileLaunchOpCreate(&lowering->builder, numOutputs, types, numGrid, grid, numInputs, inputs,
                                        numOutputs, outputs, symbol, none, none);
  for (intptr_t i = 0; i < numOutputs; ++i)
    outputs[i] = mlirOperationGetResult(op, i);
  return true;
}

MlirValue sparseLaunch(SparseLowering *lowering, TileTemplateUse kernel, intptr_t numGrid, const MlirValue *grid,
                       intptr_t numInputs, const MlirValue *inputs, MlirValue output) {
  bool ok = sparseLaunchAll(lowering, kernel, numGrid, grid, numInputs, inputs, 1, &output);
  return ok ? output : (MlirValue){NULL};
}

//===--- bodies ---------------------------------------------------------------===//

SparseBody sparseBodyBegin(SparseLowering *lowering, intptr_t count, const MlirValue *inputs, MlirType result) {
  SparseBody body = {.block = mlirBlockCreate(0, NULL, NULL)};
  for (intptr_t i = 0; i < count; ++i)
    mlirBlockAddArgument(body.block, mlirShapedTypeGetElementType(mlirValueGetType(inputs[i])),
                         lowering->builder.location);
  mlirBlockAddArgument(body.block, result, lowering->builder.location);
  body.builder = tileBuilderAtEnd(body.block, lowering->builder.location);
  return body;
}

// Values of a region and what stands for them in a copy.
typedef struct Renamed {
  MlirValue *from, *to;
  intptr_t count;
} Renamed;

static void addName(Renamed *names, MlirValue from, MlirValue to) {
  names->from = tessera_grow(names->from, names->count, sizeof *names->from);
  names->to = tessera_grow(names->to, names->count, sizeof *names->to);
  names->from[names->count] = from;
  names->to[names->count++] = to;
}

static MlirValue nameOf(const Renamed *names, MlirValue value) {
  for (intptr_t i = 0; i < names->count; ++i)
    if (mlirValueEqual(value, names->from[i]))
      return names->to[i];
  return value;
}

static MlirWalkResult renameOperands(MlirOperation op, void *names) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(op, i, nameOf(names, mlirOperationGetOperand(op, i)));
  return MlirWalkResultAdvance;
}

static MlirValue inlineOps(TileBuilder *b, Renamed *names, MlirBlock from, intptr_t count, const MlirValue *arguments) {
  MlirOperation end = mlirBlockGetTerminator(from);
  for (intptr_t i = 0; i < count; ++i)
    addName(names, mlirBlockGetArgument(from, i), arguments[i]);
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation copy = tileBuilderInsert(b, mlirOperationClone(op));
    mlirOperationWalk(copy, renameOperands, names, MlirWalkPreOrder);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
      addName(names, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  }
  MlirValue yielded = nameOf(names, tileOnlyOperand(end));
  free(names->from);
  free(names->to);
  return yielded;
}

MlirValue sparseBodyInline(SparseBody *body, MlirBlock from, intptr_t count, const MlirValue *arguments) {
  Renamed names = {NULL};
  return inlineOps(&body->builder, &names, from, count, arguments);
}

typedef struct Outside {
  MlirOperation around;
  TileBuilder *builder; // of copies; null: only asks
  Renamed *names;
  bool areConstants;
} Outside;

static MlirWalkResult visitOutside(MlirOperation op, void *data) {
  Outside *outside = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !mlirOperationEqual(op, outside->around); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (!tileIsOutside(outside->around, value))
      continue;
    MlirOperation maker = tileDefiningOp(value);
    outside->areConstants &= arithConstantOpIsA(maker);
    if (outside->builder)
      addName(outside->names, value, tileOnlyResult(tileBuilderInsert(outside->builder, mlirOperationClone(maker))));
  }
  return MlirWalkResultAdvance;
}

bool sparseBodyStandsAlone(MlirBlock block) {
  Outside outside = {.around = mlirBlockGetParentOperation(block), .areConstants = true};
  mlirOperationWalk(outside.around, visitOutside, &outside, MlirWalkPreOrder);
  return outside.areConstants;
}

MlirValue sparseInlineAlone(TileBuilder *b, MlirBlock from, intptr_t count, const MlirValue *arguments) {
  Renamed names = {NULL};
  Outside outside = {mlirBlockGetParentOperation(from), b, &names, true};
  mlirOperationWalk(outside.around, visitOutside, &outside, MlirWalkPreOrder);
  return inlineOps(b, &names, from, count, arguments);
}

static bool isPlainConstant(MlirOperation op) {
  return arithConstantOpIsA(op) && !mlirTypeIsAShaped(mlirValueGetType(tileOnlyResult(op)));
}

bool sparseBodyIsElementwise(MlirBlock block) {
  MlirOperation end = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    bool isPart = isPlainConstant(op) || tileOpIsElementwise(op);
    if (!isPart || mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op))
      return false;
  }
  return sparseBodyStandsAlone(block);
}

static MlirType tileLike(MlirType tile, MlirType element) {
  int64_t shape[SparseMaxValues], rank = mlirShapedTypeGetRank(tile);
  for (int64_t axis = 0; axis < rank; ++axis)
    shape[axis] = mlirShapedTypeGetDimSize(tile, axis);
  return mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull());
}

static MlirValue spread(TileBuilder *b, MlirValue value, MlirType tile) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAShaped(type) ? value : tileBroadcastOpBuild(b, tileLike(tile, type), value);
}

MlirValue sparseInlineTiles(TileBuilder *b, MlirBlock from, intptr_t count, const MlirValue *arguments, MlirType tile) {
  enum { MostOperands = 3 };
  Renamed names = {NULL};
  Outside outside = {mlirBlockGetParentOperation(from), b, &names, true};
  mlirOperationWalk(outside.around, visitOutside, &outside, MlirWalkPreOrder);
  for (intptr_t i = 0; i < count; ++i)
    addName(&names, mlirBlockGetArgument(from, i), arguments[i]);
  MlirOperation end = mlirBlockGetTerminator(from);
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirValue operands[MostOperands];
    MlirType result = tileOnlyResultType(op);
    if (!isPlainConstant(op))
      result = tileLike(tile, result);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      operands[i] = spread(b, nameOf(&names, mlirOperationGetOperand(op, i)), tile);
    addName(&names, tileOnlyResult(op), tileOnlyResult(tileBuildLike(b, op, operands, 1, &result)));
  }
  MlirValue yielded = spread(b, nameOf(&names, tileOnlyOperand(end)), tile);
  free(names.from);
  free(names.to);
  return yielded;
}

MlirValue sparseBodyEnd(SparseLowering *lowering, SparseBody *body, intptr_t count, const MlirValue *inputs,
                        MlirValue init, MlirValue value) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(init);
  MlirAttribute maps[SparseMaxValues];
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, 1));
  for (intptr_t i = 0; i <= count; ++i)
    maps[i] = map;
  linalgYieldOpCreate(&body->builder, 1, &value);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body->block);
  MlirAttribute none = mlirAttributeGetNull();
  MlirOperation op =
      linalgGenericOpCreate(b, 1, &type, count, inputs, 1, &init, mlirArrayAttrGet(b->context, count + 1, maps),
                            tileBuildIteratorTypes(b, 1, 0), none, none, region);
  return tileOnlyResult(op);
}

//===--- branches -----------------------------------------------------------===//

static MlirValue endRegion(SparseLowering *lowering, MlirValue value) {
  if (!mlirValueIsNull(value))
    scfYieldOpCreate(&lowering->builder, 1, &value);
  return value;
}

SparseBranch sparseBranchBegin(SparseLowering *lowering, MlirValue condition) {
  SparseBranch branch = {.outside = lowering->builder, .condition = condition};
  lowering->builder = tileBuilderInRegion(&branch.outside, &branch.regions[0], 0, NULL);
  return branch;
}

void sparseBranchElse(SparseLowering *lowering, SparseBranch *branch, MlirValue value) {
  branch->first = endRegion(lowering, value);
  lowering->builder = tileBuilderInRegion(&branch->outside, &branch->regions[1], 0, NULL);
}

MlirValue sparseBranchEnd(SparseLowering *lowering, SparseBranch *branch, MlirValue value) {
  endRegion(lowering, value);
  lowering->builder = branch->outside;
  if (!mlirValueIsNull(branch->condition) && !mlirValueIsNull(branch->first) && !mlirValueIsNull(value)) {
    MlirType type = mlirValueGetType(value);
    return tileOnlyResult(
        scfIfOpCreate(&lowering->builder, 1, &type, branch->condition, branch->regions[0], branch->regions[1]));
  }
  for (int i = 0; i < 2; ++i)
    mlirRegionDestroy(branch->regions[i]);
  return (MlirValue){NULL};
}
