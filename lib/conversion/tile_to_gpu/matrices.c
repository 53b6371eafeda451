// Fragments of products from and to shared memory by ldmatrix and stmatrix: four 8x8 matrices of 16-bit elements at a
// time, where the layouts allow it (lib/layout/access.h).
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "upstream/llvm.h"

uint32_t gpuMatrixRegister(const TileMatrixPlan *matrices, uint32_t instruction, uint32_t matrix, uint32_t slot) {
  uint32_t reg = tileMatrixRegister(&matrices->access, instruction, matrix, slot);
  uint32_t differ = (reg >> 2 ^ reg >> matrices->third) & 1;
  return reg ^ differ << 2 ^ differ << matrices->third;
}

// The address of the row that the lane names.
static MlirValue rowAddress(Gpu *g, const Buffer *buffer, const TileMatrixPlan *matrices, uint32_t instruction) {
  return gpuBufferAddress(g, buffer, gpuMap(g, &matrices->rows, 1),
                          tileAccessRegister(&matrices->access.rows, instruction, 0));
}

void gpuLoadMatrices(Gpu *g, const Buffer *buffer, const TileMatrixPlan *matrices, uint32_t instruction,
                     MlirValue *registers) {
  int64_t two = 2;
  MlirType pairType = mlirVectorTypeGet(1, &two, gpuHeldType(g, tileTypeGetElement(buffer->type)));
  MlirValue words[4], address = rowAddress(g, buffer, matrices, instruction);
  g->vocabulary->loadMatrix(&g->builder, address, 1 << matrices->access.matrixBits, matrices->access.transposed, words);
  for (uint32_t i = 0; i < 1u << matrices->access.matrixBits; ++i) {
    MlirValue pair = llvmBitcastOpBuild(&g->builder, pairType, words[i]);
    for (uint32_t slot = 0; slot < 2; ++slot)
      registers[gpuMatrixRegister(matrices, instruction, i, slot)] = gpuElementOf(&g->builder, pair, slot);
  }
}

void gpuStoreMatrices(Gpu *g, const Buffer *buffer, const TileMatrixPlan *matrices, const MlirValue *registers) {
  MlirType wordType = mlirIntegerTypeGet(g->builder.context, 32);
  for (uint32_t instruction = 0; instruction < matrices->access.rows.count; ++instruction) {
    MlirValue words[4], address = rowAddress(g, buffer, matrices, instruction);
    for (uint32_t i = 0; i < 1u << matrices->access.matrixBits; ++i) {
      const MlirValue pair[] = {registers[gpuMatrixRegister(matrices, instruction, i, 0)],
                                registers[gpuMatrixRegister(matrices, instruction, i, 1)]};
      words[i] = llvmBitcastOpBuild(&g->builder, wordType, gpuVectorOf(&g->builder, 2, pair));
    }
    g->vocabulary->storeMatrix(&g->builder, address, 1 << matrices->access.matrixBits, matrices->access.transposed,
                               words);
  }
}
