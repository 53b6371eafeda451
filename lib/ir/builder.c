// Building IR (builder.h): one way to make any op, and index arithmetic that folds on constants on the spot.
#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "mlir-c/Dialect/LLVM.h"

#include <string.h>

//===--- places -------------------------------------------------------------===//
TileBuilder tileBuilderBefore(MlirOperation op) {
  return (TileBuilder){
      .context = mlirOperationGetContext(op),
      .location = mlirOperationGetLocation(op),
      .block = mlirOperationGetBlock(op),
      .before = op,
  };
}

TileBuilder tileBuilderAfter(MlirOperation op) {
  TileBuilder builder = tileBuilderBefore(op);
  builder.before = mlirOperationGetNextInBlock(op);
  return builder;
}

TileBuilder tileBuilderAtEnd(MlirBlock block, MlirLocation location) {
  return (TileBuilder){.context = mlirLocationGetContext(location), .location = location, .block = block};
}

TileBuilder tileBuilderAtStart(MlirBlock block, MlirLocation location) {
  TileBuilder builder = tileBuilderAtEnd(block, location);
  builder.before = mlirBlockGetFirstOperation(block);
  return builder;
}

TileBuilder tileBuilderInPattern(MlirPatternRewriter rewriter, MlirOperation at) {
  TileBuilder builder = tileBuilderBefore(at);
  builder.rewriter = mlirPatternRewriterAsBase(rewriter);
  return builder;
}

MlirOperation tileBuilderInsert(TileBuilder *builder, MlirOperation op) {
  if (builder->rewriter.ptr) {
    if (mlirOperationIsNull(builder->before))
      mlirRewriterBaseSetInsertionPointToEnd(builder->rewriter, builder->block);
    else
      mlirRewriterBaseSetInsertionPointBefore(builder->rewriter, builder->before);
    return mlirRewriterBaseInsert(builder->rewriter, op);
  }
  if (mlirOperationIsNull(builder->before))
    mlirBlockAppendOwnedOperation(builder->block, op);
  else
    mlirBlockInsertOwnedOperationBefore(builder->block, builder->before, op);
  return op;
}

//===--- any op -------------------------------------------------------------===//
static void addAttributes(const TileBuilder *builder, MlirOperationState *state, const TileAttributeEntry *attributes) {
  for (; attributes && attributes->name; ++attributes) {
    MlirIdentifier name = mlirIdentifierGet(builder->context, tileString(attributes->name));
    MlirNamedAttribute entry = mlirNamedAttributeGet(name, attributes->value);
    if (!mlirAttributeIsNull(attributes->value))
      mlirOperationStateAddAttributes(state, 1, &entry);
  }
}

static MlirOperation create(TileBuilder *builder, MlirOperationState *state) {
  MlirOperation op = mlirOperationCreate(state);
  return mlirOperationIsNull(op) ? op : tileBuilderInsert(builder, op);
}

MlirOperation tileBuild(TileBuilder *builder, const char *name, intptr_t numOperands, const MlirValue *operands,
                        intptr_t numResults, const MlirType *results, const TileAttributeEntry *attributes,
                        intptr_t numRegions, const MlirRegion *regions) {
  MlirOperationState state = mlirOperationStateGet(tileString(name), builder->location);
  mlirOperationStateAddOperands(&state, numOperands, operands);
  if (numResults < 0)
    mlirOperationStateEnableResultTypeInference(&state);
  else
    mlirOperationStateAddResults(&state, numResults, results);
  addAttributes(builder, &state, attributes);
  mlirOperationStateAddOwnedRegions(&state, numRegions, regions);
  return create(builder, &state);
}

enum { MaxGroups = 64 }; // as many operands and results as a row may have (TileMaxValues)
static void addSegments(TileBuilder *builder, MlirOperationState *state, const char *name, intptr_t count,
                        const int32_t *sizes) {
  TileAttributeEntry entries[] = {{name, mlirDenseI32ArrayGet(builder->context, count, sizes)}, {NULL}};
  addAttributes(builder, state, entries);
}

static void addOperandGroups(TileBuilder *builder, MlirOperationState *state, const TileBuildGroups *groups) {
  int32_t sizes[MaxGroups];
  for (intptr_t i = 0; i < groups->numOperandGroups; ++i) {
    mlirOperationStateAddOperands(state, groups->operands[i].count, groups->operands[i].values);
    sizes[i] = (int32_t)groups->operands[i].count;
  }
  if (groups->operandSegments)
    addSegments(builder, state, "operandSegmentSizes", groups->numOperandGroups, sizes);
}

