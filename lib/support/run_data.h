// run_data.h - the arrays of one run: arguments from files or seeded data, room for results, outputs to files.
//
//   tessera_run_data_t data;
//   if (tessera_run_data_prepare(&data, &signature, &options, &error) &&
//       … something fills data.results and writes into the memref arguments … &&
//       tessera_run_data_write(&data, &options, &error)) …
//   tessera_run_data_destroy(&data);   // also after a failure
#ifndef TESSERA_SUPPORT_RUN_DATA_H
#define TESSERA_SUPPORT_RUN_DATA_H

#include "lib/support/run_options.h"
#include "lib/support/signature.h"

typedef struct tessera_run_data_t {
  const tessera_signature_t *signature;
  tessera_array_t arguments[TESSERA_MAX_VALUES], results[TESSERA_MAX_VALUES];
} tessera_run_data_t;

// The values that a list of files gives, in order: a .npz for each sparse tensor (sparse_npz.h), the arrays of the
// other files for the rest. Errors begin with |what| and a number. |out_tensors|: how many were given, those beyond the
// last value too. The arrays are the caller's, also after an error.
bool tessera_values_read(const char *what, int num_files, const char *const *files, int num_values,
                         const tessera_value_t *values, tessera_array_t *out_arrays, int *out_tensors,
                         tessera_error_t *out_error);

// Reads --in, or fills arguments with seeded data when there is none. Checks --in and --out against the signature,
// which must outlive the data.
bool tessera_run_data_prepare(tessera_run_data_t *out_data, const tessera_signature_t *signature,
                              const tessera_run_options_t *options, tessera_error_t *out_error);
// Writes --out: results in order, then memref arguments.
bool tessera_run_data_write(const tessera_run_data_t *data, const tessera_run_options_t *options,
                            tessera_error_t *out_error);
void tessera_run_data_destroy(tessera_run_data_t *data);

#endif // TESSERA_SUPPORT_RUN_DATA_H
