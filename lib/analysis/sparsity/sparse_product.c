// Recognizes products of sparse matrices by matrix instructions. See sparse_product.h.
#include "lib/analysis/sparsity/sparse_product.h"

#include "dialects/sparse/ops.h"

#include <string.h>

enum {
  LeastLines = 4, // the fewest lines that make gathering pay
  MostLines = 64, // in one part
  Height = 16,    // of an instruction, at least
};

// The type of the instructions' sums; null: the instructions do not take these elements.
static MlirType sumOf(MlirType element) {
  MlirContext context = mlirTypeGetContext(element);
  if (mlirTypeIsAF16(element) || mlirTypeIsABF16(element))
    return mlirF32TypeGet(context);
  bool isByte = mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 8;
  return isByte ? mlirIntegerTypeGet(context, 32) : (MlirType){NULL};
}

// Results that the sums can start from and end in.
static bool fitsSum(MlirType result, MlirType sum) {
  if (mlirTypeIsAFloat(sum))
    return mlirTypeIsAF32(result) || mlirTypeIsAF16(result) || mlirTypeIsABF16(result);
  return mlirTypeIsAInteger(result) && mlirIntegerTypeGetWidth(result) <= 32;
}

// Shared lines that one program takes, or that parts as high as instructions make up.
static bool fitsHeight(int64_t lines) { return lines >= LeastLines && (lines <= MostLines || lines % Height == 0); }

// The depth of the machine's deepest instruction for these types, which all of them divide; 0: there is none.
static int64_t depthOf(const TileMachine *machine, MlirType element, MlirType sum, bool isSparse) {
  char in[32], out[32];
  int64_t deepest = 0;
  tileTypeText(element, in, sizeof in);
  tileTypeText(sum, out, sizeof out);
  for (size_t i = 0; i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    TileMachineAtom atom;
    if (!strncmp(key, "atom.", 5) && !strchr(key, '*') && tileMachineFindAtom(machine, key + 5, &atom, NULL) &&
        atom.warps == 1 && isSparse == !!atom.fragment[3][0] && !atom.scales[0] &&
        tileMachineAtomTakes(&atom, in, in, out) && atom.k > deepest)
      deepest = atom.k;
  }
  return deepest;
}

static bool isPlainSum(MlirOperation op) {
  MlirAttribute semiring = tileOpAttribute(op, "semiring");
  return mlirAttributeIsNull(semiring) || tileStringEquals(mlirStringAttrGetValue(semiring), "add_mul");
}

bool tileSparseProductMatch(MlirOperation op, const TileTarget *target, MlirType factor, MlirType out,
                            TileSparseProduct *product) {
  MlirType element = mlirShapedTypeGetElementType(factor);
  TileSparseProduct *p = product;
  if (!target->search.isGpu || !isPlainSum(op))
    return false;
  *p = (TileSparseProduct){.windows = sparseEncodingGetWindows(sparseTypeGetEncoding(factor)), .sum = sumOf(element)};
  p->isTwoOfFour = p->windows.n == 2 && p->windows.m == 4 && p->windows.lines == 1 && p->windows.together == 1;
  if (mlirTypeIsNull(p->sum) || !fitsSum(out, p->sum) || !(p->isTwoOfFour || fitsHeight(p->windows.lines)))
    return false;
  p->step = depthOf(target->machine, element, p->sum, p->isTwoOfFour);
  return p->step > 0;
}

//===--- its tile ---------------------------------------------------------------===//

static void setExtent(TileOperator *op, int dim, int64_t extent) {
  op->dims[dim].isUnknown = mlirShapedTypeIsDynamicSize(extent);
  if (!op->dims[dim].isUnknown && extent > 0)
    op->dims[dim].extent = extent;
}

static TileOperator describe(MlirType factor, const TileSparseProduct *p, int64_t rows, int64_t columns) {
  enum { UnknownExtent = 1024 }; // of a size that is not known
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirType element = mlirShapedTypeGetElementType(factor);
  int64_t depth = mlirShapedTypeGetDimSize(factor, p->windows.axis);
  TileOperator op = tileOperatorProduct(UnknownExtent, UnknownExtent, UnknownExtent,
                                        mlirTypeIsAInteger(element) ? "i8"
                                        : mlirTypeIsAF16(element)   ? "f16"
                                                                    : "bf16",
                                        mlirTypeIsAInteger(element) ? 8 : 16, 32);
  sparseTypeGetComponents(factor, parts);
  if (!p->isTwoOfFour) { // the lines of a group and what they keep
    int64_t count = mlirShapedTypeGetDimSize(parts[1].type, 1);
    rows = p->windows.lines;
    depth = mlirShapedTypeIsDynamicSize(count) ? count : count * p->windows.n;
  }
  setExtent(&op, op.m, rows);
  setExtent(&op, op.n, columns);
  setExtent(&op, op.k, depth);
  return op;
}

bool tileSparseProductDescribe(MlirOperation op, const TileTarget *target, TileOperator *described) {
  bool isVector = sparseSpmvOpIsA(op);
  MlirType type = isVector ? sparseSpmvOpGetMatrixType(op) : sparseSpmmOpGetLhsType(op);
  MlirType init = isVector ? sparseSpmvOpGetInitType(op) : sparseSpmmOpGetInitType(op);
  bool isLeft = !mlirAttributeIsNull(sparseTypeGetEncoding(type));
  if (!isLeft)
    type = sparseSpmmOpGetRhsType(op);
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  const char *turned = isVector ? "transpose" : isLeft ? "transpose_lhs" : "transpose_rhs";
  bool isTurned = !mlirAttributeIsNull(tileOpAttribute(op, turned)), isTransposed = isLeft ? isTurned : !isTurned;
  bool isSum = sparseEncodingIs(encoding, SparseScheme_Parts);
  intptr_t terms = isSum ? sparseEncodingGetNumParts(encoding) : 1;
  int64_t rows = mlirShapedTypeGetDimSize(init, isLeft ? 0 : 1);
  int64_t columns = isVector ? 1 : mlirShapedTypeGetDimSize(init, isLeft ? 1 : 0);
  for (intptr_t i = 0; i < terms; ++i) {
    MlirAttribute term = isSum ? sparseEncodingGetPart(encoding, i) : encoding;
    MlirType factor = isSum ? sparseTypeWithEncoding(type, term) : type;
    TileSparseProduct product;
    if (!sparseEncodingIs(term, SparseScheme_Windows) ||
        sparseEncodingGetWindows(term).axis != (isTransposed ? 0 : 1) ||
        !tileSparseProductMatch(op, target, factor, mlirShapedTypeGetElementType(init), &product))
      continue;
    *described = describe(factor, &product, rows, columns);
    return true;
  }
  return false;
}
