// tile-generalize-named-ops: runs upstream's linalg-generalize-named-ops and keeps our attributes.
//
// Why: upstream's pass drops the attributes of a named op, so that a #tile.schedule on linalg.matmul would have no
// effect. Expects: func.func. Leaves: linalg.generic with the `tile.` attributes of the named ops. How: the body of a
// named op becomes the body of the generic op, so its terminator carries the attributes meanwhile. Cost: linear.
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/upstream/faults.h"
#include "upstream/func.h"
#include "upstream/linalg.h"

static bool isNamed(MlirOperation op) { return tileOpIsStructured(op) && !linalgGenericOpIsA(op); }

static MlirOperation terminatorOf(MlirOperation op) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

static void moveOwnAttributes(MlirOperation from, MlirOperation to) {
  for (intptr_t i = mlirOperationGetNumDiscardableAttributes(from) - 1; i >= 0; --i) {
    MlirNamedAttribute entry = mlirOperationGetDiscardableAttribute(from, i);
    MlirStringRef name = mlirIdentifierStr(entry.name);
    if (!tileStringStartsWith(name, "tile."))
      continue;
    mlirOperationSetDiscardableAttributeByName(to, name, entry.attribute);
    mlirOperationRemoveDiscardableAttributeByName(from, name);
  }
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps named = tileCollectOps(function, isNamed);
  for (intptr_t i = 0; i < named.count; ++i)
    moveOwnAttributes(named.items[i], terminatorOf(named.items[i]));
  tileOpsFree(&named);
  if (!tileRunPipeline(function, "linalg-generalize-named-ops"))
    return false;
  TileOps generics = tileCollectOps(function, linalgGenericOpIsA);
  for (intptr_t i = 0; i < generics.count; ++i)
    moveOwnAttributes(terminatorOf(generics.items[i]), generics.items[i]);
  tileOpsFree(&generics);
  return true;
}

const MlirExtPassDefinition tileGeneralizeNamedOpsPass = {
    .argument = "tile-generalize-named-ops",
    .summary = "Run upstream's linalg-generalize-named-ops and keep the attributes of the Tile dialect",
    .anchor = funcFuncOpName,
    .dialects = (const char *const[]){"linalg", NULL},
    .run = run,
};
