// npz.h - numpy's .npz files: a zip of .npy files, stored or deflated (numpy.savez, savez_compressed).
//
//   tessera_arrays_t arrays = {0};
//   if (!tessera_arrays_read(&arrays, "x.npz", &error)) …   // every array in the file's order; "y.npy" gives one
//   arrays.items[0].name, arrays.items[0].array …           // "x.npz:weights"
//   tessera_arrays_destroy(&arrays);                        // also after a failure
//
// Errors name the file and the member: not a zip, cut off, a wrong check sum, a member that is no .npy. Not read:
// several disks, encryption, other methods than deflate. Written: stored members, at most 4 GiB in all.
#pragma once

#include "lib/support/array.h"

typedef struct tessera_named_array_t {
  char *name; // for messages: the path, and after a colon the member
  tessera_array_t array;
} tessera_named_array_t;

typedef struct tessera_arrays_t {
  int count;
  tessera_named_array_t *items;
} tessera_arrays_t;

bool tessera_path_is_npz(const char *path); // by its name

// Appends the array of a .npy file, or those of a .npz file.
bool tessera_arrays_read(tessera_arrays_t *arrays, const char *path, tessera_error_t *out_error);
void tessera_arrays_destroy(tessera_arrays_t *arrays);

// Member i is `names[i].npy`.
bool tessera_npz_write(const char *path, int count, const char *const *names, const tessera_array_t *const *arrays,
                       tessera_error_t *out_error);

// Calls `visit` with the name and the bytes of each member of a zip file that lies in memory, in the order of its
// directory. Members that are not stored as they are, or not whole, are errors; so is a `visit` that returns false.
typedef bool tessera_zip_visit_t(void *data, const char *name, const void *bytes, uint64_t size,
                                 tessera_error_t *out_error);
bool tessera_zip_visit(const char *path, const void *bytes, uint64_t size, tessera_zip_visit_t *visit, void *data,
                       tessera_error_t *out_error);
