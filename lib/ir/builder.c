// Building IR (builder.h): one way to make any op, and index arithmetic that folds on constants on the spot.
#include "lib/ir/builder.h"

#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/cf.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <stdarg.h>
#include <stdlib.h>
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

TileBuilder tileBuilderInRegion(const TileBuilder *around, MlirRegion *region, intptr_t count,
                                const MlirType *arguments) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  for (intptr_t i = 0; i < count; ++i)
    mlirBlockAddArgument(block, arguments[i], around->location);
  *region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(*region, block);
  return tileBuilderAtEnd(block, around->location);
}

TileBuilder tileBuilderAtTop(MlirOperation module) {
  return tileBuilderAtStart(tileOnlyBlock(mlirOperationGetRegion(module, 0)), mlirOperationGetLocation(module));
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

MlirOperation tileBuildLike(TileBuilder *builder, MlirOperation like, const MlirValue *operands, intptr_t numResults,
                            const MlirType *results) {
  MlirOperationState state =
      mlirOperationStateGet(mlirIdentifierStr(mlirOperationGetName(like)), mlirOperationGetLocation(like));
  mlirOperationStateAddOperands(&state, mlirOperationGetNumOperands(like), operands);
  mlirOperationStateAddResults(&state, numResults, results);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(like); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(like, i);
    mlirOperationStateAddAttributes(&state, 1, &attribute);
  }
  intptr_t numRegions = mlirOperationGetNumRegions(like);
  MlirOperation copy = numRegions ? mlirOperationClone(like) : (MlirOperation){NULL};
  for (intptr_t i = 0; i < numRegions; ++i) {
    MlirRegion region = mlirRegionCreate();
    mlirRegionTakeBody(region, mlirOperationGetRegion(copy, i));
    mlirOperationStateAddOwnedRegions(&state, 1, &region);
  }
  if (numRegions)
    mlirOperationDestroy(copy);
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
    const TileTypeGroup *group = &groups->results[i];
    for (intptr_t k = 0; k < group->count; ++k) {
      MlirType type = group->types ? group->types[k] : mlirValueGetType(group->like[k]);
      mlirOperationStateAddResults(state, 1, &type);
    }
    sizes[i] = (int32_t)groups->results[i].count;
  }
  if (groups->resultSegments)
    addSegments(builder, state, "resultSegmentSizes", groups->numResultGroups, sizes);
}

static void addRegions(MlirOperationState *state, intptr_t count, const MlirRegion *regions) {
  for (intptr_t i = 0; i < count; ++i) {
    MlirRegion region = mlirRegionIsNull(regions[i]) ? mlirRegionCreate() : regions[i];
    mlirOperationStateAddOwnedRegions(state, 1, &region);
  }
}

MlirAttribute tileBuildEnum(const TileBuilder *builder, unsigned bits, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, bits), value);
}

MlirOperation tileBuildGroups(TileBuilder *builder, const char *name, const TileBuildGroups *groups) {
  MlirOperationState state = mlirOperationStateGet(tileString(name), builder->location);
  addOperandGroups(builder, &state, groups);
  if (groups->numResultGroups < 0)
    mlirOperationStateEnableResultTypeInference(&state);
  else
    addResultGroups(builder, &state, groups);
  addAttributes(builder, &state, groups->attributes);
  addRegions(&state, groups->numRegions, groups->regions);
  addRegions(&state, groups->numMoreRegions, groups->moreRegions);
  mlirOperationStateAddSuccessors(&state, groups->numSuccessors, groups->successors);
  mlirOperationStateAddSuccessors(&state, groups->numMoreSuccessors, groups->moreSuccessors);
  return create(builder, &state);
}

