// Packed views: narrow elements in wider words, placed by a layout of one word (`packed = #tile.layout<offset …>`). A
// word's block of elements is as large as the layout reaches along each axis; element e of a block lies at the layout's
// position of it, times the element's width. Loads shift and cut; stores change their bits atomically, as another
// thread or instance may write the word's other elements.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- the word -------------------------------------------------------------------------------===//

static bool isPowerOfTwo(uint64_t value) { return value && !(value & (value - 1)); }

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
    if (!isPowerOfTwo((uint64_t)packing->extents[axis]))
      return gpuRefuse(op, "a packed view whose blocks are no powers of two");
  }
  view->packing = packing;
  return true;
}

MlirValue gpuViewSize(Gpu *g, const View *view, intptr_t axis) {
  MlirValue size = view->memory.sizes[view->dims[axis]];
  if (!view->packing)
    return size;
  return tileBuildMul(&g->builder, size, tileBuildIndex(&g->builder, view->packing->extents[axis]));
}

//===--- an element ------------------------------------------------------------------------------===//

typedef struct Bits {
  MlirValue address, shift; // of the word, and in it (of the word's type)
  MlirType word, narrow;    // integers
} Bits;

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

static Bits bitsAt(Gpu *g, const Window *window, const Map *map, intptr_t reg) {
  const View *view = window->view;
  const Packing *packing = view->packing;
  TileBuilder *builder = &g->builder;
  MlirValue offset = tileBuildIndex(builder, 0), digits[MaxRank];
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    MlirValue stride = tileBuildIndex(builder, tileViewTypeGetStride(view->type, axis));
    MlirValue at = gpuCast(g, gpuCoordinate(g, map, axis, reg), g->index, true);
    at = tileBuildAdd(builder, window->origins[axis], tileBuildMul(builder, at, stride));
    digits[axis] = gpuAnd(g, gpuCast(g, at, g->i32, true), packing->extents[axis] - 1);
    MlirValue block = gpuShiftRight(g, at, __builtin_ctzll((unsigned long long)packing->extents[axis]));
    offset = tileBuildAdd(builder, offset, tileBuildMul(builder, block, view->memory.strides[view->dims[axis]]));
  }
  MlirValue bytes = tileBuildIndex(builder, gpuStoredBytes(view->memory.element));
  Bits bits = {.address = gpuAddress(g, view->memory.base, tileBuildMul(builder, offset, bytes)),
               .word = view->memory.element,
               .narrow = mlirIntegerTypeGet(g->context, packing->width)};
  MlirValue shift = gpuMul(g, placeInWord(g, packing, digits), gpuI32(g, packing->width));
  bits.shift = gpuCast(g, shift, bits.word, false);
  return bits;
}

//===--- loads and stores ---------------------------------------------------------------------------===//

void gpuLoadPacked(Gpu *g, const Window *window, const Map *map, intptr_t reg, MlirValue padding, MlirValue *value) {
  MlirType element = tileViewTypeGetElementType(window->view->type), held = gpuHeldType(g, element);
  MlirValue mask = gpuWindowMask(g, window, map, reg), word;
  Bits bits = bitsAt(g, window, map, reg);
  gpuLoadWhere(g, mask, bits.word, 1, bits.address, gpuStoredBytes(bits.word), gpuInteger(g, bits.word, 0), &word);
  *value = gpuCast(g, gpuBinary(g, "arith.shrui", word, bits.shift), bits.narrow, false);
  if (mlirTypeIsAFloat(held))
    *value = gpuOp(g, "arith.bitcast", held, *value);
  *value = gpuSelect(g, mask, *value, padding);
}

static void change(Gpu *g, int binary, MlirValue address, MlirValue word) {
  const char *scope = g->vocabulary->scope(tileString("device"));
  TileAttributeEntry attributes[] = {
      {"bin_op", mlirIntegerAttrGet(g->i64, binary)},
      {"ordering", mlirIntegerAttrGet(g->i64, 2)}, // relaxed
      {"syncscope", *scope ? mlirStringAttrGet(g->context, tileString(scope)) : (MlirAttribute){NULL}},
      {NULL}};
  tileBuildValue(&g->builder, "llvm.atomicrmw", mlirValueGetType(word), 2, (MlirValue[]){address, word}, attributes);
}

enum { BinAnd = 3, BinOr = 5 };

// Clears the element's bits, then sets them.
void gpuStorePacked(Gpu *g, const Window *window, const Map *map, intptr_t reg, MlirValue where, MlirValue value) {
  GpuIf branch = gpuIf(g, gpuBoth(g, where, gpuWindowMask(g, window, map, reg)), 0, NULL);
  Bits bits = bitsAt(g, window, map, reg);
  MlirValue ones = gpuInteger(g, bits.word, (int64_t)((1ull << window->view->packing->width) - 1));
  MlirValue kept = gpuXor(g, gpuBinary(g, "arith.shli", ones, bits.shift), gpuInteger(g, bits.word, -1));
  if (mlirTypeIsAFloat(mlirValueGetType(value)))
    value = gpuOp(g, "arith.bitcast", bits.narrow, value);
  MlirValue set = gpuBinary(g, "arith.shli", gpuCast(g, value, bits.word, false), bits.shift);
  change(g, BinAnd, bits.address, kept);
  change(g, BinOr, bits.address, set);
  gpuEndIf(g, &branch, 0, NULL, NULL);
}
