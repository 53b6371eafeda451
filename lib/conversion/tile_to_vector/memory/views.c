// What a !tile.view and a !tile.buffer are on a CPU: an Access to a memref. A view names dimensions of its memref; a
// buffer is a memref with one dimension per run of its layout's modes, so that its addresses are plain strides again.
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/conversion/tile_to_vector/lowering.h"
#include "lib/ir/op_query.h"
#include "lib/support/integer.h"
#include "upstream/memref.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>

//===--- views ----------------------------------------------------------------------===//

static double padOfView(MlirType view) {
  static const struct {
    const char *name;
    double value;
  } pads[] = {{"zero", 0.0}, {"neg_zero", -0.0}, {"nan", NAN}, {"inf", INFINITY}, {"neg_inf", -INFINITY}};
  MlirStringRef name = tileViewTypeGetPad(view);
  for (size_t i = 0; i < sizeof pads / sizeof *pads; ++i)
    if (tileStringEquals(name, pads[i].name))
      return pads[i].value;
  return 0.0;
}

// Fills access->fixed from the op's `fixed` dimensions and operands; lists the others in `kept`.
static void fixDimensions(VecLowering *lowering, MlirOperation view, VecAccess *access, intptr_t *kept) {
  MlirAttribute fixed = tileViewOpGetFixed(view);
  intptr_t numFixed = mlirAttributeIsNull(fixed) ? 0 : mlirDenseArrayGetNumElements(fixed), numKept = 0;
  for (intptr_t i = 0; i < numFixed; ++i)
    access->fixed[mlirDenseI64ArrayGetElement(fixed, i)] = vecScalarOf(lowering, tileViewOpGetIndices(view, i));
  for (intptr_t j = 0; j < access->memrefRank; ++j)
    if (mlirValueIsNull(access->fixed[j]))
      kept[numKept++] = j;
}

// Memory of i1 holds a byte for each element. As i8 it is read and written by vectors: LLVM packs vectors of i1.
static void readBytes(VecLowering *lowering, VecAccess *access) {
  MlirType type = mlirValueGetType(access->memref), byte = vecStorageOf(access->storage);
  int64_t sizes[MaxRank];
  if (vecBitsOf(access->storage) != 1)
    return;
  for (intptr_t d = 0; d < access->memrefRank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  MlirType bytes = mlirMemRefTypeGet(byte, access->memrefRank, sizes, mlirMemRefTypeGetLayout(type),
                                     mlirMemRefTypeGetMemorySpace(type));
  access->memref = tileBuildConversionCast(&lowering->builder, bytes, access->memref);
  access->storage = byte;
}

bool vecAccessOfView(VecLowering *lowering, MlirOperation view) {
  MlirValue result = tileViewOpGetResult(view), memref = vecScalarOf(lowering, tileViewOpGetSource(view));
  MlirType type = mlirValueGetType(result), memrefType = mlirValueGetType(memref);
  VecAccess *access = vecLoweringAllocate(lowering, sizeof *access);
  int64_t offset;
  *access = (VecAccess){.memref = memref, .memrefRank = mlirShapedTypeGetRank(memrefType), .pad = padOfView(type)};
  access->shape = (VecShape){.rank = tileViewTypeGetRank(type), .element = tileViewTypeGetElementType(type)};
  access->storage = mlirShapedTypeGetElementType(memrefType);
  access->root = tileMemoryRoot(tileViewOpGetSource(view));
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(memrefType, access->strides, &offset)))
    return tileError(view, "not lowered to the CPU yet: a memref whose layout has no strides");
  intptr_t kept[MaxRank];
  fixDimensions(lowering, view, access, kept);
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    intptr_t j = kept[tileViewTypeGetOrder(type, d)];
    access->shape.sizes[d] = tileViewTypeGetSize(type, d);
    access->steps[d] = tileViewTypeGetStep(type, d);
    access->dims[d] = (VecAccessDim){.stride = tileViewTypeGetStride(type, d),
                                     .numDigits = 1,
                                     .digits = {{.divisor = 1, .memrefDim = j}},
                                     .size = tileBuildSize(&lowering->builder, memref, j)};
  }
  if (!mlirAttributeIsNull(tileViewTypeGetPacked(type)) && !vecPackAccess(lowering, view, access))
    return false;
  if (mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    readBytes(lowering, access);
  vecRecordNew(lowering, result, VecRecord_Access)->access = access;
  return true;
}