static void addResultGroups(TileBuilder *builder, MlirOperationState *state, const TileBuildGroups *groups) {
  int32_t sizes[MaxGroups];
  for (intptr_t i = 0; i < groups->numResultGroups; ++i) {
    mlirOperationStateAddResults(state, groups->results[i].count, groups->results[i].types);
    sizes[i] = (int32_t)groups->results[i].count;
  }
  if (groups->resultSegments)
    addSegments(builder, state, "resultSegmentSizes", groups->numResultGroups, sizes);
}

MlirOperation tileBuildGroups(TileBuilder *builder, const char *name, const TileBuildGroups *groups) {
  MlirOperationState state = mlirOperationStateGet(tileString(name), builder->location);
  addOperandGroups(builder, &state, groups);
  if (groups->numResultGroups < 0)
    mlirOperationStateEnableResultTypeInference(&state);
  else
    addResultGroups(builder, &state, groups);
  addAttributes(builder, &state, groups->attributes);
  for (intptr_t i = 0; i < groups->numRegions; ++i) {
    MlirRegion region = groups->regions[i].ptr ? groups->regions[i] : mlirRegionCreate();
    mlirOperationStateAddOwnedRegions(&state, 1, &region);
  }
  return create(builder, &state);
}

MlirValue tileBuildValue(TileBuilder *builder, const char *name, MlirType result, intptr_t numOperands,
                         const MlirValue *operands, const TileAttributeEntry *attributes) {
  MlirOperation op = tileBuild(builder, name, numOperands, operands, 1, &result, attributes, 0, NULL);
  return mlirOperationGetResult(op, 0);
}

//===--- constants ----------------------------------------------------------===//
static MlirValue buildConstant(TileBuilder *builder, MlirType type, MlirAttribute value) {
  TileAttributeEntry attributes[] = {{"value", value}, {NULL}};
  if (!builder->memo)
    return tileBuildValue(builder, "arith.constant", type, 0, NULL, attributes);
  MlirValue known = tileMemoFind(builder->memo, value.ptr);
  if (known.ptr)
    return known;
  TileBuilder start = tileBuilderAtStart(tileMemoBlock(builder->memo), builder->location);
  known = tileBuildValue(&start, "arith.constant", type, 0, NULL, attributes);
  tileMemoAdd(builder->memo, value.ptr, known);
  return known;
}

MlirValue tileBuildConstant(TileBuilder *builder, MlirAttribute value) {
  return buildConstant(builder, mlirAttributeGetType(value), value);
}

MlirValue tileBuildInteger(TileBuilder *builder, MlirType type, int64_t value) {
  bool shaped = mlirTypeIsAShaped(type);
  MlirAttribute number = mlirIntegerAttrGet(shaped ? mlirShapedTypeGetElementType(type) : type, value);
  return buildConstant(builder, type, shaped ? mlirDenseElementsAttrSplatGet(type, number) : number);
}

MlirValue tileBuildIndex(TileBuilder *builder, int64_t value) {
  return tileBuildInteger(builder, mlirIndexTypeGet(builder->context), value);
}

MlirValue tileBuildFloat(TileBuilder *builder, MlirType type, double value) {
  bool shaped = mlirTypeIsAShaped(type);
  MlirType element = shaped ? mlirShapedTypeGetElementType(type) : type;
  MlirAttribute number = mlirFloatAttrDoubleGet(builder->context, element, value);
  return buildConstant(builder, type, shaped ? mlirDenseElementsAttrSplatGet(type, number) : number);
}

//===--- texts ----------------------------------------------------------------===//
void tileBuildText(TileBuilder *builder, const char *symbol, const char *text) {
  MlirContext context = builder->context;
  size_t size = strlen(text) + 1;
  MlirRegion none = mlirRegionCreate();
  TileAttributeEntry attributes[] = {
      {"sym_name", mlirStringAttrGet(context, tileString(symbol))},
      {"global_type", mlirTypeAttrGet(mlirLLVMArrayTypeGet(mlirIntegerTypeGet(context, 8), (unsigned)size))},
      {"linkage", mlirLLVMLinkageAttrGet(context, MlirLLVMLinkageInternal)},
      {"constant", mlirUnitAttrGet(context)},
      {"value", mlirStringAttrGet(context, mlirStringRefCreate(text, size))},
      {NULL}};
  tileBuild(builder, "llvm.mlir.global", 0, NULL, 0, NULL, attributes, 1, &none);
}

