// convert-tile-to-vector: every tile.kernel becomes a func.func over memref, vector, scf, arith and math that upstream
// lowers to LLVM.
//
// Expects: kernels at kernel level (no layouts on tiles). Device functions are inlined. Leaves: per kernel one function
//   func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)
// that runs the programs begin to end (README.md), or with `plain-arguments` one that has the kernel's parameters, then
// the three sizes of the grid and the numbers begin and end, all of type index; calls of tessera_local_alloc and _free
// for large buffers. Cost: linear in the code it emits; tiles are loops, only tiles held in registers are unrolled.
#include "lib/conversion/tile_to_vector/tile_to_vector.h"
#include "dialects/tile/sparse_product.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/conversion/tile_to_vector/lowering.h"
#include "lib/ir/pass.h"
#include "upstream/builtin.h"

#include <string.h>

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

// The machine of the module; where this is a GPU, whose kernels run here all the same, this host.
static bool readWidths(MlirOperation module, MlirExtPass pass, VecWidths *widths) {
  TileMachine *machine = tileMachineOf(module, pass, NULL);
  const char *kind = machine ? tileMachineGetText(machine, "kind") : NULL;
  if (kind && strcmp(kind, "cpu")) {
    tileMachineDestroy(machine);
    machine = tileMachineOfHost(NULL);
  }
  int64_t vectors = 0;
  bool isStated = machine && tileMachineGetInteger(machine, "model.register.rows", &widths->rows) &&
                  tileMachineGetInteger(machine, "model.product.vectors", &vectors) &&
                  tileMachineGetInteger(machine, "model.depth.unroll", &widths->unroll);
  if (machine && !isStated)
    tileError(module,
              "machine %s: code for a CPU needs the keys 'model.register.rows', 'model.product.vectors' and "
              "'model.depth.unroll'",
              tileMachineGetName(machine));
  if (!machine || !tileMachineGetInteger(machine, "vector.bytes", &widths->vectorBytes))
    widths->vectorBytes = 0;
  for (int i = 0; i < TileNumDots; ++i)
    widths->hasDot[i] = machine && tileMachineHasDot(machine, &tileDots[i]);
  widths->lanes = Lanes;
  widths->columns = vectors * Lanes;
  tileMachineDestroy(machine);
  return isStated;
}

// A thread of a CPU runs one program after the other: one that waits for the next would wait for ever.
static bool checkWaits(MlirOperation kernel) {
  return mlirAttributeIsNull(tileOpAttribute(kernel, "cooperative")) ||
         tileError(kernel, "is cooperative: its programs wait for each other, but a CPU runs one after the other; "
                           "run it on a GPU or with --target=emulate:CHIP");
}

static bool run(MlirOperation module, MlirExtPass pass) {
  VecWidths widths;
  makeProductsDense(module);
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  bool ok = kernels.count == 0 || readWidths(module, pass, &widths);
  for (intptr_t i = 0; i < kernels.count && ok; ++i)
    if (hasBody(kernels.items[i])) {
      ok = checkWaits(kernels.items[i]) && vecScheduleForOne(kernels.items[i]) &&
           vecLowerKernel(kernels.items[i], &widths, mlirExtPassGetBool(pass, "plain-arguments"));
      mlirExtPassAddStatistic(pass, 0, ok);
    }
  tileOpsFree(&kernels);
  if (ok)
    eraseDeviceFunctions(module);
  return ok;
}

const MlirExtPassDefinition tileToVectorPass = {
    .argument = "convert-tile-to-vector",
    .summary = "Lower tile kernels to functions on memrefs and vectors",
    .anchor = builtinModuleOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"plain-arguments",
                                            "functions have the parameters of their kernels instead of packed ones; "
                                            "nothing of the runtime calls them",
                                            MlirExtOption_Bool, "false"},
                                           {NULL}},
    .statistics = (const char *const[]){"kernels: kernels lowered", NULL},
    .dialects = (const char *const[]){"llvm", "arith", "func", "memref", "scf", "vector", "math", "ub", NULL},
    .run = run,
};