MlirOperation tileBuildRenamed(MlirOperation op, const char *name, const char *attribute, const char *text) {
  TileBuilder b = tileBuilderBefore(op);
  intptr_t count = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  MlirValue *operands = calloc((size_t)count + 1, sizeof *operands);
  MlirType *types = calloc((size_t)results + 1, sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  for (intptr_t i = 0; i < results; ++i)
    types[i] = tileResultType(op, i);
  const TileAttributeEntry attributes[] = {
      {attribute, attribute ? tileBuildAttribute(&b, text) : mlirAttributeGetNull()}, {NULL, {NULL}}};
  MlirOperation renamed = tileBuild(&b, name, count, operands, results, types, attributes, 0, NULL);
  for (intptr_t i = 0; i < results; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), mlirOperationGetResult(renamed, i));
  mlirOperationDestroy(op);
  free(types);
  free(operands);
  return renamed;
}

MlirValue tileBuildValue(TileBuilder *builder, const char *name, MlirType result, intptr_t numOperands,
                         const MlirValue *operands, const TileAttributeEntry *attributes) {
  MlirOperation op = tileBuild(builder, name, numOperands, operands, 1, &result, attributes, 0, NULL);
  return mlirOperationGetResult(op, 0);
}

//===--- constants ----------------------------------------------------------===//
MlirValue tileBuildConstant(TileBuilder *builder, MlirAttribute value) {
  if (!builder->memo)
    return arithConstantOpBuild(builder, value);
  MlirValue known = tileMemoFind(builder->memo, value.ptr);
  if (!mlirValueIsNull(known))
    return known;
  TileBuilder start = tileBuilderAtStart(tileMemoBlock(builder->memo), builder->location);
  known = arithConstantOpBuild(&start, value);
  tileMemoAdd(builder->memo, value.ptr, known);
  return known;
}

MlirValue tileBuildInteger(TileBuilder *builder, MlirType type, int64_t value) {
  bool shaped = mlirTypeIsAShaped(type);
  MlirAttribute number = mlirIntegerAttrGet(shaped ? mlirShapedTypeGetElementType(type) : type, value);
  return tileBuildConstant(builder, shaped ? mlirDenseElementsAttrSplatGet(type, number) : number);
}

MlirValue tileBuildIndex(TileBuilder *builder, int64_t value) {
  return tileBuildInteger(builder, mlirIndexTypeGet(builder->context), value);
}

MlirValue tileBuildFloat(TileBuilder *builder, MlirType type, double value) {
  bool shaped = mlirTypeIsAShaped(type);
  MlirType element = shaped ? mlirShapedTypeGetElementType(type) : type;
  MlirAttribute number = mlirFloatAttrDoubleGet(builder->context, element, value);
  return tileBuildConstant(builder, shaped ? mlirDenseElementsAttrSplatGet(type, number) : number);
}

//===--- texts ----------------------------------------------------------------===//
void tileBuildText(TileBuilder *builder, const char *symbol, const char *text) {
  MlirContext context = builder->context;
  size_t size = strlen(text) + 1;
  MlirType type = mlirLLVMArrayTypeGet(mlirIntegerTypeGet(context, 8), (unsigned)size);
  MlirOperation global =
      llvmGlobalOpBuild(builder, mlirTypeAttrGet(type), mlirStringAttrGet(context, tileString(symbol)),
                        mlirLLVMLinkageAttrGet(context, MlirLLVMLinkageInternal), mlirRegionCreate());
  llvmGlobalOpSetConstant(global, mlirUnitAttrGet(context));
  llvmGlobalOpSetValue(global, mlirStringAttrGet(context, mlirStringRefCreate(text, size)));
}

MlirValue tileBuildTextAddress(TileBuilder *builder, const char *symbol) {
  return llvmAddressOfOpBuild(builder, mlirLLVMPointerTypeGet(builder->context, 0),
                              mlirFlatSymbolRefAttrGet(builder->context, tileString(symbol)));
}

