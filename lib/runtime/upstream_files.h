// upstream_files.h - what sparse_tensor.new becomes, for compiled code: a reader of Matrix Market and FROSTT files.
// Why: programs written for upstream's runner read by its library's functions, so they run here without it.
//
//   TENSOR0=wide.mtx tile-run spmv.mlir        // getTensorFilename(0)
//
// Names and arguments are those of libmlir_c_runner_utils (MLIR 22). A file that cannot be read stops the program with
// the file's name, the line and what is expected (tessera_raise).
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct tessera_sparse_reader_t tessera_sparse_reader_t;

// A memref of one dimension as the C interface passes it.
typedef struct tessera_memref_1d_t {
  void *allocated, *aligned;
  int64_t offset, size, stride;
} tessera_memref_1d_t;

// The value of the environment variable TENSORn.
const char *getTensorFilename(int64_t number);

// Opens the file; |shape| has a size for each dimension, 0 where the type leaves it open. Entries of a symmetric matrix
// count twice, on either side of the diagonal.
tessera_sparse_reader_t *_mlir_ciface_createCheckedSparseTensorReader( // NOLINT(bugprone-reserved-identifier)
    const char *path, const tessera_memref_1d_t *shape, uint32_t value_type);
void _mlir_ciface_getSparseTensorReaderDimSizes( // NOLINT(bugprone-reserved-identifier)
    tessera_memref_1d_t *out_sizes, const tessera_sparse_reader_t *reader);
int64_t getSparseTensorReaderNSE(const tessera_sparse_reader_t *reader);
void delSparseTensorReader(tessera_sparse_reader_t *reader);

// Each entry's coordinates by level, then its value. True when the entries come in order of their levels.
#define TESSERA_READ_VALUES(X, bits, coordinate)                                                                       \
  X(bits, coordinate, F64, double)                                                                                     \
  X(bits, coordinate, F32, float)                                                                                      \
  X(bits, coordinate, I64, int64_t)                                                                                    \
  X(bits, coordinate, I32, int32_t)                                                                                    \
  X(bits, coordinate, I16, int16_t)                                                                                    \
  X(bits, coordinate, I8, int8_t)
#define TESSERA_READ_BUFFERS(X)                                                                                        \
  TESSERA_READ_VALUES(X, 0, uint64_t)                                                                                  \
  TESSERA_READ_VALUES(X, 8, uint8_t)                                                                                   \
  TESSERA_READ_VALUES(X, 16, uint16_t)                                                                                 \
  TESSERA_READ_VALUES(X, 32, uint32_t)                                                                                 \
  TESSERA_READ_VALUES(X, 64, uint64_t)
#define X(bits, coordinate, name, value)                                                                               \
  bool _mlir_ciface_getSparseTensorReaderReadToBuffers##bits##name(/* NOLINT(bugprone-reserved-identifier) */          \
                                                                   const tessera_sparse_reader_t *reader,              \
                                                                   const tessera_memref_1d_t *dim_to_level,            \
                                                                   const tessera_memref_1d_t *level_to_dim,            \
                                                                   tessera_memref_1d_t *out_coordinates,               \
                                                                   tessera_memref_1d_t *out_values);
TESSERA_READ_BUFFERS(X)
#undef X
