// tile-check-allocation-sizes: an allocation of more elements than can be counted is an error of the program's caller.
//
//   memref.alloc(%m, %n) : memref<?x?xf32>   →   %e = call @tessera_multiply_sizes(%m, %n)
//                                                call @tessera_check_elements(%e)   // and the allocation
//
// Why: the lowering of an allocation multiplies its sizes without a look at overflow: 2^31 * 2^31 floats became an
// allocation of 0 bytes, and the program wrote where no memory was. Expects: func.func on buffers, before they become
// llvm. Leaves: static sizes that can be counted alone. Cost: two calls of a few instructions for an allocation.
#include "lib/capi/common.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/memory.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"

static const char *const multiply = "tessera_multiply_sizes", *const check = "tessera_check_elements";
static const int64_t most = INT64_C(1) << 58; // elements that any machine can address, of 16 bytes

static bool needsCheck(MlirOperation allocation) {
  MlirExtShape shape = {0};
  int64_t elements = 1;
  mlirExtTypeGetShape(memrefAllocOpGetMemrefType(allocation), &shape);
  for (intptr_t d = 0; d < shape.rank; ++d)
    if (mlirShapedTypeIsDynamicSize(shape.sizes[d]) || __builtin_mul_overflow(elements, shape.sizes[d], &elements))
      return true;
  return elements > most;
}

void tileDeclareSizeChecks(MlirOperation module) {
  TileBuilder top = tileBuilderAtTop(module);
  MlirType index = mlirIndexTypeGet(top.context), two[] = {index, index};
  if (mlirOperationIsNull(tileFindSymbol(module, multiply)))
    tileBuildDeclaration(&top, multiply, mlirFunctionTypeGet(top.context, 2, two, 1, &index));
  if (mlirOperationIsNull(tileFindSymbol(module, check)))
    tileBuildDeclaration(&top, check, mlirFunctionTypeGet(top.context, 1, &index, 0, NULL));
}

MlirValue tileBuildSizeProduct(TileBuilder *builder, MlirValue product, MlirValue size) {
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirOperation call = funcCallOpCreate(builder, 1, &index, 2, (MlirValue[]){product, size},
                                        mlirFlatSymbolRefAttrGet(builder->context, tileString(multiply)),
                                        (MlirAttribute){NULL}, (MlirAttribute){NULL}, (MlirAttribute){NULL});
  return tileOnlyResult(call);
}

void tileBuildAllocationCheck(MlirOperation allocation) {
  TileBuilder builder = tileBuilderBefore(allocation);
  MlirExtShape shape = {0};
  mlirExtTypeGetShape(memrefAllocOpGetMemrefType(allocation), &shape);
  MlirValue product = {NULL};
  for (intptr_t d = 0, next = 0; d < shape.rank; ++d) {
    MlirValue size = mlirShapedTypeIsDynamicSize(shape.sizes[d]) ? memrefAllocOpGetDynamicSizes(allocation, next++)
                                                                 : tileBuildIndex(&builder, shape.sizes[d]);
    product = mlirValueIsNull(product) ? size : tileBuildSizeProduct(&builder, product, size);
  }
  tileBuildCall(&builder, check, 1, &product);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps allocations = tileCollectOps(module, memrefAllocOpIsA);
  uint64_t checks = 0;
  for (intptr_t i = 0; i < allocations.count; ++i)
    if (needsCheck(allocations.items[i])) {
      tileBuildAllocationCheck(allocations.items[i]);
      ++checks;
    }
  if (checks)
    tileDeclareSizeChecks(module);
  mlirExtPassAddStatistic(pass, 0, checks);
  tileOpsFree(&allocations);
  return true;
}

const MlirExtPassDefinition tileCheckAllocationSizesPass = {
    .argument = "tile-check-allocation-sizes",
    .summary = "Make an allocation of more elements than can be counted an error of the caller",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"checks: allocations that are checked", NULL},
    .dialects = (const char *const[]){"arith", "func", NULL},
    .run = run,
};