// A tile at position `low` to `high` of its dimension: which edges may it cross?
static void findEdges(VecAccessDim *dim, const TileIndexFacts *facts, int64_t step, int64_t span) {
  int64_t low = 0, high = 0, size;
  dim->mayUnder =
      facts->low < 0 && (facts->low == INT64_MIN || __builtin_mul_overflow(facts->low, step, &low) || low < 0);
  dim->mayOver = facts->high == INT64_MAX || !tileConstantIndex(dim->size, &size) ||
                 __builtin_mul_overflow(facts->high, step, &high) || high + span > size;
  dim->originMultiple = facts->multiple * step;
}

VecAccess *vecAccessAt(VecLowering *lowering, const VecAccess *access, MlirOperation op, intptr_t first) {
  VecAccess *at = vecLoweringAllocate(lowering, sizeof *at);
  *at = *access;
  intptr_t numIndices = mlirOperationGetNumOperands(op) - first;
  for (intptr_t d = 0; d < access->shape.rank && d < numIndices; ++d) {
    MlirValue index = mlirOperationGetOperand(op, first + d);
    if (vecIsTile(mlirValueGetType(index)))
      continue; // a gather places this axis
    TileIndexFacts facts = tileIndexFacts(index);
    int64_t constant, span = (access->shape.sizes[d] - 1) * access->dims[d].stride + 1;
    VecCoord coord =
        tileConstantIndex(index, &constant) ? vecCoordConstant(constant) : vecCoordOf(vecScalarOf(lowering, index));
    at->dims[d].origin = vecCoordTimes(&lowering->builder, coord, access->steps[d]);
    findEdges(&at->dims[d], &facts, access->steps[d], span);
  }
  return at;
}

//===--- buffers -----------------------------------------------------------------------===//

// A run of positions of the offset that walk one axis: `count` of them, each a step of `divisor` along the axis.
typedef struct Run {
  intptr_t axis;
  int64_t divisor, count, stride;
} Run;

typedef struct Runs {
  Run items[TILE_LAYOUT_MAX_BITS + TILE_LAYOUT_MAX_REPEATS];
  intptr_t count;
} Runs;

static void addWalk(Runs *runs, Run run) {
  Run *last = runs->count ? &runs->items[runs->count - 1] : NULL;
  if (last && last->axis == run.axis && last->divisor * last->count == run.divisor)
    last->count *= run.count;
  else
    runs->items[runs->count++] = run;
}

// The only axis that moves, or -1.
static intptr_t onlyAxis(const TileLayoutPoint *step) {
  intptr_t axis = -1;
  for (intptr_t a = 0; a < TILE_LAYOUT_MAX_AXES; ++a)
    if (step->at[a] && axis >= 0)
      return -1;
    else if (step->at[a])
      axis = a;
  return axis;
}

// False when the layout is not made of runs: swizzles and copies, which a CPU's buffer has no use for.
static bool runsOfLayout(const TileLayout *layout, Runs *runs) {
  int64_t stride = 1;
  for (uint32_t bit = 0; bit < layout->bits[TileLayoutOffset]; ++bit, stride *= 2) {
    intptr_t axis = onlyAxis(&layout->steps[bit]);
    if (axis < 0)
      return false;
    addWalk(runs, (Run){axis, layout->steps[bit].at[axis], 2, stride});
  }
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    const TileLayoutRepeat *repeat = &layout->repeats[i];
    if (repeat->axis < 0)
      return false;
    addWalk(runs, (Run){repeat->axis, repeat->stride, repeat->count, stride});
    stride *= repeat->count;
  }
  return true;
}

bool vecRunsOfPacking(const TileLayout *layout, VecPacking *packing) {
  Runs runs = {.count = 0};
  if (!runsOfLayout(layout, &runs) || runs.count > MaxRank)
    return false;
  packing->numRuns = runs.count;
  for (intptr_t i = 0; i < runs.count; ++i)
    packing->runs[i] =
        (VecPackingRun){runs.items[i].axis, runs.items[i].divisor, runs.items[i].count, runs.items[i].stride};
  return true;
}

