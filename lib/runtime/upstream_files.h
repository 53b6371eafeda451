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
#define TESSERA_READ_COORDINATES(X) X(0, uint64_t) X(8, uint8_t) X(16, uint16_t) X(32, uint32_t) X(64, uint64_t)
#define TESSERA_READ_VALUES(X, bits)                                                                                   \
  X(bits, F64)                                                                                                         \
  X(bits, F32)                                                                                                         \
  X(bits, F16)                                                                                                         \
  X(bits, BF16)                                                                                                        \
  X(bits, I64)                                                                                                         \
  X(bits, I32)                                                                                                         \
  X(bits, I16)                                                                                                         \
  X(bits, I8)                                                                                                          \
  X(bits, C64)                                                                                                         \
  X(bits, C32)
#define TESSERA_READ_BUFFERS(X)                                                                                        \
  TESSERA_READ_VALUES(X, 0)                                                                                            \
  TESSERA_READ_VALUES(X, 8)                                                                                            \
  TESSERA_READ_VALUES(X, 16)                                                                                           \
  TESSERA_READ_VALUES(X, 32)                                                                                           \
  TESSERA_READ_VALUES(X, 64)
#define X(bits, name)                                                                                                  \
  bool _mlir_ciface_getSparseTensorReaderReadToBuffers##bits##name(/* NOLINT(bugprone-reserved-identifier) */          \
                                                                   const tessera_sparse_reader_t *reader,              \
                                                                   const tessera_memref_1d_t *dim_to_level,            \
                                                                   const tessera_memref_1d_t *level_to_dim,            \
                                                                   tessera_memref_1d_t *out_coordinates,               \
                                                                   tessera_memref_1d_t *out_values);
TESSERA_READ_BUFFERS(X)
#undef X
