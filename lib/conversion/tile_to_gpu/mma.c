// tile.mma by the machine's atom: each warp multiplies the fragments that its registers hold. Which fragments those are
// follows from the layouts: a layout is the atom's fragment, repeated, so registers with equal fragment coordinates in
// different repetitions are one operand of one instruction.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/text.h"

#include <stdio.h>
#include <string.h>

enum { OperandA, OperandB, OperandC, MaxFragment = 64 };

typedef struct Operand {
  MlirType type;
  TileLayout layout, fragment;
  const MlirValue *registers;
  int64_t sizes[2];   // of the atom along the operand's last two axes
  intptr_t count;     // registers of a fragment
  intptr_t batchAxes; // 1 at rank 3
} Operand;

typedef struct Product {
  MlirOperation op;
  TileMachineAtom atom;
  char name[64];
  Operand operands[3];
} Product;

//===--- reading ------------------------------------------------------------------------------===//

static bool readOperand(Gpu *g, Product *product, int which, const char *name) {
  static const char *const empty = "reg []";
  Operand *operand = &product->operands[which];
  const TileMachineAtom *atom = &product->atom;
  const int64_t sizes[3][2] = {{atom->m, atom->k}, {atom->k, atom->n}, {atom->m, atom->n}};
  MlirValue value = tileOpOperand(product->op, name);
  const char *text = atom->fragment[which][0] ? atom->fragment[which] : empty;
  TileError error;
  operand->type = mlirValueGetType(value);
  operand->layout = gpuLayoutOf(operand->type);
  operand->registers = gpuTile(g, value);
  operand->batchAxes = tileTypeGetRank(operand->type) - 2;
  memcpy(operand->sizes, sizes[which], sizeof operand->sizes);
  if (!tileLayoutParse(text, strlen(text), &operand->fragment, &error))
    return tileError(product->op, "%s", error.text);
  operand->count = (intptr_t)tileLayoutDimSize(&operand->fragment, TileLayoutReg);
  return operand->count <= MaxFragment || gpuRefuse(product->op, "fragments of more than 64 registers");
}

static bool readProduct(Gpu *g, MlirOperation op, Product *product) {
  MlirStringRef name = tileKeywordOf(op, "atom");
  TileError error;
  product->op = op;
  snprintf(product->name, sizeof product->name, "%.*s", (int)name.length, name.data);
  if (!tileMachineFindAtom(g->options->machine, product->name, &product->atom, &error))
    return tileError(op, "%s", error.text);
  return readOperand(g, product, OperandA, "lhs") && readOperand(g, product, OperandB, "rhs") &&
         readOperand(g, product, OperandC, "accumulator");
}

// "f16 x f16 -> f32 is not among the types of mma.sync.m16n8k16 on sm_80: …"
static bool expectTypes(Gpu *g, const Product *product) {
  char text[3][32];
  for (int i = 0; i < 3; ++i)
    tileTypeText(tileTypeGetElement(product->operands[i].type), text[i], sizeof text[i]);
  return tileMachineAtomTakes(&product->atom, text[0], text[1], text[2]) ||
         tileError(product->op, "multiplies %s by %s into %s, want what atom \"%s\" takes on %s: %s", text[0], text[1],
                   text[2], product->name, tileMachineGetName(g->options->machine), product->atom.types);
}

//===--- fragments ----------------------------------------------------------------------------===//

typedef struct Place {
  uint32_t batch, row, column; // in units of the atom
} Place;

static TileLayoutPoint pointOf(const TileLayout *layout, intptr_t reg) {
  TileLayoutPoint at = {{(uint32_t)reg}};
  return tileLayoutApply(layout, at);
}

