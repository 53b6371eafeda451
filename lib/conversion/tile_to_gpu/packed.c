// Packed views: narrow elements in wider words, placed by a layout of one word (`packed = #tile.layout<offset …>`). A
// word's block of elements is as large as the layout reaches along each axis; element e of a block lies at the layout's
// position of it, times the element's width. What is done with those bits: cells.c.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "lib/support/integer.h"

#include "dialects/tile/questions.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- the word -------------------------------------------------------------------------------===//

// Every bit of an offset moves along one axis, by a power of two.
static bool isPlain(const TileLayout *layout) {
  for (uint32_t bit = 0; bit < layout->bits[TileLayoutOffset]; ++bit) {
    int terms = 0;
    for (int axis = 0; axis < MaxRank; ++axis)
      terms += __builtin_popcount(layout->steps[bit].at[axis]);
    if (terms != 1)
      return false;
  }
  return !layout->repeatCount && !layout->padAmount;
}

bool gpuPackView(Gpu *g, MlirOperation op, View *view) {
  MlirType element = tileViewTypeGetElementType(view->type), word = view->memory.element;
  Packing *packing = gpuAllocate(g, sizeof *packing);
  packing->layout = tileLayoutAttrGetLayout(tileViewTypeGetPacked(view->type));
  packing->width = gpuBits(element);
  if (!mlirTypeIsAInteger(word) || mlirTypeIsAIndex(element))
    return gpuRefuse(op, "a packed view of anything but numbers in integers");
  if (!isPlain(&packing->layout) ||
      tileLayoutDimSize(&packing->layout, TileLayoutOffset) * packing->width != gpuBits(word))
    return gpuRefuse(op, "a packed view whose layout does not fill a word by plain strides");
  for (intptr_t axis = 0; axis < tileViewTypeGetRank(view->type); ++axis) {
    packing->extents[axis] = (int64_t)tileLayoutExtent(&packing->layout, (uint32_t)axis);
    if (!tessera_is_power_of_two((uint64_t)packing->extents[axis]))
      return gpuRefuse(op, "a packed view whose blocks are not powers of two");
  }
  view->packing = packing;
  return true;
}

//===--- an element ------------------------------------------------------------------------------===//

// Bit s of a position within its block is a bit of the place in the word.
static MlirValue placeInWord(Gpu *g, const Packing *packing, MlirValue *digits) {
  MlirValue place = gpuI32(g, 0);
  for (uint32_t bit = 0; bit < packing->layout.bits[TileLayoutOffset]; ++bit)
    for (int axis = 0; axis < MaxRank; ++axis) {
      uint32_t step = packing->layout.steps[bit].at[axis];
      if (!step)
        continue;
      MlirValue one = gpuAnd(g, gpuShiftRight(g, digits[axis], __builtin_ctz(step)), 1);
      place = gpuAdd(g, place, gpuShiftLeft(g, one, bit));
    }
  return place;
}

GpuCell gpuPackedCell(Gpu *g, const View *view, const MlirValue *positions) {
  const Packing *packing = view->packing;
  MlirType word = view->memory.element;
  MlirValue blocks[MaxRank], digits[MaxRank];
  for (intptr_t axis = 0; axis < tileViewTypeGetRank(view->type); ++axis) {
    digits[axis] = gpuAnd(g, gpuCast(g, positions[axis], g->i32, true), packing->extents[axis] - 1);
    blocks[axis] = gpuShiftRight(g, positions[axis], __builtin_ctzll((unsigned long long)packing->extents[axis]));
  }
  MlirValue offset = gpuOffset(g, &view->memory, tileViewTypeGetRank(view->type), view->dims, blocks);
  MlirValue shift = gpuMul(g, placeInWord(g, packing, digits), gpuI32(g, packing->width));
  return (GpuCell){.address = gpuElementAt(g, view->memory.base, offset, word),
                   .element = tileViewTypeGetElementType(view->type),
                   .word = word,
                   .shift = gpuCast(g, shift, word, false)};
}

// Tiles begin with whole words. If a word has an element inside of memory, its first element is inside too.
static bool isByWords(const Window *window) {
  const View *view = window->view;
  for (intptr_t axis = 0; axis < window->rank; ++axis)
    if (view->packing->extents[axis] > 1 && (tileViewTypeGetStride(view->type, axis) != 1 ||
                                             tileViewTypeGetStep(view->type, axis) % view->packing->extents[axis]))
      return false;
  return true;
}

// The place in a word of a step of one register bit; -1 where the step leaves the word.
static int64_t placeOfStep(const Packing *packing, TileLayoutPoint step) {
  for (uint32_t bit = 0; bit < packing->layout.bits[TileLayoutOffset]; ++bit) {
    bool isSame = true;
    for (int axis = 0; axis < MaxRank; ++axis)
      isSame = isSame && packing->layout.steps[bit].at[axis] == step.at[axis];
    if (isSame)
      return (int64_t)1 << bit;
  }
  return -1;
}

intptr_t gpuPackedFirst(const Window *window, const TileLayout *layout, intptr_t reg, int64_t *bits) {
  const Packing *packing = window->view->packing;
  intptr_t first = reg;
  *bits = 0;
  for (uint32_t bit = 0; isByWords(window) && bit < layout->bits[TileLayoutReg]; ++bit) {
    int64_t place = placeOfStep(packing, tileLayoutStepOf(layout, TileLayoutReg, bit));
    if (!(reg >> bit & 1) || place < 0)
      continue;
    first &= ~((intptr_t)1 << bit);
    *bits += place * packing->width;
  }
  return first;
}

GpuCell gpuWindowCell(Gpu *g, const Window *window, const Map *map, intptr_t reg) {
  const View *view = window->view;
  TileBuilder *builder = &g->builder;
  MlirValue positions[MaxRank];
  if (!view->packing)
    return gpuCell(g, gpuWindowAddress(g, window, map, reg, NULL), window->element);
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    MlirValue stride = tileBuildIndex(builder, tileViewTypeGetStride(view->type, axis));
    MlirValue at = gpuCast(g, gpuCoordinate(g, map, axis, reg), g->index, true);
    positions[axis] = tileBuildAdd(builder, window->origins[axis], tileBuildMul(builder, at, stride));
  }
  return gpuPackedCell(g, view, positions);
}
