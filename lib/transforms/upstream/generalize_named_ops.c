// tile-generalize-named-ops: runs upstream's linalg-generalize-named-ops and keeps our attributes. Packs and unpacks by
// tiles of unknown sizes, or padded by anything but 0, become linalg.generic too (generalize_relayouts.c).
//
// Why: upstream's pass drops the attributes of a named op, so that a #tile.schedule on linalg.matmul would have no
// effect. Expects: func.func. Leaves: linalg.generic with the `tile.` attributes of the named ops. How: the body of a
// named op becomes the body of the generic op, so its terminator carries the attributes meanwhile. Cost: linear.
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/upstream/faults.h"
#include "upstream/func.h"
#include "upstream/linalg.h"

#include <math.h>

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

// No view of a kernel has such tiles or such padding.
static bool isRelayoutByIndex(MlirOperation op) {
  if (linalgUnPackOpIsA(op))
    return linalgUnPackOpGetNumInnerTiles(op) > 0;
  if (!linalgPackOpIsA(op))
    return false;
  MlirValue padding = linalgPackOpGetPaddingValue(op);
  double number = 1;
  int64_t integer = 1;
  bool isZero = mlirValueIsNull(padding) || (tileConstantFloat(padding, &number) && number == 0 && !signbit(number)) ||
                (tileConstantIndex(padding, &integer) && integer == 0);
  return linalgPackOpGetNumInnerTiles(op) > 0 || !isZero;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps relayouts = tileCollectOps(function, isRelayoutByIndex);
  bool ok = true;
  for (intptr_t i = 0; i < relayouts.count && ok; ++i)
    ok = tileGeneralizeRelayout(relayouts.items[i]);
  tileOpsFree(&relayouts);
  if (!ok)
    return false;
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
    .dialects = (const char *const[]){"arith", "linalg", "tensor", NULL},
    .run = run,
};