MlirValue tileBuildNewText(TileBuilder *builder, MlirOperation module, const char *stem, const char *text) {
  TileBuilder top = tileBuilderAtTop(module);
  const char *symbol = mlirStringAttrGetValue(tileFreshSymbol(module, stem)).data; // ends in a zero byte
  tileBuildText(&top, symbol, text);
  return tileBuildTextAddress(builder, symbol);
}

//===--- functions of the runtime -------------------------------------------===//
MlirValue tileBuildLlvmCall(TileBuilder *builder, const char *function, MlirType result, intptr_t count,
                            const MlirValue *operands) {
  MlirAttribute noBundles = mlirDenseI32ArrayGet(builder->context, 0, NULL);
  MlirOperation call = llvmCallOpBuild(builder, result, count, operands, 0, NULL, noBundles);
  llvmCallOpSetCallee(call, mlirFlatSymbolRefAttrGet(builder->context, tileString(function)));
  return mlirTypeIsNull(result) ? (MlirValue){NULL} : llvmCallOpGetResult(call);
}

void tileBuildLlvmDeclaration(TileBuilder *builder, const char *function, MlirType type) {
  llvmLLVMFuncOpBuild(builder, mlirStringAttrGet(builder->context, tileString(function)), mlirTypeAttrGet(type),
                      mlirRegionCreate());
}

MlirValue tileBuildAlloca(TileBuilder *builder, MlirType element) {
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 64), 1);
  return llvmAllocaOpBuild(builder, mlirLLVMPointerTypeGet(builder->context, 0), one, mlirTypeAttrGet(element));
}

MlirValue tileBuildElementAddress(TileBuilder *builder, MlirValue base, MlirType element, int32_t index) {
  return llvmGEPOpBuild(builder, mlirValueGetType(base), base, 0, NULL,
                        mlirDenseI32ArrayGet(builder->context, 1, &index), mlirTypeAttrGet(element));
}

MlirValue tileBuildConversionCast(TileBuilder *builder, MlirType type, MlirValue value) {
  return tileOnlyResult(builtinUnrealizedConversionCastOpBuild(builder, 1, &type, 1, &value));
}

void tileBuildAssert(TileBuilder *builder, MlirValue condition, const char *message) {
  cfAssertOpBuild(builder, condition, mlirStringAttrGet(builder->context, tileString(message)));
}

// Functions that raise run once at most: what is live around their calls should be saved there, not on every way.
static void markCold(MlirOperation declaration, const char *function) {
  MlirContext context = mlirOperationGetContext(declaration);
  MlirAttribute cold = mlirStringAttrGet(context, tileString("cold"));
  if (!strncmp(function, "tessera_raise", strlen("tessera_raise")))
    mlirOperationSetDiscardableAttributeByName(declaration, tileString("passthrough"),
                                               mlirArrayAttrGet(context, 1, &cold));
}

void tileBuildDeclaration(TileBuilder *builder, const char *function, MlirType type) {
  MlirAttribute none = {NULL}, visibility = mlirStringAttrGet(builder->context, tileString("private"));
  markCold(funcFuncOpCreate(builder, mlirStringAttrGet(builder->context, tileString(function)), mlirTypeAttrGet(type),
                            visibility, none, none, none, mlirRegionCreate()),
           function);
}

void tileBuildCall(TileBuilder *builder, const char *function, intptr_t count, const MlirValue *operands) {
  funcCallOpBuild(builder, 0, NULL, count, operands, mlirFlatSymbolRefAttrGet(builder->context, tileString(function)));
}

//===--- integer arithmetic -------------------------------------------------===//
// Of any type of integers, or index. Overflow is left to the op: a wrapped constant would hide it.
#define CONSTANTS(a, b)                                                                                                \
  int64_t x = 0, y = 0;                                                                                                \
  bool hasX = tileConstantIndex(a, &x), hasY = tileConstantIndex(b, &y)