// Padding adds `amount` after every `every` elements: larger strides grow with it.
static bool padStride(const TileLayout *layout, int64_t *stride) {
  if (!layout->padEvery || *stride < (int64_t)layout->padEvery)
    return true;
  if (*stride % layout->padEvery)
    return false;
  *stride += *stride / layout->padEvery * layout->padAmount;
  return true;
}

// Splits every run that goes over the padding's period, so that each has one stride.
static Runs splitAtPadding(const TileLayout *layout, const Runs *runs) {
  Runs split = {.count = 0};
  for (intptr_t i = 0; i < runs->count; ++i) {
    Run run = runs->items[i];
    int64_t below = layout->padEvery ? layout->padEvery / run.stride : 0;
    if (below > 1 && below < run.count && run.count % below == 0) {
      split.items[split.count++] = (Run){run.axis, run.divisor, below, run.stride};
      run = (Run){run.axis, run.divisor * below, run.count / below, run.stride * below};
    }
    split.items[split.count++] = run;
  }
  return split;
}

static void addDigit(VecAccess *access, const Run *run, intptr_t memrefDim) {
  VecAccessDim *dim = &access->dims[run->axis];
  bool isLast = run->divisor * run->count >= access->shape.sizes[run->axis];
  dim->digits[dim->numDigits++] = (VecDigit){run->divisor, isLast ? 0 : run->count, memrefDim};
}

// The memref of a buffer: dimension 0 the stages of its ring (if any), then the runs, outermost first.
static bool describeBuffer(MlirOperation alloc, VecAccess *access, const TileLayout *layout, int64_t stages) {
  Runs runs = {.count = 0};
  if (!runsOfLayout(layout, &runs))
    return tileError(alloc, "not lowered to the CPU yet: a buffer whose layout is not made of plain strides");
  runs = splitAtPadding(layout, &runs);
  intptr_t ring = stages > 0;
  if (runs.count + ring > MaxRank)
    return tileError(alloc, "not lowered to the CPU yet: a buffer layout of %d modes (at most %d)", (int)runs.count,
                     MaxRank - (int)ring);
  access->memrefRank = runs.count + ring;
  for (intptr_t i = 0; i < runs.count; ++i) {
    intptr_t j = access->memrefRank - 1 - i;
    access->strides[j] = runs.items[i].stride;
    if (access->dims[runs.items[i].axis].numDigits == MaxDigits || !padStride(layout, &access->strides[j]))
      return tileError(alloc, "not lowered to the CPU yet: a buffer whose padding or splits have no constant strides");
    addDigit(access, &runs.items[i], j);
  }
  return true;
}

static MlirType memrefOfBuffer(const VecAccess *access, const int64_t *sizes) {
  MlirContext context = mlirTypeGetContext(access->storage);
  MlirAttribute layout = mlirStridedLayoutAttrGet(context, 0, access->memrefRank, access->strides);
  return mlirMemRefTypeGet(access->storage, access->memrefRank, sizes, layout, mlirAttributeGetNull());
}

static void sizesOfBuffer(const VecAccess *access, int64_t stages, int64_t *sizes) {
  if (stages > 0)
    sizes[0] = stages;
  for (intptr_t d = 0; d < access->shape.rank; ++d)
    for (intptr_t i = 0; i < access->dims[d].numDigits; ++i) {
      const VecDigit *digit = &access->dims[d].digits[i];
      sizes[digit->memrefDim] = digit->modulus ? digit->modulus : access->shape.sizes[d] / digit->divisor;
    }
}

