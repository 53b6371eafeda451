// Products of groups of neighbours along k. B lies with the members of a group side by side (its layout, made by a copy
// or here), A with k contiguous: a group of A is one 32-bit word that is spread over the lanes, a vector of B has the
// group of every column.
//   vdpbf16ps   pairs of bf16; subnormals count as 0 (tile.mma says so)
//   vpdpbusd    four bytes, A's unsigned, B's signed
//   vfmaddph    pairs of f16: a multiply-add of 32 lanes. The even and the odd members of groups have sums of their
//   own,
//               added up at the end: a word spreads over lanes without the shuffle that 16 bits take
//   none        each member widened: two multiply-adds of f32, or four of i32
// Where a process may not use tile registers (products/tiles.c), the same operands are multiplied here. vpdpbusd takes
// unsigned by signed factors. It is swapped if the right factors are the unsigned ones. If both factors are alike, the
// highest bit of the left ones is flipped, which adds 128 to them or -128, and one more row, of 128 or -128
// throughout, counts what that adds to each column.
#include "lib/conversion/tile_to_vector/products/blocks.h"
#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

enum { WordBits = 32 };

static MlirType wordType(TileBuilder *builder) { return mlirIntegerTypeGet(builder->context, WordBits); }

//===--- operands -------------------------------------------------------------------------------===//

static int64_t multipleOf(const VecAccessDim *dim, int64_t group) {
  return !mlirValueIsNull(dim->origin.base) ? dim->originMultiple % group == 0 && dim->origin.offset % group == 0
                                            : dim->origin.offset % group == 0;
}

// The access with axis `axis` counting groups; null where a group's members are not side by side, the groups of
// neighbouring columns after each other.
static VecAccess *groupedAccess(VecLowering *lowering, const VecAccess *access, intptr_t axis, int64_t group) {
  const VecAccessDim *k = &access->dims[axis], *n = &access->dims[axis + 1];
  bool isGrouped = !access->packing && k->numDigits == 2 && k->stride == 1 && k->digits[0].divisor == 1 &&
                   k->digits[0].modulus == group && k->digits[1].divisor == group && n->numDigits == 1 &&
                   n->stride == 1 && n->digits[0].divisor == 1 && access->strides[k->digits[0].memrefDim] == 1 &&
                   access->strides[n->digits[0].memrefDim] == group && multipleOf(k, group);
  if (!isGrouped)
    return NULL;
  VecAccess *grouped = vecLoweringAllocate(lowering, sizeof *grouped);
  *grouped = *access;
  VecAccessDim *dim = &grouped->dims[axis];
  grouped->fixed[dim->digits[0].memrefDim] = tileBuildIndex(&lowering->builder, 0);
  dim->origin = vecCoordDivide(&lowering->builder, dim->origin, group);
  dim->digits[0] = (VecDigit){.divisor = 1, .memrefDim = dim->digits[1].memrefDim};
  dim->numDigits = 1;
  grouped->strides[n->digits[0].memrefDim] = 1; // a vector takes the members with the columns
  grouped->shape.sizes[axis] /= group;
  return grouped;
}

static int64_t interleavedGroup(const VecAccess *access) {
  intptr_t axis = access->shape.rank - 2;
  if (axis < 0 || access->dims[axis].numDigits != 2)
    return 1;
  return access->dims[axis].digits[0].modulus > 1 ? access->dims[axis].digits[0].modulus : 1;
}

// `width` columns of one group of rows, at coords, into `grouped`.
static void interleaveVector(VecBody *body, VecRecord *source, const VecAccess *grouped, const VecCoord *coords,
                             int64_t group, int64_t width) {
  intptr_t last = grouped->shape.rank - 1;
  MlirValue members[4];
  VecCoord at[MaxRank];
  memcpy(at, coords, sizeof at);
  at[last - 1] = vecCoordTimes(&body->lowering->builder, coords[last - 1], group);
  for (int64_t i = 0; i < group; ++i, ++at[last - 1].offset)
    members[i] = vecEvaluate(body, source, at, last, width);
  for (int64_t half = group / 2; half >= 1; half /= 2)
    for (int64_t i = 0; i < half; ++i)
      members[i] = vectorInterleaveOpBuild(&body->lowering->builder, members[i], members[i + half]);
  vecAccessStore(body, grouped, coords, last, group * width, members[0]);
}

