// The Sparse dialect from C: register it, ask how a tensor is stored, and which dense tensors it consists of.
// Expects: a context with the dialect loaded for every function that makes something.
//
//   MlirAttribute encoding = sparseTypeGetEncoding(type);              // tensor<64x128xf32, #sparse.csr>
//   if (sparseEncodingIs(encoding, SparseScheme_Windows)) { int64_t m = sparseEncodingGetNumber(encoding, "m"); … }
//   SparseComponent parts[SPARSE_MAX_COMPONENTS];
//   intptr_t count = sparseTypeGetComponents(type, parts);             // positions, coordinates, values
//
// How each format lays out its components: the table at sparseTypeGetComponents, which pack, assemble, the interpreter,
// .npz files and lowerings all follow.
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/layout.h"
#include "mlir-c/BuiltinTypes.h"

void sparseRegisterDialect(MlirDialectRegistry registry);

enum { SparseMaxRank = TILE_LAYOUT_MAX_AXES }; // an encoded tensor's axes become axes of tiles

//===--- encodings ----------------------------------------------------------===//

// How components are laid out (the table at sparseTypeGetComponents). Whoever reads or writes components knows schemes,
// not formats: a format of a known scheme is a row (formats/*.c).
typedef enum SparseScheme {
  SparseScheme_Segments,    // positions of segments along the major axis, coordinates along the other
  SparseScheme_Coordinates, // all coordinates of each entry
  SparseScheme_Windows,     // so many of each window
  SparseScheme_Tiles,       // a dense matrix and which tiles hold something
  SparseScheme_Parts,       // those of all parts
} SparseScheme;

typedef enum SparseKeyForm {
  SparseKey_None,        // ends a format's keys
  SparseKey_Number,      // n = 3
  SparseKey_Sizes,       // block = [32, 32]: one per axis
  SparseKey_IntegerType, // coordinates = i32
  SparseKey_Flag,        // unordered
  SparseKey_Parts,       // parts = [#sparse.csr, …]
} SparseKeyForm;

enum { SparseKeyRequired = -1, SparseMaxKeys = 5 };
typedef struct SparseKey {
  const char *name;
  SparseKeyForm form;
  int64_t fallback; // of a number, of each size, or a type's width; SparseKeyRequired: none
} SparseKey;

typedef struct SparseFormat {
  const char *name; // "csr"
  SparseScheme scheme;
  int major;        // of segments: along which axis they lie
  const char *cell; // the key with the sizes of a block or tile; null: elements stand alone
  SparseKey keys[SparseMaxKeys + 1];
  bool (*verify)(MlirExtEmitter emitter, const MlirAttribute *values); // what keys say together; null: nothing
} SparseFormat;

// The formats. A new one is a file in formats/, a word here, and its lowering (lib/conversion/sparse_to_tile/formats).
#define SPARSE_FORMATS(X)                                                                                              \
  X(Csr, "csr") X(Csc, "csc") X(Coo, "coo") X(Bsr, "bsr") X(Nm, "nm") X(Mask, "mask") X(Sum, "sum")
#define SPARSE_DECLARE_FORMAT(Name, text) extern const SparseFormat sparse##Name##Format;
SPARSE_FORMATS(SPARSE_DECLARE_FORMAT)

bool sparseAttributeIsAnEncoding(MlirAttribute attribute);           // false for null
const SparseFormat *sparseEncodingGetFormat(MlirAttribute encoding); // null for another attribute, and for null
bool sparseEncodingIs(MlirAttribute attribute, SparseScheme scheme); // false for another attribute, and for null
bool sparseEncodingMayRepeat(MlirAttribute encoding);                // two entries may stand at one place

// What an encoding says by a key of its format, default included: `m` of nm, `block` of bsr, `coordinates` of csr.
// A key that the format lacks is a mistake of the caller.
int64_t sparseEncodingGetNumber(MlirAttribute encoding, const char *key);
int64_t sparseEncodingGetSize(MlirAttribute encoding, const char *key, intptr_t axis); // of a pair of sizes
bool sparseEncodingGetFlag(MlirAttribute encoding, const char *key);
MlirType sparseEncodingGetType(MlirAttribute encoding, const char *key);
intptr_t sparseEncodingGetNumParts(MlirAttribute sum);
MlirAttribute sparseEncodingGetPart(MlirAttribute sum, intptr_t index);

// An encoding of the format "csr", with values for some of its keys; the other keys have their defaults. A type is its
// width in bits, a flag 1. `values` ends with a null key. Null, after a diagnostic, if the format's verifier refuses.
typedef struct SparseKeyValue {
  const char *key;
  int64_t numbers[2];
} SparseKeyValue;
MlirAttribute sparseEncodingMake(MlirContext context, const char *format, const SparseKeyValue *values);

// What #sparse.nm says: along `axis`, n of each window of m elements stay; `lines` neighbours along the other axis
// share which, and `together` adjacent elements stay or go as one.
typedef struct SparseWindows {
  int64_t n, m, axis, lines, together;
} SparseWindows;
SparseWindows sparseEncodingGetWindows(MlirAttribute nm);

// An encoding's scheme with its numbers.
typedef struct SparseStorage {
  SparseScheme scheme;
  int major;
  bool hasCells;         // blocks or tiles, not single elements
  int64_t cell[2];       // elements along each axis of a block, a tile or a window; else 1
  SparseWindows windows; // of the scheme Windows
  bool isUnordered;
} SparseStorage;
SparseStorage sparseEncodingGetStorage(MlirAttribute encoding);

//===--- #sparse.attribute ----------------------------------------------------===//

// What is known of a tensor, rectangle by rectangle (known.c). Carried by ops and arguments as `sparse.attribute`.
typedef enum SparseKnownKey { SparseKnown_Zero = 1, SparseKnown_Dead, SparseKnown_Bits } SparseKnownKey;
bool sparseAttributeIsKnown(MlirAttribute attribute); // false for null
// Sizes of rectangles, and one map or more; a null map is left out. Null after a diagnostic, if they do not fit.
MlirAttribute sparseKnownMake(MlirContext context, intptr_t rank, const int64_t *grain, MlirAttribute zero,
                              MlirAttribute dead, MlirAttribute bits);
intptr_t sparseKnownGetRank(MlirAttribute known);
int64_t sparseKnownGetGrain(MlirAttribute known, intptr_t axis);
MlirAttribute sparseKnownGetMap(MlirAttribute known, SparseKnownKey key); // null: it is not given

//===--- #sparse.micro_tiles --------------------------------------------------===//

// How a product gathers what a run-time mask names (micro_tiles.c). Carried by sparse.spmm as `sparse.micro_tiles`.
typedef struct SparseMicroTiles {
  int64_t axis, by, lines; // `by` neighbours along `axis` of so many lines
  int64_t denseAbove;      // percent
  int64_t entryCost;       // of a single element, to one in a micro-tile, in percent; 0: never singly
} SparseMicroTiles;
extern const char sparseMicroTilesName[];
MlirAttribute sparseMicroTilesMake(MlirContext context, SparseMicroTiles tiles);
bool sparseMicroTilesOf(MlirOperation op, SparseMicroTiles *tiles); // false: the op carries none

//===--- tensors ------------------------------------------------------------===//

// Null when the type is no tensor of one of our encodings. Inline: dense programs stop at the first question.
static inline MlirAttribute sparseTypeGetEncoding(MlirType type) {
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && sparseAttributeIsAnEncoding(encoding) ? encoding : mlirAttributeGetNull();
}
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