bool vecAccessOfBuffer(VecLowering *lowering, MlirOperation alloc) {
  MlirValue result = tileAllocOpGetResult(alloc);
  MlirType type = mlirValueGetType(result);
  if (!tileTypeIsABuffer(type) || !tileStringEquals(tileBufferTypeGetLevel(type), "local"))
    return tileError(alloc, "not lowered to the CPU yet: memory other than a local buffer");
  VecAccess *access = vecLoweringAllocate(lowering, sizeof *access);
  MlirType element = tileBufferTypeGetElementType(type);
  *access =
      (VecAccess){.shape = {.rank = tileBufferTypeGetRank(type), .element = element}, .storage = vecStorageOf(element)};
  access->root = result;
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    access->shape.sizes[d] = tileBufferTypeGetSize(type, d);
    access->dims[d].stride = 1;
  }
  TileLayout layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(type));
  int64_t stages = tileBufferTypeGetStages(type), sizes[MaxRank], one = (int64_t)tileLayoutPaddedSize(&layout);
  if (!describeBuffer(alloc, access, &layout, stages))
    return false;
  if (stages > 0)
    access->strides[0] = one;
  sizesOfBuffer(access, stages, sizes);
  int64_t bytes = one * (stages > 0 ? stages : 1) * vecBytesOf(element);
  access->memref = vecMemrefNew(lowering, memrefOfBuffer(access, sizes), bytes);
  vecRecordNew(lowering, result, VecRecord_Access)->access = access;
  return true;
}

//===--- the same memory in another way ---------------------------------------------------===//

static void sliceDim(VecLowering *lowering, VecAccessDim *dim, MlirOperation slice, int64_t offset, intptr_t *next) {
  VecCoord start = vecCoordConstant(offset);
  int64_t multiple = offset;
  if (offset == mlirShapedTypeGetDynamicSize()) {
    MlirValue index = tileSliceOpGetOffsets(slice, (*next)++);
    start = vecCoordOf(vecScalarOf(lowering, index));
    multiple = tileIndexFacts(index).multiple;
  }
  dim->originMultiple = tessera_gcd(dim->originMultiple, multiple);
  dim->origin = vecCoordSum(&lowering->builder, dim->origin, vecCoordTimes(&lowering->builder, start, dim->stride));
}

static void sliceBuffer(VecLowering *lowering, MlirOperation slice, VecAccess *access) {
  MlirAttribute offsets = tileSliceOpGetStaticOffsets(slice);
  intptr_t next = 0;
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    sliceDim(lowering, &access->dims[d], slice, mlirDenseI64ArrayGetElement(offsets, d), &next);
    access->shape.sizes[d] = tileBufferTypeGetSize(mlirValueGetType(tileSliceOpGetResult(slice)), d);
  }
}

static void transposeBuffer(MlirOperation transpose, const VecAccess *from, VecAccess *to) {
  MlirAttribute permutation = tileTransposeOpGetPermutation(transpose);
  for (intptr_t d = 0; d < from->shape.rank; ++d) {
    int64_t source = mlirDenseI64ArrayGetElement(permutation, d);
    to->dims[d] = from->dims[source];
    to->shape.sizes[d] = from->shape.sizes[source];
  }
}

// The k-th use of a ring takes stage k mod stages.
static void slotOfBuffer(VecLowering *lowering, MlirOperation slot, VecAccess *access) {
  MlirValue use = vecScalarOf(lowering, tileSlotOpGetUse(slot));
  int64_t stages = tileBufferTypeGetStages(mlirValueGetType(tileSlotOpGetBuffer(slot)));
  access->fixed[0] = vecCoordValue(&lowering->builder, vecCoordModulo(&lowering->builder, vecCoordOf(use), stages));
}

bool vecAccessOfReinterpretation(VecLowering *lowering, MlirOperation op) {
  const VecRecord *source = vecRecordOf(lowering, tileOpViewedMemory(op));
  VecAccess *access = vecLoweringAllocate(lowering, sizeof *access);
  *access = *source->access;
  switch (tileOpKind(op)) {
  case TileOp_Slice:
    sliceBuffer(lowering, op, access);
    break;
  case TileOp_Transpose:
    transposeBuffer(op, source->access, access);
    break;
  case TileOp_Slot:
    slotOfBuffer(lowering, op, access);
    break;
  default:
    return tileError(op, "not lowered to the CPU yet: this reinterpretation of a buffer");
  }
  vecRecordNew(lowering, tileOnlyResult(op), VecRecord_Access)->access = access;
  return true;
}