static void interleaveFrom(VecLowering *lowering, VecRecord *source, const VecAccess *grouped, int64_t group,
                           bool inside, intptr_t d, VecCoord *coords) {
  int64_t size = grouped->shape.sizes[d];
  if (d == grouped->shape.rank - 1) {
    VecBody body = vecBodyBegin(lowering, inside);
    for (int64_t column = 0, most = group * lowering->widths.lanes; column < size; column += most) {
      coords[d] = vecCoordConstant(column);
      int64_t width = size - column < most ? size - column : most;
      interleaveVector(&body, source, grouped, coords, group, width);
    }
    vecBodyEnd(&body);
    return;
  }
  TileBuilder before = vecOpenElements(lowering, size, &coords[d]);
  interleaveFrom(lowering, source, grouped, group, inside, d + 1, coords);
  vecCloseElements(lowering, size, before);
}

bool vecWriteInterleaved(VecLowering *lowering, VecRecord *source, const VecAccess *target) {
  int64_t group = interleavedGroup(target);
  if (group == 1 || group > 4 || vecAccessMayLeave(target) || target->shape.sizes[target->shape.rank - 2] % group ||
      vecShapeLast(&target->shape) > 4 * lowering->widths.lanes)
    return false;
  const VecAccess *grouped = groupedAccess(lowering, target, target->shape.rank - 2, group);
  if (!grouped)
    return false;
  VecCoord coords[MaxRank];
  MlirValue inside = vecAllInside(lowering, source);
  if (mlirValueIsNull(inside)) {
    interleaveFrom(lowering, source, grouped, group, true, 0, coords);
    return true;
  }
  MlirBlock branches[2];
  vecBuildIf(&lowering->builder, inside, 0, NULL, &branches[0], &branches[1]);
  for (int i = 0; i < 2; ++i) {
    TileBuilder before = vecEnter(lowering, branches[i]);
    interleaveFrom(lowering, source, grouped, group, i == 0, 0, coords);
    tileBuildYield(&lowering->builder, 0, NULL);
    lowering->builder = before;
  }
  return true;
}

// A buffer with the members of a group side by side: [batch,] k / group, n, group.
static VecAccess *interleavedBuffer(VecLowering *lowering, const VecShape *shape, int64_t group) {
  intptr_t k = shape->rank - 2;
  int64_t sizes[MaxRank], stride = 1;
  memcpy(sizes, shape->sizes, shape->rank * sizeof *sizes);
  sizes[k] /= group;
  sizes[shape->rank] = group;
  MlirType type = mlirMemRefTypeContiguousGet(shape->element, shape->rank + 1, sizes, mlirAttributeGetNull());
  MlirValue memref = vecMemrefNew(lowering, type, vecShapeCount(shape) * vecBytesOf(shape->element));
  VecAccess *access = vecDenseAccess(lowering, shape, memref, shape->element);
  access->memrefRank = shape->rank + 1;
  for (intptr_t j = shape->rank; j >= 0; stride *= sizes[j--])
    access->strides[j] = stride;
  access->dims[k].numDigits = 2;
  access->dims[k].digits[0] = (VecDigit){.divisor = 1, .modulus = group, .memrefDim = shape->rank};
  access->dims[k].digits[1] = (VecDigit){.divisor = group, .memrefDim = k};
  return access;
}

static VecRecord *contiguousAlongK(VecLowering *lowering, VecRecord *lhs, int64_t group) {
  bool fits = vecIsRead(lhs) && !vecAccessMayLeave(lhs->access) &&
              vecAccessIsContiguous(lhs->access, lhs->shape.rank - 1, group);
  return fits ? lhs : vecRecordOfAccess(lowering, vecMaterialize(lowering, lhs, (MlirType){NULL}));
}

// What was loaded as groups × members × columns and flattened into the rows of a tile, if the members lie side by side.
// Null for other tiles.
static const VecAccess *flattenedGroups(VecLowering *lowering, const VecRecord *rhs, int64_t group) {
  if (rhs->kind != VecRecord_Lazy || !tileReshapeOpIsA(rhs->op) || rhs->shape.rank != 2)
    return NULL;
  const VecRecord *loaded = vecRecordOf(lowering, tileReshapeOpGetInput(rhs->op));
  const VecAccess *access = loaded->access;
  if (!vecIsRead(loaded) || vecAccessMayLeave(access) || access->packing || loaded->shape.rank != 3 ||
      loaded->shape.sizes[1] != group)
    return NULL;
  const VecAccessDim *member = &access->dims[1], *n = &access->dims[2];
  bool areAlone = access->dims[0].numDigits == 1 && n->numDigits == 1 && member->numDigits == 1;
  if (!areAlone || n->stride != 1 || member->stride != 1 || access->strides[member->digits[0].memrefDim] != 1 ||
      access->strides[n->digits[0].memrefDim] != group)
    return NULL;
  VecAccess *grouped = vecLoweringAllocate(lowering, sizeof *grouped);
  *grouped = *access;
  grouped->shape.rank = 2;
  grouped->shape.sizes[1] = access->shape.sizes[2];
  grouped->fixed[member->digits[0].memrefDim] = vecCoordValue(&lowering->builder, member->origin);
  grouped->dims[1] = *n;
  grouped->strides[n->digits[0].memrefDim] = 1; // a vector takes the members with the columns
  return grouped;
}

