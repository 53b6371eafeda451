// Boxes and descriptors, carried out as the PTX manual states them on a simulated shared memory: what a box writes and
// what a descriptor reads must be what the buffer's layout says. The numbers of descriptors are those of CUTLASS's
// canonical layouts (cute/atom/mma_traits_sm90_gmma.hpp).
#include "lib/layout/box.h"
#include "lib/layout/descriptor.h"

#include "test/layout/layouts.h"

// Bytes: the swizzle of an address, PTX ISA, "Swizzling modes".
static uint64_t swizzled(uint64_t address, uint32_t bytes) {
  uint64_t mask = bytes ? (bytes / 16 - 1) << 7 : 0;
  return address ^ (address & mask) >> 3;
}

static bool isElement(const TileLayout *layout, uint64_t byte, uint32_t elementBytes, const uint32_t *wanted) {
  TileLayoutPoint at = {{(uint32_t)(byte / elementBytes)}}, seen = tileLayoutApply(layout, at);
  return byte % elementBytes == 0 && seen.at[0] == wanted[0] && seen.at[1] == wanted[1];
}

//===--- boxes ----------------------------------------------------------------===//

static uint32_t wrongInBoxes(const TileLayout *layout, const TileBoxPlan *plan, const uint32_t *axes, uint32_t bytes) {
  uint32_t wrong = 0;
  for (uint64_t n = 0; n < plan->count; ++n) {
    TileLayoutPoint origin = tileBoxOrigin(plan, n);
    for (uint32_t i = 0; i < plan->elements; ++i) {
      uint32_t at[2] = {origin.at[0], origin.at[1]};
      at[axes[0]] += i % plan->box[axes[0]];
      at[axes[1]] += i / plan->box[axes[0]];
      wrong += !isElement(layout, swizzled(n * plan->bytes + (uint64_t)i * bytes, plan->swizzleBytes), bytes, at);
    }
  }
  return wrong;
}

static const struct {
  const char *layout;
  uint32_t bytes, fast;
  uint32_t swizzle, box[2], count; // box 0: none fills it
} boxes[] = {
    {"offset [64:d1, 8:d0+d1*8, 16:d0*8]", 2, 1, 128, {128, 64}, 1},
    {"offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]", 2, 1, 128, {64, 64}, 4},
    {"offset [64:d0, 8:d1+d0*8, 8:d1*8, 2:d0*64]", 2, 0, 128, {64, 64}, 2},
    {"offset [32:d1, 8:d0+d1*4, 4:d0*8]", 4, 1, 128, {32, 32}, 1},
    {"offset [32:d1, 2:d0, 4:d0*2+d1*8, 8:d0*8]", 2, 1, 64, {64, 32}, 1},
    {"offset [16:d1, 4:d0, 2:d0*4+d1*8, 8:d0*8]", 2, 1, 32, {64, 16}, 1},
    {"offset [128:d1, 32:d0]", 1, 1, 0, {32, 128}, 1},
    {"offset [64:d1, 512:d0]", 2, 1, 0, {256, 64}, 2},
    {"offset [64:d1, 8:d0+d1*8, 4:d0*8, 3:d0*32]", 2, 1, 128, {32, 64}, 3},
    {"offset [8:d1, 64:d0, 4:d1*8]", 2, 1, 0, {64, 8}, 4},
    {"offset [4:d1, 64:d0]", 2, 1, 0, {0, 0}, 0},                 // rows of 8 bytes
    {"offset [64:d0, 64:d1]", 2, 1, 0, {0, 0}, 0},                // the other axis lies together
    {"offset [64:d1, 64:d0] pad 8 every 64", 2, 1, 0, {0, 0}, 0}, // rows apart
};

static void testBoxes(void) {
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; ++i) {
    TileLayout layout = parsed(boxes[i].layout);
    uint32_t axes[2] = {boxes[i].fast, 1 - boxes[i].fast};
    TileBoxPlan plan;
    TileError error = {.text = ""};
    bool fits = tileBoxPlan(&layout, axes, 2, boxes[i].bytes, 256, &plan, &error);
    CHECK(fits == (boxes[i].count > 0), "%s: %s", boxes[i].layout, error.text);
    if (!fits) {
      CHECK(error.text[0], "%s: no reason", boxes[i].layout);
      continue;
    }
    CHECK(plan.swizzleBytes == boxes[i].swizzle && plan.box[0] == boxes[i].box[0] && plan.box[1] == boxes[i].box[1] &&
              plan.count == boxes[i].count,
          "%s: %u boxes of %ux%u, swizzle %u", boxes[i].layout, (unsigned)plan.count, plan.box[0], plan.box[1],
          plan.swizzleBytes);
    uint32_t wrong = wrongInBoxes(&layout, &plan, axes, boxes[i].bytes);
    CHECK(wrong == 0, "%s: %u elements elsewhere", boxes[i].layout, wrong);
  }
}

//===--- descriptors ----------------------------------------------------------===//

// Where an instruction looks for (row, k): the manual's layouts, then the swizzle of the address.
static uint64_t readAt(uint64_t start, uint64_t descriptor, bool isRowMajor, uint32_t bytes, uint32_t row, uint32_t k) {
  static const uint32_t spans[] = {16, 128, 64, 32};
  uint32_t type = (uint32_t)(descriptor >> 62), span = spans[type], piece = 16 / bytes, whole = span / bytes;
  uint64_t leading = (descriptor >> 16 & 0x3fff) << 4, stride = (descriptor >> 32 & 0x3fff) << 4, at;
  if (!isRowMajor)
    at = row % 8 * span + row / 8 * stride + k % piece * bytes + k / piece * (type ? 16 : leading);
  else
    at = row % whole * bytes + row / whole * (type ? leading : stride) + k % 8 * span +
         k / 8 * (type ? stride : leading);
  return swizzled(start + at, type ? span : 0);
}

