// ldmatrix as the PTX manual states it, carried out on a simulated buffer: every fragment that the planner calls
// readable so must come out exact, without bank conflicts where the buffer was chosen for it.
#include "lib/layout/access.h"

#include "lib/layout/convert.h"
#include "test/layout/layouts.h"

enum { MOST = 1 << 14 };

static uint32_t elementNumber(const TileLayout *layout, const int64_t *shape, TileLayoutPoint index) {
  TileLayoutPoint at = tileLayoutApply(layout, index);
  return at.at[0] * (uint32_t)shape[1] + at.at[1];
}

// Lane l's word of one matrix, whose rows begin at these offsets: PTX ISA, "ldmatrix".
static void matrixWord(const uint64_t rows[8], uint32_t lane, bool transposed, uint32_t elements, uint64_t *offsets) {
  for (uint32_t i = 0; i < elements; ++i)
    offsets[i] = transposed ? rows[2 * (lane % 4) + i] + lane / 4 : rows[lane / 4] + elements * (lane % 4) + i;
}

static uint32_t wrongIn(const TileLayout *fragment, const TileLayout *memory, const int64_t *shape,
                        const TileMatrixAccess *plan) {
  uint32_t wrong = 0, warps = (uint32_t)tileLayoutDimSize(fragment, TileLayoutWarp), filled = 0;
  for (uint32_t warp = 0; warp < warps; ++warp)
    for (uint32_t n = 0; n < plan->rows.count; ++n)
      for (uint32_t matrix = 0; matrix < 1u << plan->matrixBits; ++matrix) {
        uint64_t rows[8], offsets[4];
        for (uint32_t row = 0; row < 8; ++row)
          rows[row] = tileAccessOffset(&plan->rows, n, 32 * warp + 8 * matrix + row);
        for (uint32_t lane = 0; lane < 32; ++lane) {
          matrixWord(rows, lane, plan->transposed, 1u << plan->slotBits, offsets);
          for (uint32_t slot = 0; slot < 1u << plan->slotBits; ++slot, ++filled) {
            uint32_t reg = tileMatrixRegister(plan, n, matrix, slot);
            uint32_t wanted = elementNumber(fragment, shape, (TileLayoutPoint){{reg, lane, warp}});
            wrong += elementNumber(memory, shape, (TileLayoutPoint){{(uint32_t)offsets[slot]}}) != wanted;
          }
        }
      }
  CHECK(filled == warps * 32 * tileLayoutDimSize(fragment, TileLayoutReg), "%u registers filled", filled);
  return wrong;
}

static const struct {
  const char *fragment, *store;
  int64_t shape[2];
  uint32_t elementBytes;
  bool transposed; // how the buffer's rows lie: along the contracted axis or not
} cases[] = {
    // A of m16n8k16, rows along k.
    {"reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]",
     "reg [8:d1, 4:d0*32], lane [4:d1*8, 8:d0], warp [4:d0*8]",
     {128, 32},
     2,
     false},
    // B of m16n8k16, rows along n: transposed.
    {"reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]",
     "reg [8:d1, 4:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]",
     {32, 128},
     2,
     true},
    // B with rows along k.
    {"reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]",
     "reg [8:d0, 4:d1*32], lane [4:d0*8, 8:d1], warp [4:d1*8]",
     {32, 128},
     2,
     false},
    // A of m16n8k32 i8, an odd number of fragments.
    {"reg [4:d1, 2:d0*8, 4:d1*16, 3:d0*16], lane [4:d1*4, 8:d0]",
     "reg [16:d1, 6:d0*8], lane [4:d1*16, 8:d0]",
     {48, 64},
     1,
     false},
    // A of tf32 m16n8k8.
    {"reg [2:d0*8, 8:d1*4], lane [4:d1, 8:d0]", "reg [4:d1, 4:d0*4], lane [8:d1*4, 4:d0]", {16, 32}, 4, false},
};

static void testCases(void) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    TileLayout fragment = parsed(cases[i].fragment), store = parsed(cases[i].store), rows, memory;
    TileError error = {.text = ""};
    TileAccessLimits limits = {.elementBytes = cases[i].elementBytes, .vectorBytes = 16, .banks = 32, .bankBytes = 4};
    CHECK(tileMatrixRows(&fragment, cases[i].elementBytes, cases[i].transposed, &rows, &error), "%s", error.text);
    CHECK(tileLayoutSwizzle(&store, &rows, cases[i].shape, 2, &limits, &memory, &error), "%s", error.text);
    TileMatrixAccess plan;
    if (!tileMatrixAccessPlan(&fragment, &memory, cases[i].shape, 2, cases[i].elementBytes, &plan, &error)) {
      CHECK(false, "case %zu: %s in %s", i, error.text, printed(&memory).text);
      continue;
    }
    CHECK(plan.transposed == cases[i].transposed && plan.matrixBits == 2, "case %zu: 2^%u matrices", i,
          plan.matrixBits);
    CHECK(wrongIn(&fragment, &memory, cases[i].shape, &plan) == 0, "case %zu in %s", i, printed(&memory).text);
    TileAccess stored;
    CHECK(tileAccessPlan(&store, &memory, cases[i].shape, 2, &limits, &stored, &error), "%s", error.text);
    CHECK(tileAccessTraffic(&stored, 32, &limits).conflicts == 0 &&
              tileAccessTraffic(&plan.rows, 32, &limits).conflicts == 0,
          "case %zu has conflicts in %s", i, printed(&memory).text);
    CHECK(stored.vectorBits == (uint32_t)__builtin_ctz(16 / cases[i].elementBytes), "case %zu stores 2^%u", i,
          stored.vectorBits);
  }
}

static void testRefusals(void) {
  static const struct {
    const char *fragment, *memory, *message;
    uint32_t elementBytes;
  } refused[] = {
      {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]", "offset [2:d1, 16:d0, 4:d1*2]",
       "rows of 16 bytes do not lie together", 2},
      {"reg [4:d0, 2:d0*8, 2:d1*4], lane [4:d1, 2:d0*4, 4:_, 2:d1*8]", "offset [16:d1, 16:d0]", "", 2},
      {"reg [4:d1], lane [32:d0, 2:d1*4]", "offset [8:d1, 32:d0]", "has 32 lanes, not 2^6", 2},
      {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]", "offset [8:d1, 16:d0]", "elements of 8 bytes", 8},
      {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]", "offset [8:d1, 16:d0] pad 4 every 8", "do not lie together", 2},
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    TileLayout fragment = parsed(refused[i].fragment), memory = parsed(refused[i].memory);
    int64_t shape[2];
    TileError error = {.text = ""};
    TileMatrixAccess plan;
    for (uint32_t axis = 0; axis < 2; ++axis)
      shape[axis] = (int64_t)tileLayoutExtent(&fragment, axis);
    CHECK(!tileMatrixAccessPlan(&fragment, &memory, shape, 2, refused[i].elementBytes, &plan, &error), "case %zu", i);
    CHECK(strstr(error.text, refused[i].message), "case %zu: %s", i, error.text);
  }
}

int main(void) {
  testCases();
  testRefusals();
  return checkResult(40);
}
