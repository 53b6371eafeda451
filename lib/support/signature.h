// signature.h - what an entry function of a program takes and gives: all that marshalling needs to know of it.
//
// tile-run reads it from the func.func, tile-exec from a program's manifest (lib/runtime/manifest.h).
#pragma once

#include "lib/support/array.h"

#include <stdlib.h>
#include <string.h>

enum { TESSERA_MAX_VALUES = 4096, TESSERA_SPARSE_RANK = 8 }; // MAX_VALUES: of arguments, and of results

// How its components are laid out, as SparseScheme of dialects/sparse/sparse.h.
typedef enum tessera_sparse_scheme_t {
  TESSERA_SPARSE_SEGMENTS,
  TESSERA_SPARSE_COORDINATES,
  TESSERA_SPARSE_WINDOWS,
  TESSERA_SPARSE_TILES,
  TESSERA_SPARSE_PARTS
} tessera_sparse_scheme_t;

// A tensor of a sparse format (dialects/sparse/sparse.h) among arguments or results: one .npz file (sparse_npz.h), but
// passed as several values, its components in order, then one i64 for each size that its type leaves open.
typedef struct tessera_sparse_t {
  int num_values, num_components; // 0: no such tensor begins here
  char format[8], encoding[160];  // "nm", "#sparse.nm<n = 2, m = 4>"
  tessera_sparse_scheme_t scheme;
  int rank;
  int64_t shape[TESSERA_SPARSE_RANK]; // negative sizes are dynamic
  int64_t cell[2];                    // elements along each axis of a block, tile or window; else 1
  int64_t axis, places;               // of segments and windows: along which axis; places in a window
  bool is_unordered;                  // of coo
} tessera_sparse_t;

// One argument or result: a scalar (rank 0, not in memory) or a tensor/memref. Negative sizes are dynamic.
typedef struct tessera_value_t {
  tessera_element_t element;
  bool in_memory, is_memref; // is_memref: an argument the program may write
  int rank;
  int64_t shape[TESSERA_MAX_RANK];
  tessera_packing_t packing; // of elements of fewer than 8 bits: `element` is ui8, the last size in bytes
  tessera_sparse_t sparse;   // of the first value of such a tensor
} tessera_value_t;

// The number of values of the argument or result whose first value is `value`.
static inline int tessera_value_span(const tessera_value_t *value) {
  return value->sparse.num_values ? value->sparse.num_values : 1;
}

typedef struct tessera_signature_t {
  int num_arguments, num_results;
  tessera_value_t *arguments, *results; // owned: one allocation
} tessera_signature_t;

// All values zero: whoever creates it fills them.
static inline bool tessera_signature_create(tessera_signature_t *out_signature, int num_arguments, int num_results,
                                            tessera_error_t *out_error) {
  tessera_value_t *values = calloc((size_t)num_arguments + (size_t)num_results + 1, sizeof *values);
  *out_signature = (tessera_signature_t){.arguments = values};
  if (!values)
    return tessera_fail(out_error, "out of memory");
  *out_signature = (tessera_signature_t){num_arguments, num_results, values, values + num_arguments};
  return true;
}

static inline bool tessera_signature_copy(const tessera_signature_t *from, tessera_signature_t *out_signature,
                                          tessera_error_t *out_error) {
  if (!tessera_signature_create(out_signature, from->num_arguments, from->num_results, out_error))
    return false;
  memcpy(out_signature->arguments, from->arguments, (size_t)from->num_arguments * sizeof *from->arguments);
  memcpy(out_signature->results, from->results, (size_t)from->num_results * sizeof *from->results);
  return true;
}

static inline void tessera_signature_destroy(tessera_signature_t *signature) {
  free(signature->arguments);
  *signature = (tessera_signature_t){.arguments = NULL};
}