MlirValue tileBuildAdd(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  int64_t sum;
  if (hasX && hasY && !__builtin_add_overflow(x, y, &sum))
    return tileBuildInteger(builder, mlirValueGetType(a), sum);
  if ((hasX && x == 0) || (hasY && y == 0))
    return hasX && x == 0 ? b : a;
  return arithAddIOpBuild(builder, a, b);
}

MlirValue tileBuildSub(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  int64_t difference;
  if (hasX && hasY && !__builtin_sub_overflow(x, y, &difference))
    return tileBuildInteger(builder, mlirValueGetType(a), difference);
  if (mlirValueEqual(a, b))
    return tileBuildInteger(builder, mlirValueGetType(a), 0);
  return hasY && y == 0 ? a : arithSubIOpBuild(builder, a, b);
}

MlirValue tileBuildMul(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  int64_t product;
  if (hasX && hasY && !__builtin_mul_overflow(x, y, &product))
    return tileBuildInteger(builder, mlirValueGetType(a), product);
  if ((hasX && x == 0) || (hasY && y == 1))
    return a;
  if ((hasY && y == 0) || (hasX && x == 1))
    return b;
  return arithMulIOpBuild(builder, a, b);
}

MlirValue tileBuildMin(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  if (mlirValueEqual(a, b) || (hasX && hasY))
    return x <= y ? a : b;
  return arithMinSIOpBuild(builder, a, b);
}

MlirValue tileBuildMax(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  if (mlirValueEqual(a, b) || (hasX && hasY))
    return x >= y ? a : b;
  return arithMaxSIOpBuild(builder, a, b);
}

// Signed, towards +infinity, as arith.ceildivsi.
static int64_t ceilDiv(int64_t x, int64_t y) { return x / y + (x % y != 0 && (x < 0) == (y < 0)); }

MlirValue tileBuildCeilDiv(TileBuilder *builder, MlirValue a, MlirValue b) {
  CONSTANTS(a, b);
  if (hasY && y == 1)
    return a;
  if (hasX && hasY && y != 0 && !(x == INT64_MIN && y == -1))
    return tileBuildInteger(builder, mlirValueGetType(a), ceilDiv(x, y));
  return arithCeilDivSIOpBuild(builder, a, b);
}

MlirValue tileBuildDim(TileBuilder *builder, MlirValue shaped, int64_t axis) {
  MlirValue index = tileBuildIndex(builder, axis);
  return mlirTypeIsAMemRef(mlirValueGetType(shaped)) ? memrefDimOpBuild(builder, shaped, index)
                                                     : tensorDimOpBuild(builder, shaped, index);
}

MlirValue tileBuildSize(TileBuilder *builder, MlirValue shaped, int64_t axis) {
  int64_t size = mlirShapedTypeGetDimSize(mlirValueGetType(shaped), axis);
  return mlirShapedTypeIsDynamicSize(size) ? tileBuildDim(builder, shaped, axis) : tileBuildIndex(builder, size);
}

//===--- tensors ------------------------------------------------------------===//
enum { MaxAxes = 64 };

MlirValue tileBuildBuffer(TileBuilder *builder, MlirType memref) {
  MlirAttribute alignment = mlirIntegerAttrGet(mlirIntegerTypeGet(builder->context, 64), 64);
  return tileOnlyResult(memrefAllocOpCreate(builder, memref, 0, NULL, 0, NULL, alignment));
}

MlirValue tileBuildEmptyLike(TileBuilder *builder, MlirType type, MlirValue like) {
  MlirValue sizes[MaxAxes];
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[count++] = tileBuildSize(builder, like, i);
  return tensorEmptyOpBuild(builder, type, count, sizes);
}

