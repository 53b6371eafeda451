// tile.mma by the machine's atom: each warp multiplies the fragments that its registers hold. Which fragments those are
// follows from the layouts: a layout is the atom's fragment, repeated, so registers with equal fragment coordinates in
// different repetitions are one operand of one instruction. Factors of f32 may be split into parts of tf32 or bf16, as
// `precision` says (Henry, Tang and Heinecke 2019): high + low is the factor to 22 bits and more, and the products of
// parts are added from the smallest on.
#include "lib/conversion/tile_to_gpu/accesses.h"
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/ir/emit/number.h"
#include "lib/ir/op_format.h"
#include "lib/layout/text.h"

#include <stdio.h>
#include <string.h>

// In the order of the machine file's fragments.
enum { OperandA, OperandB, OperandC, OperandPlaces, OperandS, OperandT, NumOperands, MaxFragment = GpuMaxFragment };

typedef struct Operand {
  MlirType type;
  TileLayout layout, fragment;
  Record *record;
  int64_t sizes[2];   // of the atom along the operand's last two axes
  intptr_t count;     // registers of a fragment
  intptr_t batchAxes; // 1 at rank 3
} Operand;

enum { MaxParts = 3, MaxTerms = 6 };

// The parts of the left and the right factor whose products are summed, in this order.
typedef struct Split {
  const char *precision;
  int parts, terms;
  struct {
    int left, right;
  } term[MaxTerms];
} Split;

static const Split splits[] = {
    {"tf32", 1, 1, {{0, 0}}},
    {"tf32x3", 2, 3, {{1, 0}, {0, 1}, {0, 0}}},
    {"bf16x3", 2, 3, {{1, 0}, {0, 1}, {0, 0}}},
    {"bf16x6", 3, 6, {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}},
};
static const Split whole = {"ieee", 1, 1, {{0, 0}}};

typedef struct Product {
  MlirOperation op;
  TileMachineAtom atom, instruction; // as the kernel has it; as it is listed
  char name[GpuAtomName];
  Operand operands[NumOperands];
  bool isSparse;
  const Split *split;
  MlirType part;     // of the factors in the instruction; null: their own element
  GpuScales *scales; // of a block-scaled product; null: of another one, or the instruction takes them
} Product;

static bool takesScales(const Product *product) { return product->atom.scales[0]; }
static bool isRight(int which) { return which == OperandB || which == OperandT; }

//===--- reading ------------------------------------------------------------------------------===//

static bool readOperand(Gpu *g, Product *product, int which, const char *name) {
  static const char *const empty = "reg []";
  Operand *operand = &product->operands[which];
  const TileMachineAtom *atom = &product->atom;
  const int64_t kept = product->isSparse ? atom->k / 2 : atom->k;
  const int64_t blocks = atom->scales[0] ? atom->k / atom->block : 0;
  const int64_t sizes[NumOperands][2] = {{atom->m, kept},        {atom->k, atom->n}, {atom->m, atom->n},
                                         {atom->m, atom->k / 8}, {atom->m, blocks},  {blocks, atom->n}};
  MlirValue value = tileOpOperand(product->op, name);
  const char *text = atom->fragment[which][0] ? atom->fragment[which] : empty;
  TileError error;
  operand->type = mlirValueGetType(value);
  operand->layout = gpuLayoutOf(operand->type);
  operand->record = gpuRecord(g, value);
  operand->batchAxes = tileTypeGetRank(operand->type) - 2;
  memcpy(operand->sizes, sizes[which], sizeof operand->sizes);
  if (!tileLayoutParse(text, strlen(text), &operand->fragment, &error))
    return tileError(product->op, "%s", error.text);
  operand->count = (intptr_t)tileLayoutDimSize(&operand->fragment, TileLayoutReg);
  return operand->count <= MaxFragment || gpuRefuse(product->op, "fragments of more than 64 registers");
}

