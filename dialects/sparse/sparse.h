// The Sparse dialect from C: register it, ask how a tensor is stored, and of which dense tensors that consists.
// Expects: a context with the dialect loaded for every function that makes something.
//
//   MlirAttribute encoding = sparseTypeGetEncoding(type);              // tensor<64x128xf32, #sparse.csr>
//   if (sparseEncodingIs(encoding, SparseNm)) { int64_t m = sparseEncodingGetNumber(encoding, "m"); … }
//   SparseComponent parts[SPARSE_MAX_COMPONENTS];
//   intptr_t count = sparseTypeGetComponents(type, parts);             // positions, coordinates, values
//
// How each format lays out its components: the table at sparseTypeGetComponents, which pack, assemble, the interpreter,
// .npz files and lowerings all follow.
#ifndef TESSERA_DIALECTS_SPARSE_SPARSE_H
#define TESSERA_DIALECTS_SPARSE_SPARSE_H

#include "lib/capi/common.h"

void sparseRegisterDialect(MlirDialectRegistry registry);

//===--- encodings ----------------------------------------------------------===//

typedef enum SparseFormat {
  SparseCsr,
  SparseCsc,
  SparseCoo,
  SparseBsr,
  SparseNm,
  SparseMask,
  SparseSum,
  SparseNumFormats
} SparseFormat;

bool sparseAttributeIsAnEncoding(MlirAttribute attribute); // false for null
bool sparseEncodingIs(MlirAttribute attribute, SparseFormat format);
SparseFormat sparseEncodingGetFormat(MlirAttribute encoding);
const char *sparseFormatName(SparseFormat format); // "csr"

// What an encoding says by a key of its format, default included: `m` of nm, `block` of bsr, `coordinates` of csr.
// A key that the format lacks is a mistake of the caller.
int64_t sparseEncodingGetNumber(MlirAttribute encoding, const char *key);
int64_t sparseEncodingGetSize(MlirAttribute encoding, const char *key, intptr_t axis); // of a pair of sizes
bool sparseEncodingGetFlag(MlirAttribute encoding, const char *key);
MlirType sparseEncodingGetType(MlirAttribute encoding, const char *key);
intptr_t sparseEncodingGetNumParts(MlirAttribute sum);
MlirAttribute sparseEncodingGetPart(MlirAttribute sum, intptr_t index);

// What #sparse.nm says: along `axis`, n of each window of m elements stay; `lines` neighbours along the other axis
// share which, and `together` adjacent elements stay or go as one.
typedef struct SparseWindows {
  int64_t n, m, axis, lines, together;
} SparseWindows;
SparseWindows sparseEncodingGetWindows(MlirAttribute nm);

//===--- tensors ------------------------------------------------------------===//

MlirAttribute sparseTypeGetEncoding(MlirType type); // null when the type is no tensor of one of our encodings
MlirType sparseTypeWithEncoding(MlirType tensor, MlirAttribute encodingOrNull);

// The dense tensors an encoded one consists of, in this order. R×C is its shape, E its element type, P and I the types
// that the keys `positions` and `coordinates` name, nnz how many entries are stored.
//
//   csr    positions (R+1)xP, coordinates nnz x I, values nnz x E      row r: entries positions[r] to positions[r+1]-1,
//                                                                      columns strictly ascending in it
//   csc    the same with columns in place of rows                      positions (C+1)xP
//   coo    coordinates rank x nnz x I, values nnz x E                  in row-major order, none twice; `unordered`: in
//                                                                      any order, and those at one place add up
//   bsr    positions (⌈R/b0⌉+1)xP, coordinates nnz x I, values nnz x b0 x b1 x E        csr of blocks; what a block has
//                                                                      beyond the matrix is zero
//   nm     coordinates G x W x n/v x I, values G x W x n x u x E       along `axis`, W windows of m elements; along the
//                                                                      other axis G groups of u lines that keep the
//                                                                      same n of each window, v adjacent ones at a
//                                                                      time. coordinates: the first of each v, in units
//                                                                      of v within its window, strictly ascending.
//                                                                      Beyond the matrix values are zero
//   mask   mask ⌈R/t0⌉ x ⌈C/t1⌉ x i1, values R x C x E                 where the mask is false the values are zero
//   sum    the components of all parts, one after another              their entries add up
enum { SPARSE_MAX_COMPONENTS = 12 };
typedef struct SparseComponent {
  const char *name; // "positions"
  MlirType type;    // an unencoded tensor; sizes that the type leaves open are dynamic
} SparseComponent;
intptr_t sparseTypeGetComponents(MlirType type, SparseComponent components[SPARSE_MAX_COMPONENTS]);

#endif
