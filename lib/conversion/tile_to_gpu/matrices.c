// Fragments of products from shared memory by ldmatrix: four 8x8 matrices of 16-bit elements at a time, where the
// layouts allow it (lib/layout/access.h).
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "upstream/llvm.h"

uint32_t gpuMatrixRegister(const TileMatrixPlan *matrices, uint32_t instruction, uint32_t matrix, uint32_t slot) {
  uint32_t reg = tileMatrixRegister(&matrices->access, instruction, matrix, slot);
  uint32_t differ = (reg >> 2 ^ reg >> matrices->third) & 1;
  return reg ^ differ << 2 ^ differ << matrices->third;
}

void gpuLoadMatrices(Gpu *g, const Buffer *buffer, const TileMatrixPlan *matrices, uint32_t instruction,
                     MlirValue *registers) {
  int64_t two = 2;
  MlirType pairType = mlirVectorTypeGet(1, &two, gpuHeldType(g, tileTypeGetElement(buffer->type)));
  const Map *map = gpuMap(g, &matrices->rows, 1);
  MlirValue words[4],
      address = gpuBufferAddress(g, buffer, map, tileAccessRegister(&matrices->access.rows, instruction, 0));
  g->vocabulary->loadMatrix(&g->builder, address, 1 << matrices->access.matrixBits, matrices->access.transposed, words);
  for (uint32_t i = 0; i < 1u << matrices->access.matrixBits; ++i) {
    MlirValue pair = llvmBitcastOpBuild(&g->builder, pairType, words[i]);
    for (uint32_t slot = 0; slot < 2; ++slot)
      registers[gpuMatrixRegister(matrices, instruction, i, slot)] = gpuElementOf(&g->builder, pair, slot);
  }
}
