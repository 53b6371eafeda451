// manifest.h - what a compiled program (tile-translate --tile-to-program) says about itself: its entries and their
// types. The shared object exports it as `tessera_manifest`.
//
//   void *program = dlopen("./p.so", RTLD_NOW);
//   const tessera_manifest_t *manifest = dlsym(program, "tessera_manifest");
//   if (manifest && manifest->version == TESSERA_MANIFEST_VERSION)
//     for (int64_t i = 0; i < manifest->num_entries; ++i)
//       puts(manifest->entries[i].name);
//
// Every field is 8 bytes, so that any compiler on a 64-bit machine lays it out alike. A new field at the end of a
// struct in an array, or any other change, is a new version; the version always comes first.
#pragma once

#include "lib/runtime/driver.h"
#include "lib/support/files/checksum.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// 2: tessera_launch takes the kernel's name. 3: images. 4: kernels that are cooperative. 5: sparse tensors.
// 6: how these are laid out. 7: a checksum at the end of the file. 8: constants in other files. 9: what the host
// touches.
enum { TESSERA_MANIFEST_VERSION = 9 };

// What a program's file ends with. The system's loader does not read it.
typedef struct tessera_program_end_t {
  char mark[8];      // TESSERA_PROGRAM_MARK
  uint64_t checksum; // tessera_checksum of all bytes before
} tessera_program_end_t;
#define TESSERA_PROGRAM_MARK "TESSERA"

typedef enum tessera_kind_t { TESSERA_SCALAR, TESSERA_TENSOR, TESSERA_MEMREF } tessera_kind_t;

// A sparse tensor: passed as its components (dialects/sparse/sparse.h), then an i64 for each size of -1.
typedef struct tessera_sparse_type_t {
  const char *format, *encoding; // "csr", "#sparse.csr<positions = i64>"
  int64_t num_values, num_components, rank;
  const int64_t *shape;            // rank sizes; -1 is dynamic
  int64_t cell_rows, cell_columns; // of a block, tile or window; else 1
  int64_t axis, places;            // of segments and windows: along which axis; places in a window
  int64_t is_unordered;            // of coo
  int64_t scheme;                  // tessera_sparse_scheme_t of lib/support/signature.h
} tessera_sparse_type_t;

typedef struct tessera_type_t {
  const char *element; // as MLIR prints it: "f32"; an index is "i64"
  int64_t kind;        // tessera_kind_t; an argument that is a memref may be written by the program
  int64_t rank;
  const int64_t *shape;                // rank sizes; -1 is dynamic
  const tessera_sparse_type_t *sparse; // of the first value of a sparse tensor; else NULL
} tessera_type_t;

typedef struct tessera_entry_t {
  const char *name;
  // args[0] points to the result (several: the struct of them) if there is one, the rest to the arguments: a memref's
  // descriptor or a scalar. Equal to the exported tessera_packed_NAME.
  void (*packed)(void **args);
  // The arguments, then one descriptor for each result: NAME_into writes the caller's buffers. NULL where there are no
  // results.
  void (*packed_into)(void **args);
  int64_t num_arguments; // values: of a sparse tensor several
  const tessera_type_t *arguments;
  int64_t num_results;
  const tessera_type_t *results;
  // 1 if the host's part of a program with code for devices touches memory of the arguments, or of the results that
  // packed_into is given. Then it must be memory that the host reaches (tessera_device_arena).
  int64_t host_access, host_access_into;
} tessera_entry_t;

// A constant that lies in another file (bound_weights.h).
typedef struct tessera_weight_t {
  const char *file;      // from the program's folder, or an absolute path
  int64_t offset, bytes; // in the file
  uint64_t checksum;     // tessera_checksum of the bytes
  int64_t alignment;     // that the code expects of its address; a power of two
  void **place;          // where the code looks for its address; NULL there: not mapped yet
} tessera_weight_t;

typedef struct tessera_manifest_t {
  int64_t version;
  const char *compiler; // "Tessera 0.1.0"
  const char *target;   // "cpu"
  const char *chip;     // as asked for: "native", "sapphirerapids"
  const char *needs; // x86-64 level and features of a machine it runs on (lib/machine/cpu_feature.h); empty elsewhere
  const char *pipeline; // the passes it was made by
  int64_t fallback_ops; // linalg ops that went by upstream's route
  int64_t num_entries;
  const tessera_entry_t *entries;
  const tessera_images_t *images; // of its kernels for GPUs; NULL: it has none
  int64_t num_weights;
  const tessera_weight_t *weights;
} tessera_manifest_t;