static bool readProduct(Gpu *g, MlirOperation op, Product *product) {
  TileError error;
  product->op = op;
  product->scales = NULL;
  product->isSparse = tileMmaSparseOpIsA(op);
  product->split = &whole;
  product->part = (MlirType){NULL};
  if (!gpuFindAtom(g, op, product->name, &product->atom, &error))
    return tileError(op, "%s", error.text);
  product->instruction = product->atom;
  if (product->atom.isSwapped) {
    product->name[strlen(product->name) - strlen(TILE_MACHINE_SWAPPED)] = '\0';
    if (!tileMachineFindAtom(g->machine, product->name, &product->instruction, &error))
      return tileError(op, "%s", error.text);
  }
  if (product->isSparse != !!product->atom.fragment[OperandPlaces][0])
    return tileError(op, "has atom %s, which multiplies %s left factors", product->name,
                     product->isSparse ? "dense" : "sparse");
  return readOperand(g, product, OperandA, "lhs") && readOperand(g, product, OperandB, "rhs") &&
         readOperand(g, product, OperandC, "accumulator") &&
         (!product->isSparse || readOperand(g, product, OperandPlaces, "places")) &&
         (!takesScales(product) ||
          (readOperand(g, product, OperandS, "lhs_scale") && readOperand(g, product, OperandT, "rhs_scale")));
}

// "f16 x f16 -> f32 is not among the types of mma.sync.m16n8k16 on sm_80: …"
static bool expectTypes(Gpu *g, Product *product) {
  char text[3][32];
  for (int i = 0; i < 3; ++i)
    tileTypeText(tileTypeGetElement(product->operands[i].type), text[i], sizeof text[i]);
  if (tileMachineAtomTakes(&product->atom, text[0], text[1], text[2]))
    return true;
  const char *part = tileFactorPart(product->op);
  if (tileMmaScaledOpIsA(product->op) && tileMachineAtomTakes(&product->atom, part, part, text[2])) {
    product->part = mlirF16TypeGet(g->context);
    return true;
  }
  for (size_t i = 0; part && i < sizeof splits / sizeof *splits; ++i)
    if (tileMmaOpIsA(product->op) && !mlirAttributeIsNull(tileMmaOpGetPrecision(product->op)) &&
        tileStringEquals(mlirStringAttrGetValue(tileMmaOpGetPrecision(product->op)), splits[i].precision) &&
        tileMachineAtomTakes(&product->atom, part, part, text[2])) {
      product->split = &splits[i];
      product->part = *part == 't' ? mlirTF32TypeGet(g->context) : mlirBF16TypeGet(g->context);
      return true;
    }
  return tileError(product->op, "multiplies %s by %s into %s, expected what atom \"%s\" takes on %s: %s", text[0],
                   text[1], text[2], product->name, tileMachineGetName(g->machine), product->atom.types);
}

//===--- fragments ----------------------------------------------------------------------------===//

typedef struct Place {
  uint32_t batch, row, column; // in units of the atom
} Place;

// The repetition a register of the first thread belongs to, and its place in the fragment.
static Place placeOf(const Operand *operand, intptr_t reg, TileLayoutPoint *inside) {
  TileLayoutPoint point = tileLayoutOfRegister(&operand->layout, reg);
  uint32_t row = point.at[operand->batchAxes], column = point.at[operand->batchAxes + 1];
  uint32_t rows = (uint32_t)operand->sizes[0], columns = (uint32_t)operand->sizes[1];
  *inside = (TileLayoutPoint){{row % rows, column % columns}};
  return (Place){operand->batchAxes ? point.at[0] : 0, row / rows, column / columns};
}

static bool samePlace(Place a, Place b) { return a.batch == b.batch && a.row == b.row && a.column == b.column; }

// The registers of one repetition in the fragment's order; false where one is missing.
static bool fragmentAt(const Operand *operand, Place place, intptr_t *registers) {
  intptr_t found = 0, count = (intptr_t)tileLayoutDimSize(&operand->layout, TileLayoutReg);
  for (intptr_t reg = 0; reg < operand->count; ++reg)
    registers[reg] = -1;
  for (intptr_t reg = 0; reg < count; ++reg) {
    TileLayoutPoint inside;
    if (!samePlace(placeOf(operand, reg, &inside), place))
      continue;
    intptr_t at = gpuRegisterAt(&operand->fragment, inside);
    if (at >= 0 && registers[at] < 0) {
      registers[at] = reg;
      ++found;
    }
  }
  return found == operand->count;
}

