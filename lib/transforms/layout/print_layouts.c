// tile-print-layouts: what every tile of a kernel looks like, as a table on standard error; the IR stays as it is.
// Expects: scheduled kernels; kernels without layouts give one line. Leaves: everything.
// Cost: one conversion plan per tile.convert_layout.
#include "lib/transforms/layout/layout.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/pass.h"
#include "lib/layout/convert.h"
#include "mlir-c/BuiltinAttributes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MostLayouts = 256 };

// The table is gathered whole, since kernels are passed in parallel.
typedef struct Table {
  FILE *out;
  MlirAttribute layouts[MostLayouts];
  int count;
  bool hasTiles;
} Table;

static int numberOf(Table *table, MlirAttribute layout) {
  for (int i = 0; i < table->count; ++i)
    if (mlirAttributeEqual(table->layouts[i], layout))
      return i;
  if (table->count == MostLayouts)
    return MostLayouts;
  table->layouts[table->count] = layout;
  return table->count++;
}

static uint32_t shapeOf(MlirType type, int64_t *shape) {
  intptr_t rank = tileTypeGetRank(type);
  for (intptr_t i = 0; i < rank && i < TILE_LAYOUT_MAX_AXES; ++i)
    shape[i] = tileTypeGetSize(type, i);
  return (uint32_t)rank;
}

//===--- a conversion --------------------------------------------------------------===//

static void printPlan(Table *table, MlirOperation op) {
  MlirType from = tileConvertLayoutOpGetInputType(op), to = tileConvertLayoutOpGetResultType(op);
  TileLayout source = tileLayoutAttrGetLayout(tileTypeGetLayout(from));
  TileLayout target = tileLayoutAttrGetLayout(tileTypeGetLayout(to));
  unsigned bits = tileElementWidth(tileTypeGetElement(to));
  TileConversionTarget machine = {.elementBits = bits ? bits : 64, .shuffleBits = 32};
  machine.shared = (TileAccessLimits){.elementBytes = 1, .vectorBytes = 16, .banks = 32, .bankBytes = 4};
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  TileConversion plan;
  TileError error;
  if (!tileConversionPlan(&source, &target, shape, shapeOf(to, shape), &machine, &plan, &error)) {
    fprintf(table->out, "    from #%d: %s\n", numberOf(table, tileTypeGetLayout(from)), error.text);
    return;
  }
  fprintf(table->out, "    from #%d: %s", numberOf(table, tileTypeGetLayout(from)), tileConversionKindName(plan.kind));
  if (plan.kind == TileConversionShuffles)
    fprintf(table->out, ", %u shuffles, %u selects", plan.cost.shuffles, plan.cost.selects);
  if (plan.kind == TileConversionShared)
    fprintf(table->out, ", %" PRIu64 " bytes, %u stores of %u, %u loads of %u, %u conflicts", plan.shared.bytes,
            plan.cost.stores, plan.shared.elementBytes << plan.shared.store.vectorBits, plan.cost.loads,
            plan.shared.elementBytes << plan.shared.load.vectorBits, plan.cost.conflicts);
  fprintf(table->out, "; %.0f cycles\n", plan.cost.cycles);
}

//===--- a tile -----------------------------------------------------------------------===//

static void printTile(Table *table, MlirValue value, const char *maker) {
  MlirType type = mlirValueGetType(value);
  char shape[96], element[64];
  int64_t sizes[TILE_LAYOUT_MAX_AXES];
  uint64_t copies = 1;
  MlirAttribute attribute = tileTypeIsATile(type) ? tileTypeGetLayout(type) : (MlirAttribute){NULL};
  if (mlirAttributeIsNull(attribute))
    return;
  table->hasTiles = true;
  TileLayout layout = tileLayoutAttrGetLayout(attribute);
  uint32_t rank = shapeOf(type, sizes);
  if (tileLayoutHolds(&layout, sizes, rank, sizes, NULL))
    tileLayoutCovers(&layout, sizes, rank, &copies, NULL);
  fprintf(table->out, "  %-24s %12s x %-6s #%-3d %5" PRIu64 " registers, %" PRIu64 " %s\n", maker,
          tileShapeText(type, shape, sizeof shape), tileTypeText(tileTypeGetElement(type), element, sizeof element),
          numberOf(table, attribute), tileLayoutDimSize(&layout, TileLayoutReg), copies,
          copies == 1 ? "copy" : "copies");
}

static void printArguments(Table *table, MlirOperation op, const char *name) {
  char maker[64];
  snprintf(maker, sizeof maker, "%s, argument", name);
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        printTile(table, mlirBlockGetArgument(block, i), maker);
}

static MlirWalkResult visit(MlirOperation op, void *data) {
  char name[48];
  snprintf(name, sizeof name, "%.*s", (int)tileOpName(op).length, tileOpName(op).data);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    printTile(data, mlirOperationGetResult(op, i), name);
  if (tileConvertLayoutOpIsA(op) && !mlirAttributeIsNull(tileTypeGetLayout(tileConvertLayoutOpGetResultType(op))))
    printPlan(data, op);
  printArguments(data, op, name);
  return MlirWalkResultAdvance;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  Table *table = calloc(1, sizeof *table);
  tessera_text_t text;
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(kernel, "sym_name"));
  (void)pass;
  if (!table || !(table->out = tessera_text_open(&text))) {
    free(table);
    return tileError(kernel, "out of memory");
  }
  fprintf(table->out, "kernel @%.*s\n", (int)name.length, name.data);
  mlirOperationWalk(kernel, visit, table, MlirWalkPreOrder);
  for (int i = 0; i < table->count; ++i) {
    MlirStringRef layout = tileLayoutAttrGetText(table->layouts[i]);
    fprintf(table->out, "  #%-3d %.*s\n", i, (int)layout.length, layout.data);
  }
  if (!table->hasTiles)
    fprintf(table->out, "  no layouts\n");
  bool ok = tessera_text_close(&text, table->out);
  if (ok)
    fwrite(text.data, 1, text.size, stderr);
  tessera_text_free(&text);
  free(table);
  return ok || tileError(kernel, "out of memory");
}

const MlirExtPassDefinition tilePrintLayoutsPass = {
    .argument = "tile-print-layouts",
    .summary = "Print the layout of every tile, and the plan of every conversion, as a table",
    .anchor = tileKernelOpName,
    .run = run,
};
