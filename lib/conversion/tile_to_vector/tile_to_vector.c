// convert-tile-to-vector: every tile.kernel becomes a func.func over memref, vector, scf, arith and math that upstream
// lowers to LLVM.
//
// Expects: kernels at kernel level (no layouts on tiles). Device functions are inlined. Leaves: per kernel one function
//   func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)
// that runs the programs begin to end (README.md); calls of tessera_local_alloc and _free for large buffers.
// Cost: linear in the code it emits; tiles are loops, only tiles held in registers are unrolled.
#include "lib/conversion/tile_to_vector/tile_to_vector.h"
#include "dialects/tile/sparse_product.h"
#include "lib/conversion/tile_to_vector/lowering.h"
#include "lib/ir/pass.h"

static bool hasBody(MlirOperation kernel) {
  return !mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)));
}

// Device functions are in the kernels that call them now.
static void eraseDeviceFunctions(MlirOperation module) {
  TileOps functions = tileCollectOps(module, tileFuncOpIsA);
  for (intptr_t i = 0; i < functions.count; ++i)
    mlirOperationDestroy(functions.items[i]);
  tileOpsFree(&functions);
}

// No CPU of ours multiplies what is sparse.
static void makeProductsDense(MlirOperation module) {
  TileOps products = tileCollectOps(module, tileMmaSparseOpIsA);
  for (intptr_t i = 0; i < products.count; ++i)
    tileMakeSparseProductDense(products.items[i]);
  tileOpsFree(&products);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  makeProductsDense(module);
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < kernels.count && ok; ++i)
    if (hasBody(kernels.items[i])) {
      ok = vecScheduleForOne(kernels.items[i]) && vecLowerKernel(kernels.items[i]);
      mlirExtPassAddStatistic(pass, 0, ok);
    }
  tileOpsFree(&kernels);
  if (ok)
    eraseDeviceFunctions(module);
  return ok;
}

static void dependents(MlirDialectRegistry registry) {
  tileInsertDialects(registry,
                     (const char *const[]){"llvm", "arith", "func", "memref", "scf", "vector", "math", "ub", NULL});
}

const MlirExtPassDefinition tileToVectorPass = {
    .argument = "convert-tile-to-vector",
    .summary = "Lower tile kernels to functions on memrefs and vectors",
    .anchor = "builtin.module",
    .statistics = (const char *const[]){"kernels: kernels lowered", NULL},
    .dependentDialects = dependents,
    .run = run,
};
