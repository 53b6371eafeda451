// json.h - writing JSON: statistics, traces, manifests.
//
//   tessera_json_t *json = tessera_json_create();
//   tessera_json_begin_object(json, NULL);
//   tessera_json_integer(json, "launches", 12);
//   tessera_json_number(json, "time_ms_median", 0.25);
//   tessera_json_begin_object(json, "kernels");
//   …
//   tessera_json_end(json);
//   tessera_json_end(json);
//   if (!tessera_json_write(json, "stats.json", &error)) …
//   tessera_json_destroy(json);
//
// Every value takes its key first: a name inside an object, NULL inside an array and at the top. Keys keep their order.
// Numbers are the shortest text that reads back as the same double; NaN and the infinities, which JSON lacks, are null.
// Text may be any bytes: what is not UTF-8 becomes U+FFFD. The writer remembers the first misuse (a missing or unwanted
// key, an end too many) or lack of memory. text and write fail with that error, so no other call needs a check.
#pragma once

#include "lib/support/status.h"

typedef struct tessera_json_t tessera_json_t;

tessera_json_t *tessera_json_create(void); // NULL when out of memory, which every function below accepts
void tessera_json_destroy(tessera_json_t *json);

void tessera_json_begin_object(tessera_json_t *json, const char *key);
void tessera_json_begin_array(tessera_json_t *json, const char *key);
void tessera_json_end(tessera_json_t *json); // of the innermost object or array

void tessera_json_string(tessera_json_t *json, const char *key, const char *value); // NULL is null
void tessera_json_integer(tessera_json_t *json, const char *key, int64_t value);
void tessera_json_number(tessera_json_t *json, const char *key, double value);
void tessera_json_boolean(tessera_json_t *json, const char *key, bool value);

// The finished text, with a line feed at its end. The text belongs to |json| and is valid until destroy. NULL after an
// error.
const char *tessera_json_text(tessera_json_t *json, tessera_error_t *out_error);
bool tessera_json_write(tessera_json_t *json, const char *path, tessera_error_t *out_error);
