// run_data.h - the arrays of one run: arguments from files or seeded random data, results, output files.
//
//   tessera_run_data_t data;
//   if (tessera_run_data_prepare(&data, &signature, &options, &error) &&
//       … something fills data.results and writes into the memref arguments … &&
//       tessera_run_data_write(&data, &options, &error)) …
//   tessera_run_data_destroy(&data);   // also after a failure
#pragma once

#include "lib/support/run_options.h"
#include "lib/support/signature.h"

typedef struct tessera_run_data_t {
  const tessera_signature_t *signature;
  tessera_array_t *arguments, *results; // one for each value; owned: one allocation
  int num_default_sizes;                // dynamic sizes that took options.default_size
} tessera_run_data_t;

// Reads the values from a list of files, in order. Each sparse tensor takes a .npz of its own (sparse_npz.h); the other
// values take the arrays of the other files. Errors begin with `what` and a number. `out_tensors` counts all tensors
// in the files, including those beyond the last value. The caller owns the arrays, also after an error.
bool tessera_values_read(const char *what, int num_files, const char *const *files, int num_values,
                         const tessera_value_t *values, tessera_array_t *out_arrays, int *out_tensors,
                         tessera_error_t *out_error);

// Room for the arrays, which are empty.
bool tessera_run_data_create(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                             tessera_error_t *out_error);
// Creates and reads --in. Without --in, fills arguments with seeded random data; --size or options.default_size sets
// their dynamic sizes. Checks --in, --out and --size against the signature, which must outlive the data.
bool tessera_run_data_prepare(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                              const tessera_run_options_t *options, tessera_error_t *out_error);
// Writes --out: results in order, then memref arguments.
bool tessera_run_data_write(const tessera_run_data_t *data, const tessera_run_options_t *options,
                            tessera_error_t *out_error);
// Prints a note on stderr, after `tool`, if dynamic sizes took the default.
void tessera_run_data_note_sizes(const tessera_run_data_t *data, const tessera_run_options_t *options,
                                 const char *tool);
void tessera_run_data_destroy(tessera_run_data_t *data);