// The repetition a register of the first thread belongs to, and its place in the fragment.
static Place placeOf(const Operand *operand, intptr_t reg, TileLayoutPoint *inside) {
  TileLayoutPoint point = pointOf(&operand->layout, reg);
  uint32_t row = point.at[operand->batchAxes], column = point.at[operand->batchAxes + 1];
  uint32_t rows = (uint32_t)operand->sizes[0], columns = (uint32_t)operand->sizes[1];
  *inside = (TileLayoutPoint){{row % rows, column % columns}};
  return (Place){operand->batchAxes ? point.at[0] : 0, row / rows, column / columns};
}

static bool samePlace(Place a, Place b) { return a.batch == b.batch && a.row == b.row && a.column == b.column; }

static intptr_t registerInFragment(const Operand *operand, TileLayoutPoint inside) {
  for (intptr_t reg = 0; reg < operand->count; ++reg) {
    TileLayoutPoint point = pointOf(&operand->fragment, reg);
    if (!memcmp(&point, &inside, sizeof point))
      return reg;
  }
  return -1;
}

// The registers of one repetition in the fragment's order; false where one is missing.
static bool fragmentAt(const Operand *operand, Place place, intptr_t *registers) {
  intptr_t found = 0, count = (intptr_t)tileLayoutDimSize(&operand->layout, TileLayoutReg);
  for (intptr_t reg = 0; reg < operand->count; ++reg)
    registers[reg] = -1;
  for (intptr_t reg = 0; reg < count; ++reg) {
    TileLayoutPoint inside;
    if (!samePlace(placeOf(operand, reg, &inside), place))
      continue;
    intptr_t at = registerInFragment(operand, inside);
    if (at >= 0 && registers[at] < 0) {
      registers[at] = reg;
      ++found;
    }
  }
  return found == operand->count;
}

//===--- warps ----------------------------------------------------------------------------------===//

static TileLayoutPoint warpStep(const TileLayout *layout, uint32_t bit) {
  uint32_t before = layout->bits[TileLayoutReg] + layout->bits[TileLayoutLane];
  TileLayoutPoint none = {{0}};
  return bit < layout->bits[TileLayoutWarp] ? layout->steps[before + bit] : none;
}

// Each warp has the rows of A and the columns of B that its part of the accumulator wants, and all of K.
static bool expectWarps(Gpu *g, const Product *product) {
  const Operand *a = &product->operands[OperandA], *b = &product->operands[OperandB], *c = &product->operands[OperandC];
  intptr_t m = c->batchAxes, n = m + 1;
  for (uint32_t bit = 0; bit < g->warpBits; ++bit) {
    TileLayoutPoint inA = warpStep(&a->layout, bit), inB = warpStep(&b->layout, bit), inC = warpStep(&c->layout, bit);
    bool fits = inA.at[m] == inC.at[m] && !inA.at[n] && inB.at[n] == inC.at[n] && !inB.at[m];
    if (m)
      fits = fits && inA.at[0] == inC.at[0] && inB.at[0] == inC.at[0];
    if (!fits)
      return tileError(product->op,
                       "spreads its operands over warps in different ways, want each warp to have the rows of the left "
                       "and the columns of the right operand of its part of the result, and all of what is summed");
  }
  return true;
}

//===--- the instructions -----------------------------------------------------------------------===//

static bool pick(Gpu *g, const Product *product, int which, Place place, MlirValue *values) {
  const Operand *operand = &product->operands[which];
  intptr_t registers[MaxFragment];
  if (!fragmentAt(operand, place, registers))
    return gpuRefuse(product->op, "an operand that lacks a fragment the product needs");
  for (intptr_t i = 0; i < operand->count; ++i) {
    values[i] = operand->registers[registers[i]];
    MlirType type = mlirValueGetType(values[i]);
    if (gpuIsSmallFloat(type))
      values[i] = gpuOp(g, "arith.bitcast", mlirIntegerTypeGet(g->context, gpuBits(type)), values[i]);
  }
  return true;
}

