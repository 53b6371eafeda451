// Products on tile registers (AMX): eight registers of at most 16 rows of 64 bytes. An instruction adds to a register
// of sums the product of a register of A, with k contiguous, and a register of B, whose rows hold the groups of
// neighbours along k side by side (products/groups.c).
//
// Blocks of two by two registers of sums, one by four where A has one register of rows: 4 loads for 4 instructions, or
// 5. Sums start at zero or from memory, and go to memory behind the loop over k. Registers have as many rows and groups
// as divide the product's sizes, so that nothing is padded here.
//
// A process may be denied tile registers (lib/runtime/tiles.h): the function asks once per call, and the code by
// vectors stands beside the code by tiles. The configuration is loaded where the function begins, before its loop over
// programs, and released where it ends; a product of another shape loads its own, and restores it.
#include "lib/conversion/tile_to_vector/products/blocks.h"
#include "lib/support/tile_kinds.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"
#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  TileRows = 16,     // the most of a register
  RowBytes = 64,     // of a register
  WordBytes = 4,     // of a sum, and of a group
  LeastTileRows = 4, // fewer are not worth the loads
  FirstOfA = 4,      // registers: sums, two of A, two of B
  FirstOfB = 6,
  NumRegisters = 8,
};

//===--- registers --------------------------------------------------------------------------------===//

static int64_t largestDivisor(int64_t size) {
  for (int64_t divisor = TileRows; divisor > 1; --divisor)
    if (size % divisor == 0)
      return divisor;
  return 1;
}

static MlirType wordType(TileBuilder *builder, unsigned bits) { return mlirIntegerTypeGet(builder->context, bits); }

static MlirValue wordOf(TileBuilder *builder, MlirValue index) {
  return arithIndexCastOpBuild(builder, wordType(builder, 64), index);
}

//===--- instructions -----------------------------------------------------------------------------===//

// Instructions as text: LLVM 22 gives intrinsics' registers other numbers after it has allocated registers
// (CriticalAntiDepBreaker), and does not know that the configuration tells registers apart.
typedef struct Assembly {
  char text[640];
  size_t length;
  MlirValue operands[8]; // $0, $1, …: integers of 64 bits
  int count;
} Assembly;

static void write(Assembly *assembly, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof assembly->text - assembly->length;
  int written = vsnprintf(assembly->text + assembly->length, room, format, arguments);
  va_end(arguments);
  assert(written >= 0 && (size_t)written < room && "all the instructions of a step");
  assembly->length += (size_t)written;
}

static int take(Assembly *assembly, MlirValue word) {
  assembly->operands[assembly->count] = word;
  return assembly->count++;
}

static void emit(TileBuilder *builder, const Assembly *assembly) {
  static const char all[] = "r,r,r,r,r,r,r,r,~{memory}", memory[] = "~{memory}";
  const char *constraints = all + (sizeof all - sizeof memory) - 2 * assembly->count;
  MlirAttribute text = mlirStringAttrGet(builder->context, tileString(assembly->text));
  MlirAttribute unit = mlirUnitAttrGet(builder->context), none = mlirAttributeGetNull();
  llvmInlineAsmOpCreate(builder, (MlirType){NULL}, assembly->count, assembly->operands, text,
                        mlirStringAttrGet(builder->context, tileString(constraints)), unit, none, none, none, none);
}

//===--- configurations ---------------------------------------------------------------------------===//

// Intel's structure: palette 1, then for each register the bytes of a row (from 16 on) and the rows (from 48 on).
static MlirValue describeRegisters(TileBuilder *builder, const VecTileShape *shape) {
  enum { ConfigurationBytes = 64, FirstColumns = 16, FirstRows = 48 };
  MlirAttribute bytes[ConfigurationBytes];
  uint8_t values[ConfigurationBytes] = {1};
  for (int i = 0; i < NumRegisters; ++i) {
    bool isA = i >= FirstOfA && i < FirstOfB, isB = i >= FirstOfB;
    values[FirstColumns + 2 * i] = (uint8_t)(isA ? shape->groups * WordBytes : RowBytes);
    values[FirstRows + i] = (uint8_t)(isB ? shape->groups : shape->rows);
  }
  MlirType byte = wordType(builder, 8);
  for (int i = 0; i < ConfigurationBytes; ++i)
    bytes[i] = mlirIntegerAttrGet(byte, values[i]);
  return tileBuildConstant(builder,
                           mlirDenseElementsAttrGet(vecVectorOf(byte, ConfigurationBytes), ConfigurationBytes, bytes));
}