static uint32_t wrongInDescriptor(const TileLayout *layout, const int64_t *sizes, const TileDescriptorShape *shape,
                                  const TileDescriptorPlan *plan) {
  uint32_t wrong = 0;
  for (uint32_t row0 = 0; row0 < sizes[shape->rowAxis]; row0 += shape->rows)
    for (uint32_t k0 = 0; k0 < sizes[1 - shape->rowAxis]; k0 += shape->depth)
      for (uint32_t row = 0; row < shape->rows; ++row)
        for (uint32_t k = 0; k < shape->depth; ++k) {
          uint64_t start = tileDescriptorOffset(plan, row0, k0);
          uint64_t byte = readAt(start, plan->bits, plan->isRowMajor, shape->elementBytes, row, k);
          uint32_t wanted[2];
          wanted[shape->rowAxis] = row0 + row;
          wanted[1 - shape->rowAxis] = k0 + k;
          wrong += !isElement(layout, byte, shape->elementBytes, wanted);
        }
  return wrong;
}

static const struct {
  const char *layout;
  int64_t sizes[2];
  TileDescriptorShape shape;
  bool fits, isRowMajor;
  uint32_t type, leading, stride; // in units of 16 bytes, as the descriptor has them
} descriptors[] = {
    {"offset [64:d1, 8:d0+d1*8, 16:d0*8]", {128, 64}, {0, 64, 16, 2}, true, false, 1, 1, 64},
    {"offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]", {64, 256}, {1, 256, 16, 2}, true, true, 1, 512, 64},
    {"offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]", {64, 256}, {1, 128, 16, 2}, true, true, 1, 512, 64},
    {"offset [64:d0, 8:d1+d0*8, 16:d1*8]", {64, 128}, {1, 128, 16, 2}, true, false, 1, 1, 64},
    {"offset [32:d1, 2:d0, 4:d0*2+d1*8, 16:d0*8]", {128, 32}, {0, 64, 16, 2}, true, false, 2, 1, 32},
    {"offset [16:d1, 4:d0, 2:d0*4+d1*8, 16:d0*8]", {128, 16}, {0, 64, 16, 2}, true, false, 3, 1, 16},
    {"offset [32:d1, 2:d0, 4:d0*2+d1*8, 8:d0*8, 2:d1*32]", {64, 64}, {1, 64, 16, 2}, true, true, 2, 256, 32},
    {"offset [8:d1, 64:d0, 4:d1*8]", {64, 32}, {0, 64, 16, 2}, true, false, 0, 64, 8},
    {"offset [8:d0, 8:d1, 8:d0*8, 2:d1*8]", {64, 16}, {0, 64, 16, 2}, true, true, 0, 64, 8},
    {"offset [128:d1, 8:d0+d1*16, 16:d0*8]", {128, 128}, {0, 64, 32, 1}, true, false, 1, 1, 64},
    {"offset [32:d1, 8:d0+d1*4, 8:d0*8]", {64, 32}, {0, 64, 8, 4}, true, false, 1, 1, 64},
    {"offset [64:d1, 8:d0+d1*8, 4:d0*8, 3:d0*32]", {96, 64}, {0, 96, 16, 2}, true, false, 1, 1, 64},
    {"offset [64:d1, 128:d0]", {128, 64}, {0, 64, 16, 2}, false, false, 0, 0, 0},              // not swizzled
    {"offset [128:d0, 8:d1+d0*16, 4:d1*8]", {128, 32}, {0, 64, 32, 1}, false, false, 0, 0, 0}, // bytes along m
    {"offset [64:d1, 8:d0+d1*8, 16:d0*8]", {128, 64}, {0, 96, 16, 2}, false, false, 0, 0, 0},  // 128 is no multiple
    {"offset [64:d1, 64:d0] pad 8 every 64", {64, 64}, {0, 64, 16, 2}, false, false, 0, 0, 0},
};

static void testDescriptors(void) {
  for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; ++i) {
    TileLayout layout = parsed(descriptors[i].layout);
    TileDescriptorPlan plan;
    TileError error = {.text = ""};
    bool fits = tileDescriptorPlan(&layout, descriptors[i].sizes, &descriptors[i].shape, &plan, &error);
    CHECK(fits == descriptors[i].fits, "%s: %s", descriptors[i].layout, error.text);
    if (!fits) {
      CHECK(error.text[0], "%s: no reason", descriptors[i].layout);
      continue;
    }
    uint32_t type = (uint32_t)(plan.bits >> 62), leading = plan.bits >> 16 & 0x3fff, stride = plan.bits >> 32 & 0x3fff;
    CHECK(plan.isRowMajor == descriptors[i].isRowMajor && type == descriptors[i].type &&
              leading == descriptors[i].leading && stride == descriptors[i].stride,
          "%s: type %u, leading %u, stride %u, %s", descriptors[i].layout, type, leading, stride,
          plan.isRowMajor ? "along rows" : "along k");
    uint32_t wrong = wrongInDescriptor(&layout, descriptors[i].sizes, &descriptors[i].shape, &plan);
    CHECK(wrong == 0, "%s: %u elements elsewhere", descriptors[i].layout, wrong);
  }
}

int main(void) {
  testBoxes();
  testDescriptors();
  return checkResult(40);
}
