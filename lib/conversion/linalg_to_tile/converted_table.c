// Tables of converted weights. See converted_table.h.
#include "lib/conversion/linalg_to_tile/converted_table.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "upstream/arith.h"
#include "upstream/tensor.h"

enum { Codes = TileConvertedMostCodes };

//===--- tables of the body ---------------------------------------------------------------------===//

static bool dependsOn(const TileStructured *s, MlirValue value, MlirValue code) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirValueEqual(value, code))
    return true;
  bool isInside = !mlirOperationIsNull(op) && tileIsDefinedIn(value, s->body);
  for (intptr_t i = 0; isInside && i < mlirOperationGetNumOperands(op); ++i)
    if (dependsOn(s, mlirOperationGetOperand(op, i), code))
      return true;
  return false;
}

// `value` is a function of the code alone.
static bool isOfCode(const TileStructured *s, MlirValue value, MlirValue code) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirValueEqual(value, code) || arithConstantOpIsA(op))
    return true;
  bool is = !mlirOperationIsNull(op) && tileIsDefinedIn(value, s->body);
  for (intptr_t i = 0; is && i < mlirOperationGetNumOperands(op); ++i)
    is = isOfCode(s, mlirOperationGetOperand(op, i), code);
  return is;
}

// What is dear to compute for each row's table: a number of a table, or of a float that has no instruction.
static bool isLookup(const TileStructured *s, MlirOperation op, MlirValue code) {
  if (tensorExtractOpIsA(op))
    return dependsOn(s, tileOnlyResult(op), code);
  return arithExtFOpIsA(op) && tileElementWidth(mlirValueGetType(tileOnlyOperand(op))) <= 8 &&
         dependsOn(s, tileOnlyResult(op), code) && isOfCode(s, tileOnlyResult(op), code);
}

bool tileConvertedTableFind(const TileStructured *s, const TileConverted *converted, TileConvertedTable *table) {
  *table = (TileConvertedTable){.converted = converted};
  if (!tileConvertedFindCode(s, converted, &table->code))
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (!isLookup(s, op, table->code.code))
      continue;
    if (table->numLookups == MaxLookups)
      return false;
    table->lookups[table->numLookups++] = tileOnlyResult(op);
  }
  return true;
}

// The op with one axis for the codes, in place of the last reduction, and perhaps one for the columns before it.
static TileStructured withCodes(const TileStructured *s, const TileConvertedTable *table, bool hasColumns) {
  int last = table->converted->depth[table->converted->count - 1];
  TileStructured view = hasColumns ? tileStructuredOver(s, table->converted->n, last) : tileStructuredOver(s, last, -1);
  view.dims[last].extent = view.dims[last].tile = Codes;
  return view;
}

static MlirValue allCodes(TileKernelEmission *e, const TileConvertedTable *table, int axis) {
  MlirType type = tileKernelTileType(e, mlirValueGetType(table->code.code));
  MlirType i64 = mlirIntegerTypeGet(e->body.context, 64);
  MlirValue zero = tileBuildInteger(&e->body, mlirValueGetType(table->code.code), 0);
  return tileIotaOpBuild(&e->body, type, zero, mlirIntegerAttrGet(i64, axis));
}

static MlirValue rowOf(TileKernelEmission *e, MlirValue flat) {
  MlirType element = tileTypeGetElement(mlirValueGetType(flat));
  MlirType row = tileTileTypeGet(2, (int64_t[]){1, Codes}, element, mlirAttributeGetNull());
  return tileKernelBroadcast(e, flat, row, 1, (int64_t[]){0});
}

void tileConvertedTableBegin(TileKernelEmission *e, TileConvertedTable *table, int64_t columns) {
  const TileStructured *s = e->structured;
  TileStructured view = withCodes(s, table, false);
  int last = table->converted->depth[table->converted->count - 1];
  table->columns = columns;
  table->entries = tileProductBuffer(e, columns, Codes, mlirF32TypeGet(e->body.context));
  TileKernelScope scope = tileKernelEnter(e, &view);
  e->index[last] = tileBuildIndex(&e->body, 0);
  for (int i = 0; i < table->numLookups; ++i) {
    TileBodyMap map = {0};
    tileBodyMapSet(&map, table->code.code, allCodes(e, table, 0));
    MlirValue answers = tileKernelCloneValue(e, &map, table->lookups[i]);
    table->answers[i] = tileProductBuffer(e, 1, Codes, mlirValueGetType(table->lookups[i]));
    tileStoreOpBuild(&e->body, rowOf(e, answers), table->answers[i], 0, NULL);
  }
  tileKernelLeave(e, &scope);
}

//===--- the table ------------------------------------------------------------------------------===//