static void configure(TileBuilder *builder, MlirValue memory, const VecTileShape *shape) {
  MlirValue zero = tileBuildIndex(builder, 0);
  Assembly load = {.text = ""};
  vectorStoreOpBuild(builder, describeRegisters(builder, shape), memory, 1, &zero);
  MlirValue place = memrefExtractAlignedPointerAsIndexOpBuild(builder, memory);
  write(&load, "ldtilecfg ($%d)", take(&load, wordOf(builder, place)));
  emit(builder, &load);
}

// Code in the function's entry or exit that runs where tile registers may be used.
static void atBorder(VecLowering *lowering, TileBuilder *border, void (*build)(VecLowering *, TileBuilder *)) {
  MlirBlock then;
  vecBuildIf(border, lowering->mayUseTiles, 0, NULL, &then, NULL);
  TileBuilder inside = tileBuilderAtEnd(then, border->location);
  build(lowering, &inside);
  tileBuildYield(&inside, 0, NULL);
}

static void buildConfiguration(VecLowering *lowering, TileBuilder *builder) {
  configure(builder, lowering->tileMemory, &lowering->tileShape);
}

static void buildRelease(VecLowering *lowering, TileBuilder *builder) {
  (void)lowering;
  emit(builder, &(Assembly){.text = "tilerelease"});
}

// Asks the runtime and loads the configuration, where the function has none yet. Products of several types ask for all.
static void beginTiles(VecLowering *lowering, const VecTileShape *shape) {
  TileBuilder *entry = &lowering->entry;
  if (mlirValueIsNull(lowering->tileKinds)) {
    MlirOperation call = vecCallFunction(lowering, entry, "tessera_tiles", 0, NULL, wordType(entry, 32));
    lowering->tileKinds = tileOnlyResult(call);
    MlirValue zero = tileBuildInteger(entry, wordType(entry, 32), 0);
    lowering->mayUseTiles = arithCmpIOpBuild(entry, lowering->tileKinds, zero, ArithCmpI_Ne);
    int64_t bytes = NumRegisters * 8;
    lowering->tileMemory = vecMemrefNew(
        lowering, mlirMemRefTypeContiguousGet(wordType(entry, 8), 1, &bytes, mlirAttributeGetNull()), bytes);
    lowering->tileShape = *shape;
    atBorder(lowering, entry, buildConfiguration);
    atBorder(lowering, &lowering->exit, buildRelease);
  }
}

//===--- addresses --------------------------------------------------------------------------------===//

static bool hasOnePitch(const VecAccess *access, intptr_t axis) {
  const VecAccessDim *dim = &access->dims[axis];
  return dim->numDigits == 1 && dim->digits[0].divisor == 1 && dim->digits[0].modulus == 0;
}

// Bytes from one row of a tile to the next.
static MlirValue pitchOf(TileBuilder *builder, const VecAccess *access, intptr_t axis) {
  const VecAccessDim *dim = &access->dims[axis];
  int64_t stride = access->strides[dim->digits[0].memrefDim], bytes = dim->stride * vecBytesOf(access->storage);
  if (stride != mlirShapedTypeGetDynamicStrideOrOffset())
    return tileBuildIndex(builder, stride * bytes);
  MlirOperation metadata = vecAccessMetadata(builder, access);
  MlirValue pitch = memrefExtractStridedMetadataOpGetStrides(metadata, dim->digits[0].memrefDim);
  return tileBuildMul(builder, pitch, tileBuildIndex(builder, bytes));
}

// The element's address, as a number.
static MlirValue addressOf(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  MlirValue indices[MaxRank * MaxDigits];
  MlirOperation metadata = vecAccessMetadata(builder, access);
  MlirValue place = memrefExtractStridedMetadataOpGetOffset(metadata);
  intptr_t rank = vecAccessIndices(builder, access, coords, indices);
  for (intptr_t j = 0; j < rank; ++j) {
    int64_t stride = access->strides[j];
    MlirValue pitch = stride != mlirShapedTypeGetDynamicStrideOrOffset()
                          ? tileBuildIndex(builder, stride)
                          : memrefExtractStridedMetadataOpGetStrides(metadata, j);
    place = tileBuildAdd(builder, place, tileBuildMul(builder, indices[j], pitch));
  }
  MlirValue start = memrefExtractAlignedPointerAsIndexOpBuild(builder, access->memref);
  MlirValue bytes = tileBuildMul(builder, place, tileBuildIndex(builder, vecBytesOf(access->storage)));
  return tileBuildAdd(builder, start, bytes);
}