MlirValue tileBuildTextAddress(TileBuilder *builder, const char *symbol) {
  TileAttributeEntry global[] = {{"global_name", mlirFlatSymbolRefAttrGet(builder->context, tileString(symbol))},
                                 {NULL}};
  return tileBuildValue(builder, "llvm.mlir.addressof", mlirLLVMPointerTypeGet(builder->context, 0), 0, NULL, global);
}

//===--- index arithmetic ---------------------------------------------------===//
static MlirValue buildIndexOp(TileBuilder *builder, const char *name, MlirValue a, MlirValue b) {
  return tileBuildValue(builder, name, mlirIndexTypeGet(builder->context), 2, (MlirValue[]){a, b}, NULL);
}

// Overflow is left to the op: a wrapped constant would hide it.
#define CONSTANTS(a, b)                                                                                                \
  int64_t x = 0, y = 0;                                                                                                \
  bool hasX = tileConstantIndex(a, &x), hasY = tileConstantIndex(b, &y)

MlirValue tileBuildAdd(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  int64_t sum;
  if (hasX && hasY && !__builtin_add_overflow(x, y, &sum))
    return tileBuildIndex(builder, sum);
  if ((hasX && x == 0) || (hasY && y == 0))
    return hasX && x == 0 ? b : a;
  return buildIndexOp(builder, "arith.addi", a, b);
}

MlirValue tileBuildSub(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  int64_t difference;
  if (hasX && hasY && !__builtin_sub_overflow(x, y, &difference))
    return tileBuildIndex(builder, difference);
  if (mlirValueEqual(a, b))
    return tileBuildIndex(builder, 0);
  return hasY && y == 0 ? a : buildIndexOp(builder, "arith.subi", a, b);
}

MlirValue tileBuildMul(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  int64_t product;
  if (hasX && hasY && !__builtin_mul_overflow(x, y, &product))
    return tileBuildIndex(builder, product);
  if ((hasX && x == 0) || (hasY && y == 1))
    return a;
  if ((hasY && y == 0) || (hasX && x == 1))
    return b;
  return buildIndexOp(builder, "arith.muli", a, b);
}

MlirValue tileBuildMin(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  if (mlirValueEqual(a, b) || (hasX && hasY))
    return x <= y ? a : b;
  return buildIndexOp(builder, "arith.minsi", a, b);
}

MlirValue tileBuildMax(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  if (mlirValueEqual(a, b) || (hasX && hasY))
    return x >= y ? a : b;
  return buildIndexOp(builder, "arith.maxsi", a, b);
}

// Signed, towards +infinity, as arith.ceildivsi.
static int64_t ceilDiv(int64_t x, int64_t y) { return x / y + (x % y != 0 && (x < 0) == (y < 0)); }

MlirValue tileBuildCeilDiv(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  if (hasY && y == 1)
    return a;
  if (hasX && hasY && y != 0 && !(x == INT64_MIN && y == -1))
    return tileBuildIndex(builder, ceilDiv(x, y));
  return buildIndexOp(builder, "arith.ceildivsi", a, b);
}

//===--- loops --------------------------------------------------------------===//
MlirOperation tileBuildFor(TileBuilder *builder, MlirValue lower, MlirValue upper, MlirValue step, intptr_t count,
                           const MlirValue *initial, MlirBlock *body) {
  *body = mlirBlockCreate(0, NULL, NULL);
  mlirBlockAddArgument(*body, mlirValueGetType(lower), builder->location);
  for (intptr_t i = 0; i < count; ++i)
    mlirBlockAddArgument(*body, mlirValueGetType(initial[i]), builder->location);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, *body);
  MlirOperationState state = mlirOperationStateGet(tileString("scf.for"), builder->location);
  mlirOperationStateAddOperands(&state, 3, (MlirValue[]){lower, upper, step});
  mlirOperationStateAddOperands(&state, count, initial);
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = mlirValueGetType(initial[i]);
    mlirOperationStateAddResults(&state, 1, &type);
  }
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  return tileBuilderInsert(builder, mlirOperationCreate(&state));
}

void tileBuildYield(TileBuilder *builder, intptr_t count, const MlirValue *values) {
  tileBuild(builder, "scf.yield", count, values, 0, NULL, NULL, 0, NULL);
}