static const VecAccess *groupsOf(VecLowering *lowering, VecRecord *rhs, int64_t group) {
  const VecAccess *flattened = flattenedGroups(lowering, rhs, group);
  if (flattened)
    return flattened;
  bool fits = vecIsRead(rhs) && !vecAccessMayLeave(rhs->access);
  return fits ? groupedAccess(lowering, rhs->access, rhs->shape.rank - 2, group) : NULL;
}

bool vecPrepareGroups(VecMma *mma, MlirOperation op, VecRecord *lhs, VecRecord *rhs) {
  VecLowering *lowering = mma->lowering;
  const TileDot *dot = tileDotOf(op);
  bool arePairs = mlirTypeIsABF16(rhs->shape.element) && mlirTypeIsAF32(mma->element);
  int64_t group = dot ? dot->group : 2;
  if ((!dot && !arePairs) || mma->depth % group || mma->columns % lowering->widths.lanes)
    return false;
  mma->grouped = groupsOf(lowering, rhs, group);
  if (!mma->grouped && !dot)
    return false;
  if (!mma->grouped) {
    VecAccess *buffer = interleavedBuffer(lowering, &rhs->shape, group);
    intptr_t mark = vecSpill(lowering, rhs, false);
    vecWriteInterleaved(lowering, rhs, buffer);
    vecUnspill(lowering, mark);
    mma->grouped = groupedAccess(lowering, buffer, rhs->shape.rank - 2, group);
  }
  mma->lhs = contiguousAlongK(lowering, lhs, group);
  mma->rhs = rhs;
  mma->group = group;
  mma->dot = dot;
  for (int i = 0; i < 2; ++i)
    mma->isUnsigned[i] = dot && dot->isUnsigned[i];
  return true;
}

//===--- one group ------------------------------------------------------------------------------===//

static MlirValue castTo(TileBuilder *builder, MlirValue vector, MlirType element) {
  MlirType type = mlirValueGetType(vector);
  int64_t bits = mlirShapedTypeGetDimSize(type, 0) * vecBitsOf(mlirShapedTypeGetElementType(type));
  return vectorBitCastOpBuild(builder, vecVectorOf(element, bits / vecBitsOf(element)), vector);
}

// Lanes of a bf16 pair as f32: the first member, the second.
static MlirValue widenBf16(TileBuilder *builder, MlirValue words, int64_t member) {
  MlirType type = mlirValueGetType(words);
  MlirValue bits = member ? arithAndIOpBuild(builder, words, tileBuildInteger(builder, type, -65536))
                          : arithShLIOpBuild(builder, words, tileBuildInteger(builder, type, 16));
  return castTo(builder, bits, mlirF32TypeGet(builder->context));
}

// Member `member` of the groups in 32-bit words, as wide as the sums.
static MlirValue widen(const VecMma *mma, MlirValue words, int64_t member, bool isUnsigned) {
  TileBuilder *builder = &mma->lowering->builder;
  MlirType element = mma->rhs->shape.element, type = mlirValueGetType(words);
  int64_t bits = vecBitsOf(element), lanes = mlirShapedTypeGetDimSize(type, 0);
  if (mlirTypeIsABF16(element))
    return widenBf16(builder, words, member);
  if (mlirTypeIsAInteger(element)) {
    words = arithShLIOpBuild(builder, words, tileBuildInteger(builder, type, WordBits - bits * (member + 1)));
    MlirValue down = tileBuildInteger(builder, type, WordBits - bits);
    return isUnsigned ? arithShRUIOpBuild(builder, words, down) : arithShRSIOpBuild(builder, words, down);
  }
  words = arithShRUIOpBuild(builder, words, tileBuildInteger(builder, type, bits * member));
  words = arithTruncIOpBuild(builder, vecVectorOf(mlirIntegerTypeGet(builder->context, (unsigned)bits), lanes), words);
  return arithExtFOpBuild(builder, vecVectorOf(mma->element, lanes), castTo(builder, words, element));
}

static MlirValue multiplyAddHalves(TileBuilder *builder, MlirValue a, MlirValue b, MlirValue sum) {
  enum { CurrentRounding = 4 };
  MlirType half = mlirF16TypeGet(builder->context);
  MlirValue rounding = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 32), CurrentRounding);
  return vecCallIntrinsic(builder, "llvm.x86.avx512fp16.vfmadd.ph.512", 4,
                          (MlirValue[]){castTo(builder, a, half), castTo(builder, b, half), sum, rounding});
}