//===--- one block ---------------------------------------------------------------------------------===//

typedef struct Tiles {
  const VecMma *mma;
  VecTileShape shape;
  bool startsAtZero;
  int64_t tall, wide; // registers of sums in a block
  VecCoord row, column;
} Tiles;

// The block's sums, from or to memory: register i * wide + j.
static void moveSums(const Tiles *t, const VecAccess *target, bool load) {
  TileBuilder *builder = &t->mma->lowering->builder;
  VecCoord coords[MaxRank];
  Assembly moves = {.text = ""};
  int pitch = take(&moves, wordOf(builder, pitchOf(builder, target, t->mma->batch)));
  for (int64_t i = 0; i < t->tall; ++i) {
    vecMmaCoords(t->mma, vecCoordPlus(t->row, i * t->shape.rows), t->column, coords);
    int row = take(&moves, wordOf(builder, addressOf(builder, target, coords)));
    for (int64_t j = 0; j < t->wide; ++j) {
      int number = (int)(i * t->wide + j), bytes = (int)j * RowBytes;
      if (load)
        write(&moves, "tileloadd %d($%d,$%d), %%tmm%d\n", bytes, row, pitch, number);
      else
        write(&moves, "tilestored %%tmm%d, %d($%d,$%d)\n", number, bytes, row, pitch);
    }
  }
  emit(builder, &moves);
}

static void startSums(const Tiles *t, const VecAccess *target) {
  if (!t->startsAtZero) {
    moveSums(t, target, true);
    return;
  }
  Assembly zeros = {.text = ""};
  for (int64_t i = 0; i < t->tall * t->wide; ++i)
    write(&zeros, "tilezero %%tmm%d\n", (int)i);
  emit(&t->mma->lowering->builder, &zeros);
}

// Sums += one step of k. `places`: the first elements of the rows of A's registers, then of B's columns.
static void step(const Tiles *t, const MlirValue *places, MlirValue pitchA, MlirValue pitchB) {
  TileBuilder *builder = &t->mma->lowering->builder;
  Assembly text = {.text = ""};
  int ofA = take(&text, pitchA), ofB = take(&text, pitchB), columns = take(&text, wordOf(builder, places[t->tall]));
  for (int64_t i = 0; i < t->tall; ++i)
    write(&text, "tileloadd ($%d,$%d), %%tmm%d\n", take(&text, wordOf(builder, places[i])), ofA, FirstOfA + (int)i);
  for (int64_t j = 0; j < t->wide; ++j) {
    int number = FirstOfB + (int)(j % 2);
    write(&text, "tileloadd %d($%d,$%d), %%tmm%d\n", (int)j * RowBytes, columns, ofB, number);
    for (int64_t i = 0; i < t->tall; ++i)
      write(&text, "%s %%tmm%d, %%tmm%d, %%tmm%d\n", t->mma->dot->atom, number, FirstOfA + (int)i,
            (int)(i * t->wide + j));
  }
  emit(builder, &text);
}

static void loopOverSteps(const Tiles *t) {
  const VecMma *mma = t->mma;
  VecLowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  const VecAccess *a = mma->lhs->access, *b = mma->grouped;
  MlirValue places[3], bytesB = pitchOf(builder, b, mma->batch);
  VecCoord coords[MaxRank];
  for (int64_t i = 0; i < t->tall; ++i) {
    vecMmaCoords(mma, vecCoordPlus(t->row, i * t->shape.rows), vecCoordConstant(0), coords);
    places[i] = addressOf(builder, a, coords);
  }
  vecMmaCoords(mma, vecCoordConstant(0), vecCoordConstant(0), coords);
  MlirValue column = tileBuildMul(builder, vecCoordValue(builder, t->column), tileBuildIndex(builder, WordBytes));
  places[t->tall] = tileBuildAdd(builder, addressOf(builder, b, coords), column); // a group of a column is a word
  MlirValue pitchA = wordOf(builder, pitchOf(builder, a, mma->batch)), pitchB = wordOf(builder, bytesB);
  MlirValue stepA = tileBuildIndex(builder, t->shape.groups * WordBytes);
  MlirValue stepB = tileBuildMul(builder, bytesB, tileBuildIndex(builder, t->shape.groups));
  int64_t steps = mma->depth / (t->shape.groups * mma->group);
  MlirBlock body = vecBuildLoop(builder, tileBuildIndex(builder, 0), tileBuildIndex(builder, steps), 1);
  TileBuilder before = vecEnter(lowering, body);
  MlirValue number = mlirBlockGetArgument(body, 0);
  for (int64_t i = 0; i <= t->tall; ++i)
    places[i] = tileBuildAdd(builder, places[i], tileBuildMul(builder, number, i < t->tall ? stepA : stepB));
  step(t, places, pitchA, pitchB);
  tileBuildYield(builder, 0, NULL);
  lowering->builder = before;
}

