// Fragments of products from shared memory by ldmatrix: four 8x8 matrices of 16-bit elements at a time, where the
// layouts allow it (lib/layout/access.h).
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "lib/layout/algebra.h"
#include "upstream/llvm.h"

enum { WarpWidthBits = 5, WordBytes = 2 };

bool gpuFindMatrices(const Gpu *g, const Buffer *buffer, const TileLayout *layout, uint32_t exchanged,
                     Matrices *matrices) {
  TileLayout ordered = *layout, rows;
  MlirType element = tileTypeGetElement(buffer->type);
  int64_t sizes[MaxRank];
  uint32_t rank = gpuExtents(buffer->type, &buffer->layout, sizes);
  bool isWord =
      mlirTypeIsAF16(element) || mlirTypeIsABF16(element) || (mlirTypeIsAInteger(element) && gpuBits(element) == 16);
  matrices->exchanged = exchanged;
  if (exchanged != 2) {
    ordered.steps[2] = layout->steps[exchanged];
    ordered.steps[exchanged] = layout->steps[2];
  }
  TileMatrixAccess *plan = &matrices->plan;
  return g->vocabulary->loadMatrix && isWord && g->laneBits == WarpWidthBits &&
         tileMatrixAccessPlan(&ordered, &buffer->layout, sizes, rank, WordBytes, plan, NULL) &&
         tileMatrixRows(&ordered, WordBytes, plan->transposed, &rows, NULL) &&
         tileLayoutConvert(&rows, &buffer->layout, sizes, rank, &matrices->rows, NULL);
}

uint32_t gpuMatrixRegister(const Matrices *matrices, uint32_t instruction, uint32_t matrix, uint32_t slot) {
  uint32_t reg = tileMatrixRegister(&matrices->plan, instruction, matrix, slot);
  uint32_t differ = (reg >> 2 ^ reg >> matrices->exchanged) & 1;
  return reg ^ differ << 2 ^ differ << matrices->exchanged;
}

void gpuLoadMatrices(Gpu *g, const Buffer *buffer, const Matrices *matrices, uint32_t instruction,
                     MlirValue *registers) {
  int64_t two = 2;
  MlirType pairType = mlirVectorTypeGet(1, &two, gpuHeldType(g, tileTypeGetElement(buffer->type)));
  const Map *map = gpuMap(g, &matrices->rows, 1);
  MlirValue words[4],
      address = gpuBufferAddress(g, buffer, map, tileAccessRegister(&matrices->plan.rows, instruction, 0));
  g->vocabulary->loadMatrix(&g->builder, address, 1 << matrices->plan.matrixBits, matrices->plan.transposed, words);
  for (uint32_t i = 0; i < 1u << matrices->plan.matrixBits; ++i) {
    MlirValue pair = llvmBitcastOpBuild(&g->builder, pairType, words[i]);
    for (uint32_t slot = 0; slot < 2; ++slot)
      registers[gpuMatrixRegister(matrices, instruction, i, slot)] = gpuElementOf(&g->builder, pair, slot);
  }
}