//===--- warps ----------------------------------------------------------------------------------===//

static bool isTaken(const Product *product, int which) {
  return which == OperandPlaces ? product->isSparse : which < OperandPlaces || takesScales(product);
}

// Each warp has the rows of A and the columns of B that its part of the accumulator wants, and all of K.
static bool expectWarps(Gpu *g, const Product *product) {
  const Operand *a = &product->operands[OperandA], *b = &product->operands[OperandB], *c = &product->operands[OperandC];
  intptr_t m = c->batchAxes, n = m + 1;
  for (uint32_t bit = 0; bit < g->warpBits; ++bit) {
    TileLayoutPoint inA = tileLayoutStepOf(&a->layout, TileLayoutWarp, bit),
                    inB = tileLayoutStepOf(&b->layout, TileLayoutWarp, bit),
                    inC = tileLayoutStepOf(&c->layout, TileLayoutWarp, bit);
    bool fits = inA.at[m] == inC.at[m] && !inA.at[n] && inB.at[n] == inC.at[n] && !inB.at[m];
    for (int which = OperandPlaces; which < NumOperands; ++which) {
      if (!isTaken(product, which))
        continue;
      TileLayoutPoint step = tileLayoutStepOf(&product->operands[which].layout, TileLayoutWarp, bit);
      intptr_t shared = isRight(which) ? n : m, summed = isRight(which) ? m : n;
      fits = fits && step.at[shared] == inC.at[shared] && !step.at[summed];
    }
    if (m)
      fits = fits && inA.at[0] == inC.at[0] && inB.at[0] == inC.at[0];
    if (!fits)
      return tileError(
          product->op,
          "spreads its operands over warps in different ways, expected each warp to have the rows of the left "
          "and the columns of the right operand of its part of the result, and all of what is summed");
  }
  return true;
}

//===--- the instructions -----------------------------------------------------------------------===//

static MlirValue rounded(Gpu *g, MlirType part, MlirValue value) {
  if (mlirTypeIsAF16(part)) // exact; by way of f32, as tile-pair-halves expects such numbers
    return gpuOp(g, ArithOp_TruncF, part, gpuOp(g, ArithOp_ExtF, mlirF32TypeGet(g->context), value));
  return mlirTypeIsATF32(part) ? gpuRoundToTf32(g, value) : gpuOp(g, ArithOp_TruncF, part, value);
}

// parts[p][i] of values[i] (f32): each what rounding took from those before it; of what is not finite the first alone.
static void splitFactor(Gpu *g, const Product *product, intptr_t count, const MlirValue *values,
                        MlirValue parts[MaxParts][MaxFragment]) {
  MlirType f32 = mlirF32TypeGet(g->context);
  MlirValue zero = tileBuildFloat(&g->builder, f32, 0);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue rest = values[i];
    for (int p = 0; p < product->split->parts; ++p) {
      parts[p][i] = mlirTypeIsNull(product->part) ? rest : rounded(g, product->part, rest);
      if (p + 1 == product->split->parts)
        break;
      MlirValue held = mlirTypeIsATF32(product->part) ? parts[p][i] : gpuOp(g, ArithOp_ExtF, f32, parts[p][i]);
      MlirValue magnitude = gpuAnd(g, gpuOp(g, ArithOp_Bitcast, g->i32, held), 0x7fffffff);
      MlirValue isFinite = gpuCompare(g, ArithCmpI_Slt, magnitude, gpuI32(g, 0x7f800000));
      rest = gpuSelect(g, isFinite, gpuBinary(g, ArithOp_SubF, rest, held), zero);
    }
  }
}