//===--- the product -------------------------------------------------------------------------------===//

static bool startsAtZero(const VecRecord *sum) {
  bool isConstant = sum->kind == VecRecord_Lazy && arithConstantOpIsA(sum->op);
  MlirAttribute value = isConstant ? tileOpAttribute(sum->op, "value") : mlirAttributeGetNull();
  if (!tileAttributeIsSplat(value))
    return false;
  return mlirTypeIsAFloat(sum->shape.element) ? mlirDenseElementsAttrGetFloatSplatValue(value) == 0
                                              : mlirDenseElementsAttrGetInt32SplatValue(value) == 0;
}

static void visitBlock(const VecMma *mma, const VecAccess *target, VecCoord column, int64_t columns, VecCoord row,
                       int64_t rows) {
  Tiles t = {.mma = mma, .shape = mma->tiles, .row = row, .column = column};
  t.tall = rows / t.shape.rows;
  t.wide = columns / TileRows;
  t.startsAtZero = startsAtZero(mma->accumulator);
  startSums(&t, target);
  loopOverSteps(&t);
  moveSums(&t, target, false);
}

static void visitPanel(const VecMma *mma, const VecAccess *target, VecCoord outer, int64_t outerSize, VecCoord column,
                       int64_t columns) {
  (void)outer, (void)outerSize;
  int64_t tall = mma->rows > mma->tiles.rows ? 2 : 1;
  vecEachBlock(mma, target, mma->rows, tall * mma->tiles.rows, column, columns, visitBlock);
}

void vecMultiplyTiles(const VecMma *mma, const VecAccess *target) {
  int64_t wide = mma->rows > mma->tiles.rows ? 2 : 4;
  vecEachBlock(mma, target, mma->columns, wide * TileRows, vecCoordConstant(0), 0, visitPanel);
}

bool vecPrepareTiles(VecMma *mma) {
  VecTileShape shape = {.rows = largestDivisor(mma->rows), .groups = largestDivisor(mma->depth / mma->group)};
  bool isContiguous = vecAccessIsContiguous(mma->lhs->access, mma->batch + 1, shape.groups * mma->group);
  bool fits = mma->columns % TileRows == 0 && (shape.rows >= LeastTileRows || shape.rows == mma->rows) &&
              isContiguous && hasOnePitch(mma->lhs->access, mma->batch) && hasOnePitch(mma->grouped, mma->batch);
  if (!fits)
    return false;
  mma->tiles = shape;
  beginTiles(mma->lowering, &shape);
  return true;
}

static int32_t kindOf(const TileDot *dot) {
  return !strcmp(dot->element, "bf16")  ? TESSERA_TILES_BF16
         : !strcmp(dot->element, "f16") ? TESSERA_TILES_F16
                                        : TESSERA_TILES_I8;
}

static bool isOfShape(const VecMma *mma) {
  const VecTileShape *loaded = &mma->lowering->tileShape;
  return mma->tiles.rows == loaded->rows && mma->tiles.groups == loaded->groups;
}

void vecBeginTiles(VecMma *mma, const VecAccess *target) {
  VecLowering *lowering = mma->lowering;
  VecRecord *sum = mma->accumulator;
  bool isThere = sum->kind == VecRecord_Memory && sum->access == target;
  if (!isOfShape(mma))
    configure(&lowering->builder, lowering->tileMemory, &mma->tiles);
  if (!isThere && !startsAtZero(sum))
    vecWriteTile(lowering, sum, target);
}

void vecEndTiles(VecMma *mma) {
  if (!isOfShape(mma))
    configure(&mma->lowering->builder, mma->lowering->tileMemory, &mma->lowering->tileShape);
}

MlirValue vecMayUseTiles(const VecMma *mma) {
  TileBuilder *builder = &mma->lowering->builder;
  MlirType word = wordType(builder, 32);
  MlirValue kind = tileBuildInteger(builder, word, kindOf(mma->dot));
  MlirValue has = arithAndIOpBuild(builder, mma->lowering->tileKinds, kind);
  return arithCmpIOpBuild(builder, has, tileBuildInteger(builder, word, 0), ArithCmpI_Ne);
}