MlirValue vecSumOfHalves(const VecMma *mma, MlirValue sums) {
  TileBuilder *builder = &mma->lowering->builder;
  int64_t lanes = mma->lowering->widths.lanes;
  MlirType half = vecVectorOf(mlirIntegerTypeGet(builder->context, WordBits / 2), lanes);
  MlirValue words = castTo(builder, sums, wordType(builder)), parts[2];
  parts[0] = arithTruncIOpBuild(builder, half, words);
  parts[1] = tileBuildInteger(builder, mlirValueGetType(words), WordBits / 2);
  parts[1] = arithTruncIOpBuild(builder, half, arithShRUIOpBuild(builder, words, parts[1]));
  for (int i = 0; i < 2; ++i)
    parts[i] = castTo(builder, parts[i], mma->element);
  return arithAddFOpBuild(builder, parts[0], parts[1]);
}

// sum + B's group times A's, in every lane; `words` are vectors of 32-bit words.
static MlirValue addGroup(const VecMma *mma, MlirValue sum, MlirValue lhs, MlirValue rhs) {
  TileBuilder *builder = &mma->lowering->builder;
  if (mma->dot && mma->group == 4) {
    MlirType byte = mlirIntegerTypeGet(builder->context, 8);
    MlirValue factors[2] = {castTo(builder, lhs, byte), castTo(builder, rhs, byte)};
    return vecCallIntrinsic(builder, "llvm.x86.avx512.vpdpbusd.512", 3,
                            (MlirValue[]){sum, factors[mma->isSwapped], factors[!mma->isSwapped]});
  }
  if (mma->dot && mma->dot->isByHalves)
    return multiplyAddHalves(builder, lhs, rhs, sum);
  if (mma->dot) {
    MlirType half = mlirBF16TypeGet(builder->context);
    return vecCallIntrinsic(builder, "llvm.x86.avx512bf16.dpbf16ps.512", 3,
                            (MlirValue[]){sum, castTo(builder, lhs, half), castTo(builder, rhs, half)});
  }
  for (int64_t i = 0; i < mma->group; ++i)
    sum = vecMultiplyAdd(mma, widen(mma, lhs, i, mma->isUnsigned[0]), widen(mma, rhs, i, mma->isUnsigned[1]), sum);
  return sum;
}

// A word of A in all lanes, with the highest bits flipped where it has to be; null: the row of what that adds.
static MlirValue spreadWord(const VecMma *mma, MlirValue word) {
  enum { Bias = -0x7f7f7f80 }; // the highest bit of each byte
  TileBuilder *builder = &mma->lowering->builder;
  MlirValue bias = tileBuildInteger(builder, wordType(builder), Bias);
  if (mlirValueIsNull(word))
    word = bias;
  else if (mma->isBiased)
    word = arithXOrIOpBuild(builder, word, bias);
  return vecBuildSplat(builder, word, mma->lowering->widths.lanes);
}

void vecStepGroup(const VecMma *mma, VecBlock *block, VecCoord group) {
  VecLowering *lowering = mma->lowering;
  TileBuilder *builder = &lowering->builder;
  VecBody body = vecBodyBegin(lowering, true);
  MlirValue columns[MaxRegisters];
  VecCoord coords[MaxRank];
  for (int64_t v = 0; v < block->vectors; ++v) {
    vecMmaCoords(mma, group, vecCoordPlus(block->column, v * lowering->widths.lanes), coords);
    columns[v] =
        castTo(builder, vecAccessLoad(&body, mma->grouped, coords, mma->batch + 1, mma->group * lowering->widths.lanes),
               wordType(builder));
  }
  VecCoord k = vecCoordTimes(builder, group, mma->group);
  for (int64_t r = 0; r < block->rows + block->hasBias; ++r) {
    MlirValue word = {NULL};
    if (r < block->rows) {
      vecMmaCoords(mma, vecCoordPlus(block->row, r), k, coords);
      MlirValue members = vecEvaluate(&body, mma->lhs, coords, mma->batch + 1, mma->group);
      word = vecBuildLane(builder, castTo(builder, members, wordType(builder)), 0);
    }
    word = spreadWord(mma, word);
    for (int64_t v = 0; v < block->vectors; ++v) {
      MlirValue *value = &block->values[r * block->vectors + v];
      *value = addGroup(mma, *value, word, columns[v]);
    }
  }
  vecBodyEnd(&body);
}
