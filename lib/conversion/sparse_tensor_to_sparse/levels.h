// One format in both dialects: upstream's level list beside our encoding, and the stored tensors of the one from those
// of the other.
//
//   ours                    upstream (posWidth, crdWidth as ours; 0, upstream's default, is i64 here)
//   csr, csc                (i : dense, j : compressed), with i and j swapped for csc
//   coo                     (i : compressed(nonunique), …, j : singleton), singletons (soa) or not; nonordered:
//   unordered.
//                           Of one axis: (i : compressed)
//   bsr<block = [a, b]>     (i floordiv a : dense, j floordiv b : compressed, i mod a : dense, j mod b : dense)
//   nm<n, m>, no vectors    (i : dense, j floordiv m : dense, j mod m : structured[n, m]), swapped for axis = 0
//
// Vector- and block-wise nm, masks and sums have no level list; batches, loose levels, hashes, other ranks and other
// maps no encoding.
#pragma once

#include "dialects/sparse/sparse.h"
#include "lib/capi/conversion.h"
#include "lib/ir/builder.h"
#include "mlir-c/Dialect/SparseTensor.h"

// A tensor with an encoding of upstream's. Inline: dense programs stop here.
static inline bool sparseTensorIsEncoded(MlirType type) {
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && mlirAttributeIsASparseTensorEncodingAttr(encoding);
}

// Our type of an upstream tensor, and the other way around; null where there is none.
MlirType sparseTypeFromLevels(MlirType tensor);
MlirType sparseTypeToLevels(MlirType tensor);

// What is stored, as upstream's assemble takes it: positions and coordinates by level, then the values in one row.
enum { SparseMaxLevelTensors = 10 };
typedef struct SparseLevelTensors {
  MlirValue levels[SparseMaxLevelTensors], values;
  intptr_t count;
} SparseLevelTensors;

// `theirs` is the upstream type; its stored tensors become the components of `ours`, with the types these name.
void sparseComponentsFromLevels(TileBuilder *builder, MlirType theirs, MlirType ours, const SparseLevelTensors *stored,
                                MlirValue components[SPARSE_MAX_COMPONENTS]);
SparseLevelTensors sparseLevelsFromComponents(TileBuilder *builder, MlirType theirs, MlirType ours,
                                              const MlirValue components[SPARSE_MAX_COMPONENTS]);
// Which of them are the positions and the coordinates of a level; -1: none. `*axis`: along the second axis of
// coordinates that stand together, or -1.
intptr_t sparseLevelPositions(MlirType theirs, int64_t level);
intptr_t sparseLevelCoordinates(MlirType theirs, int64_t level, intptr_t *axis);
// The upstream type of stored tensor number `index`.
MlirType sparseLevelType(MlirType theirs, intptr_t index);

// A pattern of either way, as MlirExtConversionCallback has it.
#define SPARSE_PATTERN(name)                                                                                           \
  static MlirLogicalResult name(MlirOperation op, intptr_t count, const MlirValue *operands,                           \
                                MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *data)
// The op's results become the values: success.
MlirLogicalResult sparseReplaceWith(MlirPatternRewriter rewriter, MlirOperation op, intptr_t count,
                                    const MlirValue *values);

// What both ways are: the ops of the rows converted, with the types of functions and of scf ops around them.
typedef struct SparseConversionRow {
  bool (*isA)(MlirOperation op);
  MlirExtConversionCallback convert;
} SparseConversionRow;
bool sparseConvertOps(MlirOperation module, size_t count, const SparseConversionRow *rows,
                      MlirExtTypeConversion convertType, MlirExtLegalityCallback isLegal);

// tensor.cast where the types differ.
MlirValue sparseCastTo(TileBuilder *builder, MlirValue tensor, MlirType type);