// Fragments of one step of K in the parts of their factors, packed for the instruction by the first that takes them.
typedef struct Fragment {
  Place place;
  MlirValue parts[MaxParts][MaxFragment];
  GpuPacked packed[MaxParts];
  struct Fragment *next;
} Fragment;

// A fragment of the accumulator: its place, and which registers it is.
typedef struct Sum {
  Place place;
  intptr_t registers[MaxFragment];
} Sum;

// One step of K, and the fragments that its products have taken, by operand.
typedef struct Step {
  uint32_t k;
  Fragment *known[NumOperands];
} Step;

// The fragment of an operand that the sum takes. Places count the left factor's elements.
static Fragment *pick(Gpu *g, const Product *product, int which, const Sum *sum, Step *step) {
  const Operand *operand = &product->operands[which];
  const Place place = {sum->place.batch, isRight(which) ? step->k : sum->place.row,
                       isRight(which) ? sum->place.column : step->k};
  intptr_t registers[MaxFragment];
  for (Fragment *fragment = step->known[which]; fragment; fragment = fragment->next)
    if (samePlace(fragment->place, place))
      return fragment;
  if (!fragmentAt(operand, place, registers)) {
    gpuRefuse(product->op, "an operand that lacks a fragment the product needs");
    return NULL;
  }
  MlirValue values[MaxFragment];
  Fragment *fragment = gpuAllocate(g, sizeof *fragment);
  fragment->place = place;
  fragment->next = step->known[which];
  for (intptr_t i = 0; i < operand->count; ++i) {
    if (operand->record->pending)
      gpuLoadRegister(g, operand->record->pending, registers[i]);
    MlirValue value = operand->record->registers[registers[i]];
    bool isInBits = (mlirTypeIsNull(product->part) || which > OperandC) && gpuIsSmallFloat(mlirValueGetType(value));
    values[i] = isInBits ? tileBuildBits(&g->builder, value) : value;
  }
  splitFactor(g, product, operand->count, values, fragment->parts);
  return step->known[which] = fragment;
}

// Into a fragment of the accumulator, whose registers `values` holds.
static bool multiply(Gpu *g, const Product *product, const Sum *sum, Step *step, MlirValue *values) {
  const Operand *c = &product->operands[OperandC];
  MlirValue before[MaxFragment], after[MaxFragment];
  Fragment *a = pick(g, product, OperandA, sum, step), *b = pick(g, product, OperandB, sum, step);
  Fragment *places = product->isSparse ? pick(g, product, OperandPlaces, sum, step) : NULL;
  for (intptr_t i = 0; i < c->count; ++i)
    before[i] = values[sum->registers[i]];
  int lhs = product->atom.isSwapped, rhs = !lhs; // the instruction's operands that the factors are
  GpuProduct one = {
      .atom = &product->instruction, .name = product->name, .c = before, .d = after, .machine = g->machine};
  if (places) {
    one.places = places->parts[0];
    one.numPlaces = product->operands[OperandPlaces].count;
    one.packed[2] = &places->packed[0];
  }
  for (int i = 0; takesScales(product) && i < 2; ++i) {
    one.scales[i] = pick(g, product, OperandS + i, sum, step)->parts[0];
    one.numScales = product->operands[OperandS].count;
  }
  for (int i = 0; i < 3; ++i) {
    bool isPart = i != OperandC && !mlirTypeIsNull(product->part);
    int to = i == OperandA ? lhs : i == OperandB ? rhs : i;
    one.element[to] = isPart ? product->part : tileTypeGetElement(product->operands[i].type);
    one.count[to] = product->operands[i].count;
  }
  for (int t = 0; t < product->split->terms; ++t) {
    int left = product->split->term[t].left, right = product->split->term[t].right;
    one.a = lhs ? b->parts[right] : a->parts[left];
    one.b = lhs ? a->parts[left] : b->parts[right];
    one.packed[lhs] = &a->packed[left];
    one.packed[rhs] = &b->packed[right];
    if (!g->vocabulary->mma(&g->builder, product->op, &one))
      return false;
    memcpy(before, after, sizeof before);
  }
  for (intptr_t i = 0; i < c->count; ++i)
    values[sum->registers[i]] = before[i];
  return true;
}

