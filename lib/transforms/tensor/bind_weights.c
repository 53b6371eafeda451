// tile-bind-weights: constants that lie in files (dialects/tile/extern_weights.h) become constants of the program.
//
// Why: importers leave a model's weights where they are. Passes that fold, transpose or pack weights read them there.
// Expects: ml_program.global with the value #ml_program.extern and tile.source, anywhere below the module. Leaves:
// an arith.constant of a dense_resource that maps the file in place of each ml_program.global_load_const; the globals
// are gone. An error at the global where its file is missing, cut or changed. Cost: one checksum over the data.
#include "dialects/tile/extern_weights.h"
#include "lib/ir/support.h"
#include "lib/transforms/tensor/tensor.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/ml_program.h"

static bool isLoad(MlirOperation op) { return mlProgramGlobalLoadConstOpIsA(op) || mlProgramGlobalLoadOpIsA(op); }

static MlirAttribute nameOf(MlirOperation load) {
  return mlProgramGlobalLoadConstOpIsA(load) ? mlProgramGlobalLoadConstOpGetGlobal(load)
                                             : mlProgramGlobalLoadOpGetGlobal(load);
}

// The data go into every load of the global; returns their number, or -1 after an error.
static int64_t bind(MlirOperation global, const TileOps *loads) {
  MlirAttribute data = tileWeightsRead(global);
  if (mlirAttributeIsNull(data))
    return -1;
  int64_t count = 0;
  for (intptr_t i = 0; i < loads->count; ++i) {
    MlirAttribute name = mlirOperationIsNull(loads->items[i]) ? mlirAttributeGetNull() : nameOf(loads->items[i]);
    if (mlirAttributeIsNull(name) || !mlirAttributeIsAFlatSymbolRef(name) ||
        !mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(name), mlProgramGlobalOpGetSymNameValue(global)))
      continue;
    TileBuilder b = tileBuilderBefore(loads->items[i]);
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(loads->items[i]), arithConstantOpBuild(&b, data));
    mlirOperationDestroy(loads->items[i]);
    loads->items[i] = (MlirOperation){NULL};
    ++count;
  }
  mlirOperationDestroy(global);
  return count;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps globals = tileCollectOps(module, tileWeightsIsExtern),
          loads = globals.count ? tileCollectOps(module, isLoad) : (TileOps){NULL};
  bool ok = true;
  for (intptr_t i = 0; i < globals.count && ok; ++i) {
    int64_t count = bind(globals.items[i], &loads);
    ok = count >= 0;
    mlirExtPassAddStatistic(pass, 0, ok ? 1 : 0);
  }
  tileOpsFree(&globals);
  tileOpsFree(&loads);
  return ok;
}

const MlirExtPassDefinition tileBindWeightsPass = {
    .argument = "tile-bind-weights",
    .summary = "Map constants that lie in files, and check them",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"weights: mapped", NULL},
    .dialects = (const char *const[]){"arith", NULL},
    .run = run,
};