MlirValue tileBuildSwapped(TileBuilder *builder, MlirValue matrix) {
  MlirType type = mlirValueGetType(matrix), element = mlirShapedTypeGetElementType(type);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 1), mlirShapedTypeGetDimSize(type, 0)};
  MlirType swapped = mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull());
  MlirValue sizes[2];
  intptr_t count = 0;
  for (intptr_t i = 0; i < 2; ++i)
    if (mlirShapedTypeIsDynamicSize(shape[i]))
      sizes[count++] = tileBuildSize(builder, matrix, 1 - i);
  MlirValue empty = tensorEmptyOpBuild(builder, swapped, count, sizes);
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(builder, &region, 2, (MlirType[]){element, element});
  MlirValue from = mlirBlockGetArgument(body.block, 0);
  linalgYieldOpBuild(&body, 1, &from);
  MlirAttribute permutation = mlirDenseI64ArrayGet(builder->context, 2, (const int64_t[]){1, 0});
  return tileOnlyResult(linalgTransposeOpBuild(builder, 1, &swapped, matrix, empty, permutation, region));
}

MlirAttribute tileBuildIteratorTypes(const TileBuilder *builder, intptr_t parallel, intptr_t reductions) {
  MlirAttribute items[MaxAxes];
  for (intptr_t i = 0; i < parallel + reductions; ++i)
    items[i] =
        linalgIteratorTypeAttr(builder, i < parallel ? LinalgIteratorType_Parallel : LinalgIteratorType_Reduction);
  return mlirArrayAttrGet(builder->context, parallel + reductions, items);
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
  return scfForOpBuild(builder, lower, upper, step, count, initial, region);
}

void tileBuildYield(TileBuilder *builder, intptr_t count, const MlirValue *values) {
  scfYieldOpBuild(builder, count, values);
}

//===--- memo -----------------------------------------------------------------===//

// Constants and parsed texts that are asked for again and again (TileMemo of builder.h): constants by their
// attribute, and a short list of texts.

enum { MaxTexts = 64 };

typedef struct Text {
  char *text;
  MlirAttribute attribute;
} Text;

struct TileMemo {
  MlirBlock block;
  TileTable constants;
  Text texts[MaxTexts];
  int numTexts;
};

TileMemo *tileMemoCreate(MlirBlock block) {
  TileMemo *memo = calloc(1, sizeof *memo);
  memo->block = block;
  return memo;
}

void tileMemoDestroy(TileMemo *memo) {
  if (!memo)
    return;
  for (int i = 0; i < memo->numTexts; ++i)
    free(memo->texts[i].text);
  tileTableFree(&memo->constants);
  free(memo);
}

MlirBlock tileMemoBlock(const TileMemo *memo) { return memo->block; }

MlirValue tileMemoFind(const TileMemo *memo, const void *key) {
  return (MlirValue){tileTableFind(&memo->constants, key)};
}

void tileMemoAdd(TileMemo *memo, const void *key, MlirValue value) {
  tileTableSet(&memo->constants, key, (void *)value.ptr);
}

//===--- texts of a memo --------------------------------------------------------------------===//

// The text's entry, made where there is room; null: no memo, or no room.
static Text *textOf(TileMemo *memo, const char *text) {
  if (!memo)
    return NULL;
  for (int i = 0; i < memo->numTexts; ++i)
    if (!strcmp(memo->texts[i].text, text))
      return &memo->texts[i];
  if (memo->numTexts == MaxTexts)
    return NULL;
  memo->texts[memo->numTexts].text = strdup(text);
  return &memo->texts[memo->numTexts++];
}

MlirAttribute tileBuildAttribute(const TileBuilder *builder, const char *text) {
  Text *known = textOf(builder->memo, text);
  if (known && !mlirAttributeIsNull(known->attribute))
    return known->attribute;
  MlirAttribute attribute = mlirAttributeParseGet(builder->context, tileString(text));
  if (known)
    known->attribute = attribute;
  return attribute;
}

MlirAttribute tileBuildAttributeWith(const TileBuilder *builder, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = tileFormatText(format, arguments);
  va_end(arguments);
  MlirAttribute attribute = tileBuildAttribute(builder, text);
  free(text);
  return attribute;
}
