// Tiles of views: where their elements lie in global memory, which of them exist, and how many can be accessed at once.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "lib/support/integer.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/access.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>

enum { WidestAccess = 16 }; // bytes

//===--- the window ---------------------------------------------------------------------===//

MlirValue gpuViewSize(Gpu *g, const View *view, intptr_t axis) {
  MlirValue size = view->memory.sizes[view->dims[axis]];
  if (!view->packing)
    return size;
  return tileBuildMul(&g->builder, size, tileBuildIndex(&g->builder, view->packing->extents[axis]));
}

// ceil(distance / stride), at least 0 and at most `extent`, as i32.
static MlirValue limit(Gpu *g, MlirValue distance, int64_t stride, int64_t extent) {
  TileBuilder *builder = &g->builder;
  distance = tileBuildCeilDiv(builder, distance, tileBuildIndex(builder, stride));
  distance = tileBuildMax(builder, distance, tileBuildIndex(builder, 0));
  return gpuCast(g, tileBuildMin(builder, distance, tileBuildIndex(builder, extent)), g->i32, true);
}

static bool isNumber(MlirValue value, int64_t number) {
  int64_t seen;
  return tileConstantIndex(value, &seen) && seen == number;
}

static void limitAxis(Gpu *g, Window *window, intptr_t axis, MlirValue origin, TileIndexFacts facts) {
  const View *view = window->view;
  int64_t stride = tileViewTypeGetStride(view->type, axis), extent = tileViewTypeGetSize(view->type, axis);
  MlirValue size = gpuViewSize(g, view, axis);
  MlirValue high = limit(g, tileBuildSub(&g->builder, size, origin), stride, extent);
  if (!mlirValueIsNull(view->inside))
    high = gpuSelect(g, view->inside, high, gpuI32(g, 0));
  if (!isNumber(high, extent))
    window->high[axis] = high;
  if (facts.low >= 0)
    return;
  MlirValue low = limit(g, tileBuildSub(&g->builder, tileBuildIndex(&g->builder, 0), origin), stride, extent);
  if (!isNumber(low, 0))
    window->low[axis] = low;
}

static int64_t powerOfTwoIn(int64_t value) { return value ? value & -value : INT64_MAX; }

// The axis of stride 1, if a run of its elements starts aligned and lies in memory wholly or not at all.
static void findVector(Window *window, const TileIndexFacts *facts) {
  const View *view = window->view;
  const Memory *memory = &view->memory;
  int64_t bytes = tileStoredBytes(window->element);
  int64_t vector = tessera_min(WidestAccess / bytes, powerOfTwoIn(memory->facts.align) / bytes);
  window->fast = -1;
  window->vector = 1;
  if (view->packing)
    return;
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    intptr_t d = view->dims[axis];
    int64_t stride = tileViewTypeGetStride(view->type, axis), step = tileViewTypeGetStep(view->type, axis);
    if (window->fast < 0 && stride == 1 && isNumber(memory->strides[d], 1)) {
      window->fast = axis;
      vector = tessera_min(vector, powerOfTwoIn(facts[axis].multiple * step));
      if (!mlirValueIsNull(window->high[axis]) || !mlirValueIsNull(window->low[axis]))
        vector = tessera_min(vector, powerOfTwoIn(memory->facts.size[d]));
    } else {
      vector = tessera_min(vector, powerOfTwoIn(memory->facts.stride[d]));
    }
  }
  if (window->fast >= 0 && vector > 1)
    window->vector = vector;
}

Window gpuWindow(Gpu *g, const View *view, MlirOperation op) {
  Window window = {.view = view, .element = view->memory.element};
  intptr_t firstIndex, count;
  window.rank = tileViewTypeGetRank(view->type);
  tileOpOperands(op, "indices", &firstIndex, &count);
  TileIndexFacts facts[MaxRank];
  TileBuilder *builder = &g->builder;
  MlirValue offset = tileBuildIndex(builder, 0);
  for (intptr_t axis = 0; axis < window.rank; ++axis) {
    MlirValue stride = view->memory.strides[view->dims[axis]], origin = tileBuildIndex(builder, 0);
    facts[axis] = (TileIndexFacts){0, 0, 0};
    if (!mlirOperationIsNull(view->op)) { // a part of a buffer has one tile
      MlirValue index = mlirOperationGetOperand(op, firstIndex + axis);
      facts[axis] = tileIndexFacts(index);
      MlirValue step = tileBuildIndex(builder, tileViewTypeGetStep(view->type, axis));
      origin = tileBuildMul(builder, gpuScalar(g, index), step);
    }
    offset = tileBuildAdd(builder, offset, tileBuildMul(builder, origin, stride));
    window.strides[axis] =
        tileBuildMul(builder, stride, tileBuildIndex(builder, tileViewTypeGetStride(view->type, axis)));
    window.origins[axis] = origin;
    limitAxis(g, &window, axis, origin, facts[axis]);
  }
  window.base = gpuElementAt(g, view->memory.base, offset, window.element);
  findVector(&window, facts);
  return window;
}

