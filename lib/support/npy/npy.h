// npy.h - numpy's .npy files. Read: versions 1.0, 2.0 and 3.0, C and Fortran order, little-endian, the element types of
// array.h. Written: C order, version 1.0 (2.0 never needed: ranks end at 32).
//
//   tessera_array_t x;
//   if (!tessera_npy_read("x.npy", &x, &error)) …
//   if (!tessera_npy_write("y.npy", &x, &error)) …
//   tessera_array_destroy(&x);
//
// Format: "\x93NUMPY", version, header length (2 bytes, from 2.0 on 4), a Python dictionary
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } padded to a multiple of 64, the elements.
// Errors name the file: missing, not a file, no .npy, broken header, element type not supported, truncated, too large.
// What follows the elements is ignored, as numpy does.
#pragma once

#include "lib/support/array.h"

bool tessera_npy_read(const char *path, tessera_array_t *out_array, tessera_error_t *out_error);
bool tessera_npy_write(const char *path, const tessera_array_t *array, tessera_error_t *out_error);

// For .npz (npz.h). The first reads |size| bytes from the position of |file|; messages use |name|. The second writes
// the header, at most TESSERA_NPY_HEADER bytes, and returns its length.
enum { TESSERA_NPY_HEADER = TESSERA_MAX_RANK * 24 + 256 };
bool tessera_npy_read_from(FILE *file, const char *name, int64_t size, tessera_array_t *out_array,
                           tessera_error_t *out_error);
size_t tessera_npy_header(const tessera_array_t *array, void *out_header);