// The fragments of the accumulator; copies of one are refused.
static bool listSums(Gpu *g, const Product *product, Sum *sums, intptr_t *numSums) {
  const Operand *c = &product->operands[OperandC];
  intptr_t count = (intptr_t)tileLayoutDimSize(&c->layout, TileLayoutReg);
  bool *isTaken = gpuAllocate(g, (size_t)count);
  *numSums = 0;
  for (intptr_t reg = 0; reg < count; ++reg) {
    TileLayoutPoint inside;
    if (isTaken[reg])
      continue;
    Sum *sum = &sums[(*numSums)++];
    sum->place = placeOf(c, reg, &inside);
    if (!fragmentAt(c, sum->place, sum->registers))
      return gpuRefuse(product->op, "an accumulator that lacks a part of a fragment");
    for (intptr_t i = 0; i < c->count; ++i)
      isTaken[sum->registers[i]] = true;
    if (!isTaken[reg])
      return gpuRefuse(product->op, "an accumulator with copies in registers");
  }
  return true;
}

// All of one step's fragments, read before its products.
static bool pickAll(Gpu *g, const Product *product, const Sum *sums, intptr_t numSums, Step *step) {
  for (intptr_t i = 0; i < numSums; ++i)
    if (!pick(g, product, OperandA, &sums[i], step) || !pick(g, product, OperandB, &sums[i], step) ||
        (product->isSparse && !pick(g, product, OperandPlaces, &sums[i], step)) ||
        (takesScales(product) &&
         (!pick(g, product, OperandS, &sums[i], step) || !pick(g, product, OperandT, &sums[i], step))))
      return false;
  return true;
}

// One block of k: its products are summed from zero, and the scaled sum is added.
static bool multiplyBlock(Gpu *g, const Product *product, const Sum *sums, intptr_t numSums, uint32_t block,
                          MlirValue *registers) {
  const Operand *c = &product->operands[OperandC];
  uint32_t count = (uint32_t)(product->scales->block / product->atom.k);
  Step *steps = gpuAllocate(g, count * sizeof *steps);
  MlirValue *sum = gpuAllocate(g, (size_t)tileLayoutDimSize(&c->layout, TileLayoutReg) * sizeof *sum);
  for (uint32_t i = 0; i < count; ++i) {
    steps[i].k = block * count + i;
    if (!pickAll(g, product, sums, numSums, &steps[i]))
      return false;
  }
  for (intptr_t s = 0; s < numSums; ++s) {
    for (intptr_t i = 0; i < c->count; ++i)
      sum[sums[s].registers[i]] = tileBuildFloat(&g->builder, mlirF32TypeGet(g->context), 0);
    for (uint32_t i = 0; i < count; ++i)
      if (!multiply(g, product, &sums[s], &steps[i], sum))
        return false;
    for (intptr_t i = 0; i < c->count; ++i) {
      intptr_t reg = sums[s].registers[i];
      registers[reg] = gpuAddScaled(g, product->scales, block, reg, sum[reg], registers[reg]);
    }
  }
  return true;
}

// K outermost: the fragments of one step, all read before its products, are not needed while another's are.
static bool multiplyAll(Gpu *g, const Product *product, MlirValue *registers) {
  const Operand *c = &product->operands[OperandC];
  intptr_t count = (intptr_t)tileLayoutDimSize(&c->layout, TileLayoutReg), numSums;
  Sum *sums = gpuAllocate(g, (size_t)(count / c->count + 1) * sizeof *sums);
  int64_t depth = tileTypeGetSize(product->operands[OperandB].type, c->batchAxes) / product->atom.k;
  if (!listSums(g, product, sums, &numSums))
    return false;
  memcpy(registers, gpuTile(g, tileOpOperand(product->op, "accumulator")), (size_t)count * sizeof *registers);
  for (uint32_t k = 0; product->scales && k < product->scales->count; ++k)
    if (!multiplyBlock(g, product, sums, numSums, k, registers))
      return false;
  for (uint32_t k = 0; !product->scales && k < depth; ++k) {
    Step step = {.k = k};
    if (!pickAll(g, product, sums, numSums, &step))
      return false;
    for (intptr_t i = 0; i < numSums; ++i)
      if (!multiply(g, product, &sums[i], &step, registers))
        return false;
  }
  return true;
}