// The answers of a table of the body, for each column.
static MlirValue answersOf(TileKernelEmission *e, const TileConvertedTable *table, int i) {
  MlirValue row = tileKernelLoadBuffer(e, table->answers[i]);
  MlirType element = tileTypeGetElement(mlirValueGetType(row));
  MlirType flat = tileTileTypeGet(1, (int64_t[]){Codes}, element, mlirAttributeGetNull());
  row = tileReshapeOpBuild(&e->body, flat, row);
  return tileKernelBroadcast(e, row, tileKernelTileType(e, element), 1, (int64_t[]){0});
}

static bool changesInside(const TileConvertedTable *table, const TileOperand *operand) {
  for (int i = table->code.level; i < table->converted->count; ++i)
    if (tileOperandUses(operand, table->converted->depth[i]))
      return true;
  return false;
}

// Maps what the factor reads but for the codes and what they are made of.
static void mapRows(TileKernelEmission *e, const TileConvertedTable *table, TileBodyMap *map) {
  const TileStructured *s = e->structured;
  for (int i = 0; i < s->numInputs; ++i)
    if (i != table->converted->x && !changesInside(table, &s->operands[i]))
      tileKernelMapInputs(e, map, i, i + 1);
}

void tileConvertedTableFill(TileKernelEmission *e, const TileConvertedTable *table) {
  const TileStructured *s = e->structured;
  TileStructured view = withCodes(s, table, true);
  int last = table->converted->depth[table->converted->count - 1];
  TileKernelScope scope = tileKernelEnter(e, &view);
  TileBodyMap map = {0};
  e->index[last] = tileBuildIndex(&e->body, 0);
  mapRows(e, table, &map);
  tileBodyMapSet(&map, table->code.code, allCodes(e, table, 1));
  for (int i = 0; i < table->numLookups; ++i)
    tileBodyMapSet(&map, table->lookups[i], answersOf(e, table, i));
  MlirType f32 = mlirF32TypeGet(e->body.context);
  MlirValue entries = tileKernelCast(e, tileKernelCloneValue(e, &map, table->converted->factor), f32), none = {NULL};
  tileStoreOpBuild(&e->body, entries, tileKernelSlice(e, table->entries, table->columns, Codes, none, none), 0, NULL);
  tileKernelLeave(e, &scope);
}

//===--- codes ----------------------------------------------------------------------------------===//

// `value` of the body, an unsigned integer of at most 32 bits, as i32: shifts and masks of bytes have no instructions.
static MlirValue buildWide(TileKernelEmission *e, TileBodyMap *map, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  bool isBitwise = arithShRUIOpIsA(op) || arithAndIOpIsA(op) || arithOrIOpIsA(op) || arithXOrIOpIsA(op);
  if (isBitwise && tileIsDefinedIn(value, e->structured->body)) {
    MlirValue operands[2] = {buildWide(e, map, tileBinaryLhs(op)), buildWide(e, map, tileBinaryRhs(op))};
    return tileBuildBinary(&e->body, arithOpKind(op), operands[0], operands[1]);
  }
  if (arithSelectOpIsA(op) && tileIsDefinedIn(value, e->structured->body)) {
    MlirValue condition = tileKernelCloneValue(e, map, arithSelectOpGetCondition(op));
    MlirValue parts[2] = {buildWide(e, map, arithSelectOpGetTrueValue(op)),
                          buildWide(e, map, arithSelectOpGetFalseValue(op))};
    return arithSelectOpBuild(&e->body, condition, parts[0], parts[1]);
  }
  MlirValue tile = tileKernelCloneValue(e, map, value);
  MlirType i32 = mlirIntegerTypeGet(e->body.context, 32), type = mlirValueGetType(tile);
  return mlirTypeEqual(tileTypeGetElement(type), i32)
             ? tile
             : arithExtUIOpBuild(&e->body, tileTypeWithElement(type, i32), tile);
}

MlirValue tileConvertedTableLookUp(TileKernelEmission *e, const TileConvertedTable *table) {
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  for (int i = 0; i < s->numInputs; ++i)
    if (i != table->converted->x)
      tileKernelMapInputs(e, &map, i, i + 1);
  MlirValue codes = buildWide(e, &map, table->code.code), none = {NULL};
  MlirType f32 = mlirF32TypeGet(e->body.context), i64 = mlirIntegerTypeGet(e->body.context, 64);
  MlirValue entries = tileKernelLoadBuffer(e, tileKernelSlice(e, table->entries, table->columns, Codes, none, none));
  MlirAttribute bounds = mlirStringAttrGet(e->body.context, tileString("clamp"));
  return tileOnlyResult(tileGatherOpCreate(&e->body, tileKernelTileType(e, f32), entries, 1, &codes, none, none,
                                           mlirIntegerAttrGet(i64, 1), bounds));
}
