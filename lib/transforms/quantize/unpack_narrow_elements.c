// tile-unpack-narrow-elements{chip=NAME all=true}: shifts and masks in place of the tile.bitcast that
// tile-pack-narrow-elements makes of elements of 3, 5, 6 and 7 bits.
//
//   %w = tile.bitcast %p : tensor<64x96xi8> -> tensor<64x128xf6E2M3FN>   →   linalg.generic: (p[0] | p[1] << 8) >> 6, …
//
// A CPU's kernels take such elements from the bytes as they load them (convert-linalg-to-tile): there the pass does
// nothing, unless `all`. Expects: tensors. Leaves: what exporters write, on a GPU and where no kernels are made. Cost:
// linear in the code.
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/transforms/quantize/packed_rows.h"
#include "lib/transforms/quantize/quantize.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "upstream/func.h"

static bool isPacked(MlirOperation op) {
  return tileBitcastOpIsA(op) && !mlirValueIsNull(tilePackedBytesOf(tileOnlyResult(op)));
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps casts = tileCollectOps(function, isPacked);
  TileTarget target = {.machine = NULL};
  bool isAll = mlirExtPassGetBool(pass, "all");
  bool ok = !casts.count || isAll || tileTargetOfPass(function, pass, &target);
  bool expands = ok && casts.count && (isAll || target.search.isGpu);
  for (intptr_t i = 0; expands && i < casts.count; ++i) {
    TileBuilder b = tileBuilderBefore(casts.items[i]);
    MlirValue result = tileOnlyResult(casts.items[i]);
    mlirValueReplaceAllUsesOfWith(
        result, tileBuildShiftedTensor(&b, tileBitcastOpGetInput(casts.items[i]), mlirValueGetType(result)));
    mlirOperationDestroy(casts.items[i]);
  }
  mlirExtPassAddStatistic(pass, 0, expands ? (uint64_t)casts.count : 0);
  if (target.machine)
    tileTargetFree(&target);
  tileOpsFree(&casts);
  return ok;
}

const MlirExtPassDefinition tileUnpackNarrowElementsPass = {
    .argument = "tile-unpack-narrow-elements",
    .summary = "Unpack elements of 3, 5, 6 and 7 bits by shifts where kernels do not load them from bytes",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){TILE_CHIP_OPTION, {"all", "on CPUs too", MlirExtOption_Bool, "false"}, {NULL}},
    .statistics = (const char *const[]){"casts: tensors that are unpacked by shifts", NULL},
    .dialects = (const char *const[]){"tensor", "linalg", "arith", "func", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