// One step of K into the accumulator's fragment at `place`, whose registers `sums` holds.
static bool multiply(Gpu *g, const Product *product, Place place, uint32_t k, MlirValue *sums) {
  const Operand *c = &product->operands[OperandC];
  MlirValue a[MaxFragment], b[MaxFragment], sum[MaxFragment], next[MaxFragment];
  intptr_t registers[MaxFragment];
  if (!fragmentAt(c, place, registers))
    return gpuRefuse(product->op, "an accumulator that lacks a part of a fragment");
  if (!pick(g, product, OperandA, (Place){place.batch, place.row, k}, a) ||
      !pick(g, product, OperandB, (Place){place.batch, k, place.column}, b))
    return false;
  for (intptr_t i = 0; i < c->count; ++i)
    sum[i] = sums[registers[i]];
  GpuProduct one = {.atom = &product->atom, .name = product->name, .a = a, .b = b, .c = sum, .d = next};
  for (int i = 0; i < 3; ++i) {
    one.element[i] = tileTypeGetElement(product->operands[i].type);
    one.count[i] = product->operands[i].count;
  }
  if (!g->vocabulary->mma(&g->builder, product->op, &one))
    return false;
  for (intptr_t i = 0; i < c->count; ++i)
    sums[registers[i]] = next[i];
  return true;
}

// The first register of each fragment of the accumulator; copies of one are refused.
static bool firstRegisters(Gpu *g, const Product *product, intptr_t *firsts, intptr_t *numFirsts) {
  const Operand *c = &product->operands[OperandC];
  intptr_t count = (intptr_t)tileLayoutDimSize(&c->layout, TileLayoutReg), registers[MaxFragment];
  bool *isTaken = gpuAllocate(g, (size_t)count);
  *numFirsts = 0;
  for (intptr_t reg = 0; reg < count; ++reg) {
    TileLayoutPoint inside;
    if (isTaken[reg])
      continue;
    firsts[(*numFirsts)++] = reg;
    if (!fragmentAt(c, placeOf(c, reg, &inside), registers))
      return gpuRefuse(product->op, "an accumulator that lacks a part of a fragment");
    for (intptr_t i = 0; i < c->count; ++i)
      isTaken[registers[i]] = true;
    if (!isTaken[reg])
      return gpuRefuse(product->op, "an accumulator with copies in registers");
  }
  return true;
}

// K outermost: the fragments of one step are not needed while another's are.
static bool multiplyAll(Gpu *g, const Product *product, MlirValue *sums) {
  const Operand *c = &product->operands[OperandC];
  intptr_t count = (intptr_t)tileLayoutDimSize(&c->layout, TileLayoutReg), numFirsts;
  intptr_t *firsts = gpuAllocate(g, (size_t)count * sizeof *firsts);
  int64_t depth = tileTypeGetSize(product->operands[OperandA].type, c->batchAxes + 1) / product->atom.k;
  if (!firstRegisters(g, product, firsts, &numFirsts))
    return false;
  memcpy(sums, c->registers, (size_t)count * sizeof *sums);
  for (uint32_t k = 0; k < depth; ++k)
    for (intptr_t i = 0; i < numFirsts; ++i) {
      TileLayoutPoint inside;
      if (!multiply(g, product, placeOf(c, firsts[i], &inside), k, sums))
        return false;
    }
  return true;
}

bool gpuLowerMma(Gpu *g, MlirOperation op) {
  Product product;
  if (tileOpAttribute(op, "precision").ptr && !tileKeywordIs(op, "precision", "ieee") &&
      !tileKeywordIs(op, "precision", "tf32"))
    return gpuRefuse(op, "a product of f32 in several parts");
  if (tileKeywordIs(op, "atom", "fma"))
    return gpuLowerFma(g, op);
  return readProduct(g, op, &product) && expectTypes(g, &product) && expectWarps(g, &product) &&
         multiplyAll(g, &product, gpuRecordTile(g, mlirOperationGetResult(op, 0)));
}