bool gpuLowerMmaScaled(Gpu *g, MlirOperation op) {
  Product product;
  GpuScales scales;
  if (tileKeywordIs(op, "atom", "fma"))
    return gpuLowerFma(g, op);
  if (!readProduct(g, op, &product) || (!takesScales(&product) && !gpuReadScales(g, op, &scales)))
    return false;
  product.scales = takesScales(&product) ? NULL : &scales;
  return expectTypes(g, &product) && expectWarps(g, &product) &&
         multiplyAll(g, &product, gpuRecordTile(g, tileOnlyResult(op)));
}

// Sums that begin as constants are moved into each register, and once more where a loop may have no round.
bool gpuZeroSums(Gpu *g, MlirOperation op, MlirValue *registers) {
  enum { LeastRegisters = 4 }; // of an instruction's sums
  Product product;
  const char *atoms = g->vocabulary->zeroingAtoms;
  MlirStringRef name = tileKeywordOf(op, "atom");
  if (!atoms || name.length < strlen(atoms) || strncmp(name.data, atoms, strlen(atoms)) != 0 ||
      !readProduct(g, op, &product) || !expectTypes(g, &product))
    return false;
  const Operand *c = &product.operands[OperandC];
  intptr_t count = (intptr_t)tileLayoutDimSize(&c->layout, TileLayoutReg), numSums;
  Sum *sums = gpuAllocate(g, (size_t)(count / c->count + 1) * sizeof *sums);
  MlirType f32 = mlirF32TypeGet(g->context);
  if (c->count < LeastRegisters || !mlirTypeEqual(tileTypeGetElement(c->type), f32) || product.split != &whole ||
      !listSums(g, &product, sums, &numSums))
    return false;
  MlirValue after[MaxFragment];
  GpuPacked packed[2] = {{.count = 0}, {.count = 0}};
  for (intptr_t n = 0; n < numSums; ++n) {
    MlirValue zeros[3][MaxFragment];
    GpuProduct one = {.atom = &product.instruction, .name = product.name, .machine = g->machine, .d = after};
    for (int i = 0; i < 3; ++i) {
      const Operand *operand = &product.operands[i == OperandC ? i : i ^ product.atom.isSwapped];
      one.element[i] = tileTypeGetElement(operand->type);
      one.count[i] = operand->count;
      MlirValue zero = gpuZero(g, one.element[i]);
      zero = gpuIsSmallFloat(mlirValueGetType(zero)) ? tileBuildBits(&g->builder, zero) : zero;
      for (intptr_t at = 0; at < one.count[i]; ++at)
        zeros[i][at] = zero;
    }
    // Each begins with the sums before: equal products would be one, whose result is then moved.
    if (n)
      memcpy(zeros[OperandC], after, sizeof after);
    one.a = zeros[OperandA], one.b = zeros[OperandB], one.c = zeros[OperandC];
    one.packed[OperandA] = &packed[0], one.packed[OperandB] = &packed[1];
    if (!g->vocabulary->mma(&g->builder, op, &one))
      return false;
    for (intptr_t i = 0; i < c->count; ++i)
      registers[sums[n].registers[i]] = after[i];
  }
  return true;
}

bool gpuLowerMma(Gpu *g, MlirOperation op) {
  Product product;
  if (tileKeywordIs(op, "atom", "fma"))
    return gpuLowerFma(g, op);
  return readProduct(g, op, &product) && expectTypes(g, &product) && expectWarps(g, &product) &&
         multiplyAll(g, &product, gpuRecordTile(g, tileOnlyResult(op)));
}
