// Fragments of products from shared memory by ldmatrix: four 8x8 matrices of 16-bit elements at a time. In a matrix a
// lane gets two elements of row lane / 4, or (transposed) of column lane / 4; the rows are 16 bytes whose addresses the
// lanes hold, eight lanes a matrix. Whether that is what a layout wants is read off where its bits move in the buffer:
//   plain:      register bit 0 and lane bits 0, 1 walk within a row (offsets 1, 2, 4), lane bits 2 to 4 over rows
//   transposed: lane bits 2 to 4 walk within a row, register bit 0 and lane bits 0, 1 over rows
// Register bits 1 and 2 number the matrices.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "upstream/llvm.h"

#include <string.h>

enum { WarpWidthBits = 5, RowElements = 8 };

static TileLayoutPoint regStep(const TileLayout *offsets, uint32_t bit) { return offsets->steps[bit]; }

static TileLayoutPoint laneStep(const TileLayout *offsets, uint32_t bit) {
  return offsets->steps[offsets->bits[TileLayoutReg] + bit];
}

// The three bits walk elements 1, 2, 4 of a row.
static bool walkRow(TileLayoutPoint a, TileLayoutPoint b, TileLayoutPoint c) {
  return a.at[0] == 1 && b.at[0] == 2 && c.at[0] == 4;
}

static bool stayInRow(const TileLayout *offsets, uint32_t *count) {
  uint32_t total = tileLayoutBitCount(offsets);
  *count = 0;
  for (uint32_t bit = 0; bit < total; ++bit)
    *count += (offsets->steps[bit].at[0] & (RowElements - 1)) != 0;
  for (uint32_t i = 0; i < offsets->repeatCount; ++i)
    if (offsets->repeats[i].axis == 0 && offsets->repeats[i].stride % RowElements)
      return false;
  return true;
}

static bool append(TileLayout *layout, uint32_t dim, TileLayoutPoint step) {
  TileError error;
  return tileLayoutAppendBit(layout, dim, step, &error);
}

// Lane bits 0 to 2: the row of a matrix; 3 and 4: which matrix. Warps as they are; the other registers number the
// instructions.
static bool arrangeRows(const TileLayout *offsets, Matrices *matrices) {
  TileLayoutPoint none = {{0}};
  TileLayout rows = tileLayoutEmpty(TileLayoutValues);
  uint32_t registers = offsets->bits[TileLayoutReg], warp = registers + offsets->bits[TileLayoutLane];
  bool ok = true;
  for (uint32_t bit = 0; bit < 3; ++bit)
    ok = ok && append(&rows, TileLayoutLane,
                      !matrices->isTransposed ? laneStep(offsets, 2 + bit)
                      : bit                   ? laneStep(offsets, bit - 1)
                                              : regStep(offsets, 0));
  for (uint32_t bit = 0; bit < 2; ++bit)
    ok = ok && append(&rows, TileLayoutLane, bit < matrices->bits ? regStep(offsets, 1 + bit) : none);
  for (uint32_t bit = 0; bit < offsets->bits[TileLayoutWarp]; ++bit)
    ok = ok && append(&rows, TileLayoutWarp, offsets->steps[warp + bit]);
  for (uint32_t bit = 1 + matrices->bits; bit < registers; ++bit)
    ok = ok && append(&rows, TileLayoutReg, regStep(offsets, bit));
  TileError error;
  for (uint32_t i = 0; i < offsets->repeatCount; ++i)
    ok = ok && offsets->repeats[i].dim == TileLayoutReg && tileLayoutAppendRepeat(&rows, offsets->repeats[i], &error);
  matrices->rows = rows;
  return ok;
}

static bool findMatrices(const Buffer *buffer, const TileLayout *offsets, Matrices *matrices) {
  uint32_t registers = offsets->bits[TileLayoutReg], walking;
  if (offsets->bits[TileLayoutLane] != WarpWidthBits || !registers || !stayInRow(offsets, &walking) || walking != 3 ||
      buffer->layout.padAmount % RowElements || buffer->layout.padEvery % RowElements)
    return false;
  bool isPlain = walkRow(regStep(offsets, 0), laneStep(offsets, 0), laneStep(offsets, 1));
  matrices->isTransposed = walkRow(laneStep(offsets, 2), laneStep(offsets, 3), laneStep(offsets, 4));
  matrices->bits = registers > 3 ? 2 : registers - 1;
  matrices->bits = matrices->bits > 2 ? 2 : matrices->bits;
  return (isPlain || matrices->isTransposed) && arrangeRows(offsets, matrices);
}

intptr_t gpuMatrixRegister(const Matrices *matrices, intptr_t reg) {
  intptr_t differ = (reg >> 2 ^ reg >> matrices->exchanged) & 1;
  return matrices->exchanged == 2 ? reg : reg ^ differ << 2 ^ differ << matrices->exchanged;
}

bool gpuFindMatrices(const Gpu *g, const Buffer *buffer, const TileLayout *offsets, uint32_t exchanged,
                     Matrices *matrices) {
  TileLayout ordered = *offsets;
  matrices->exchanged = exchanged;
  if (exchanged != 2) {
    ordered.steps[2] = offsets->steps[exchanged];
    ordered.steps[exchanged] = offsets->steps[2];
  }
  MlirType element = tileTypeGetElement(buffer->type);
  bool isWord =
      mlirTypeIsAF16(element) || mlirTypeIsABF16(element) || (mlirTypeIsAInteger(element) && gpuBits(element) == 16);
  return g->vocabulary->loadMatrix && isWord && g->laneBits == WarpWidthBits &&
         findMatrices(buffer, &ordered, matrices);
}

void gpuLoadMatrices(Gpu *g, const Buffer *buffer, const Matrices *matrices, intptr_t instruction,
                     MlirValue *registers) {
  MlirType element = tileTypeGetElement(buffer->type);
  int64_t two = 2;
  MlirType pairType = mlirVectorTypeGet(1, &two, gpuHeldType(g, element));
  const Map *map = gpuMap(g, &matrices->rows, 1);
  intptr_t each = (intptr_t)1 << matrices->bits;
  MlirValue words[4];
  g->vocabulary->loadMatrix(&g->builder, gpuBufferAddress(g, buffer, map, instruction), (int)each,
                            matrices->isTransposed, words);
  for (intptr_t i = 0; i < each; ++i) {
    MlirValue pair = llvmBitcastOpBuild(&g->builder, pairType, words[i]);
    intptr_t first = gpuMatrixRegister(matrices, 2 * (each * instruction + i));
    registers[first] = gpuElementOf(&g->builder, pair, 0);
    registers[first + 1] = gpuElementOf(&g->builder, pair, 1);
  }
}
