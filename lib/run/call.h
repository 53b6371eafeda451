// call.h - calling a compiled entry on the arrays of a run, as tile-run and tile-exec do.
//
//   tessera_calls_t calls;
//   if (tessera_calls_run(&calls, packed_entry, &data, options.repeat, &error)) …   // data.results are filled
//   tessera_calls_destroy(&calls);                                                  // also after a failure
//
// An entry is `void tessera_packed_NAME(void **args)`: args[0] points to the result if there is one, the rest to the
// arguments (a memref's descriptor or a scalar). On a thread that entered a device (lib/runtime/device.h) the arrays
// lie in its memory during the calls: data.arguments[i].data is then that address.
#pragma once

#include "lib/support/json.h"
#include "lib/support/run_data.h"

typedef void (*tessera_packed_t)(void **args);

typedef struct tessera_calls_t {
  double *times_ms;                    // one per call, in order
  int64_t count, launches, host_waits; // the latter two of the last call
} tessera_calls_t;

// Calls `repeat` times; the results are the last call's. What the calls allocate does not outlive this function.
bool tessera_calls_run(tessera_calls_t *out_calls, tessera_packed_t entry, tessera_run_data_t *data, int64_t repeat,
                       tessera_error_t *out_error);
// As above, by the form that writes the caller's buffers (lib/runtime/manifest.h). One call of `entry` tells their
// sizes.
bool tessera_calls_run_into(tessera_calls_t *out_calls, tessera_packed_t entry, tessera_packed_t entry_into,
                            tessera_run_data_t *data, int64_t repeat, tessera_error_t *out_error);
void tessera_calls_destroy(tessera_calls_t *calls);

// Where result `index` lies in the struct of results, in bytes, as C lays it out.
size_t tessera_result_offset(const tessera_signature_t *signature, int index);

// time_ms_median, time_ms_min, launches and host_waits into the open object of `json`.
void tessera_calls_write_times(const tessera_calls_t *calls, tessera_json_t *json);
// "manifest": what makes the run repeatable. `pipeline` may be NULL; `compiler`: what the code was made by.
void tessera_calls_write_manifest(const tessera_run_options_t *options, const char *pipeline, const char *compiler,
                                  tessera_json_t *json);
