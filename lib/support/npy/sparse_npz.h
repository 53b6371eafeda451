// sparse_npz.h - a sparse tensor as one .npz file: scipy.sparse's own for csr, csc, coo and bsr (save_npz, load_npz),
// and like them for nm and mask, which scipy lacks.
//
//   csr, csc, bsr   indices, indptr, data (nnz; of bsr nnz x b0 x b1)
//   coo             row, col, data; of other ranks than 2 coords (rank x nnz) in place of row and col
//   nm              coordinates, values, encoding ("#sparse.nm<n = 2, m = 4>")
//   mask            mask, values, encoding
//   all             format ("csr"), shape
//
//   tessera_array_t arrays[TESSERA_MAX_VALUES] = {{0}};              // values[0].sparse says what is wanted
//   if (!tessera_sparse_read("a.npz", "argument 0", values, arrays, &error)) …
//   if (!tessera_sparse_write("b.npz", values, arrays, &error)) …
//
// Errors name the file and the member: another format, shape or element type, positions that do not ascend, coordinates
// out of range or given twice (scipy's sum_duplicates() adds such up). What scipy keeps in any order, the entries of a
// row or of a coo, is sorted. scipy reads bsr only where blocks divide the shape.
#pragma once

#include "lib/support/signature.h"

// Fills |out_arrays| with values->sparse.num_values arrays, the caller's also after an error. |what| leads every error.
bool tessera_sparse_read(const char *path, const char *what, const tessera_value_t *values, tessera_array_t *out_arrays,
                         tessera_error_t *out_error);
bool tessera_sparse_write(const char *path, const tessera_value_t *values, const tessera_array_t *arrays,
                          tessera_error_t *out_error);