//===--- a register of it -----------------------------------------------------------------===//

// What differs between registers goes to the limit, which is the same in all threads, and not to the coordinate, of
// which every thread would hold one for each register.
MlirValue gpuWindowMask(Gpu *g, const Window *window, const Map *map, intptr_t reg) {
  MlirValue mask = window->rank ? (MlirValue){NULL} : window->view->inside;
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    if (mlirValueIsNull(window->high[axis])) // the tile's size is the limit
      mask = gpuBoth(g, mask, gpuIsBelow(g, map, axis, reg, tileViewTypeGetSize(window->view->type, axis)));
    if (mlirValueIsNull(window->high[axis]) && mlirValueIsNull(window->low[axis]))
      continue;
    int64_t constant;
    MlirValue at = gpuCoordinateParts(g, map, axis, reg, &constant), thread = mlirValueIsNull(at) ? gpuI32(g, 0) : at;
    if (!mlirValueIsNull(window->high[axis]))
      mask = gpuBoth(g, mask, gpuCompare(g, ArithCmpI_Slt, thread, gpuSub(g, window->high[axis], gpuI32(g, constant))));
    if (!mlirValueIsNull(window->low[axis]))
      mask = gpuBoth(g, mask, gpuCompare(g, ArithCmpI_Sge, thread, gpuSub(g, window->low[axis], gpuI32(g, constant))));
  }
  return mask;
}

// Bytes from the window's base: in 32 bits where that is enough; what differs between registers comes last.
MlirValue gpuWindowAddress(Gpu *g, const Window *window, const Map *map, intptr_t reg) {
  int64_t bytes = tileStoredBytes(window->element);
  int64_t last = 0;
  MlirValue narrow = {NULL}, wide = {NULL};
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    int64_t stride, constant;
    bool isStatic = tileConstantIndex(window->strides[axis], &stride);
    if (isStatic && stride * bytes * tileViewTypeGetSize(window->view->type, axis) < INT32_MAX / MaxRank) {
      MlirValue at = gpuCoordinateParts(g, map, axis, reg, &constant);
      narrow = mlirValueIsNull(at) ? narrow : gpuAdd(g, narrow, gpuMul(g, at, gpuI32(g, stride * bytes)));
      last += constant * stride * bytes;
      continue;
    }
    MlirValue at = gpuCoordinate(g, map, axis, reg);
    wide = gpuAdd(g, wide,
                  gpuMul(g, gpuMul(g, gpuCast(g, at, g->index, true), window->strides[axis]),
                         tileBuildIndex(&g->builder, bytes)));
  }
  MlirValue address = gpuAddress(g, window->base, wide);
  address = mlirValueIsNull(narrow) ? address : gpuAddress(g, address, gpuCast(g, narrow, g->i64, true));
  return gpuAddress(g, address, gpuI32(g, last));
}

intptr_t gpuWindowVector(const Window *window, const TileLayout *layout, uint32_t *slots) {
  uint32_t bytes = (uint32_t)tileStoredBytes(window->element);
  if (window->fast < 0 || window->vector < 2)
    return 1;
  uint64_t bound = (uint64_t)window->vector;
  int64_t size = tileViewTypeGetSize(window->view->type, window->fast);
  // No run reaches from the tile into what the layout has beyond it.
  if ((int64_t)tileLayoutExtent(layout, (uint32_t)window->fast) > size)
    bound |= (uint64_t)size;
  TileMemoryFacts facts = {
      .axis = (uint32_t)window->fast, .alignment = (uint64_t)window->vector * bytes, .bound = bound & -bound};
  TileAccessLimits limits = {.elementBytes = bytes, .vectorBytes = WidestAccess};
  return tileAccessWidest(layout, &facts, &limits, slots);
}

MlirValue gpuPadding(Gpu *g, const View *view) {
  MlirType element = tileViewTypeGetElementType(view->type);
  MlirStringRef pad = tileViewTypeGetPad(view->type);
  if (!mlirTypeIsAFloat(element) || tileStringEquals(pad, "zero"))
    return gpuZero(g, element);
  double value = tileStringEquals(pad, "neg_zero") ? -0.0
                 : tileStringEquals(pad, "nan")    ? (double)NAN
                 : tileStringEquals(pad, "inf")    ? (double)INFINITY
                                                   : -(double)INFINITY;
  return gpuConstant(g, mlirFloatAttrDoubleGet(g->context, element, value));
}
