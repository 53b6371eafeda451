// device_printf.h - C's printf for values that device code left in memory, as CUDA's vprintf takes them. In a header:
// the runtime has no library below it.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct tessera_device_values_t {
  const char *values;
  size_t at;
  bool sees_texts;
} tessera_device_values_t;

static inline const char *tessera_device_value(tessera_device_values_t *given, size_t bytes) {
  given->at = (given->at + bytes - 1) / bytes * bytes;
  const char *argument = given->values + given->at;
  given->at += bytes;
  return argument;
}

// One conversion, "%-8.3f": as C's, with the argument that CUDA's rules find for it.
static inline int tessera_device_print_one(FILE *file, const char *conversion, size_t length,
                                           tessera_device_values_t *given) {
  char format[64];
  snprintf(format, sizeof format, "%.*s", (int)length, conversion);
  char *kind = format + strlen(format) - 1;
  bool is_long = strpbrk(format, "lzjt") != NULL;
  if (strchr("fFeEgGaA", *kind)) {
    double value;
    memcpy(&value, tessera_device_value(given, 8), 8);
    return fprintf(file, format, value);
  }
  if (*kind == 's' || *kind == 'p') {
    void *value;
    memcpy(&value, tessera_device_value(given, 8), 8);
    *kind = given->sees_texts ? *kind : 'p';
    return fprintf(file, format, value);
  }
  long long value = 0;
  memcpy(&value, tessera_device_value(given, is_long ? 8 : 4), is_long ? 8 : 4);
  return is_long ? fprintf(file, format, value) : fprintf(file, format, (int)value);
}

// Values lie one behind the other, each aligned to its size: 4 bytes for an integer without `l`, else 8. |sees_texts|:
// a `%s` points to memory of this process; else its address is printed. Returns the bytes written.
static inline int tessera_device_printf(FILE *file, const char *format, const void *values, bool sees_texts) {
  tessera_device_values_t given = {values, 0, sees_texts};
  int written = 0;
  flockfile(file);
  while (*format) {
    size_t plain = strcspn(format, "%");
    written += (int)fwrite(format, 1, plain, file);
    format += plain;
    if (!*format)
      break;
    size_t flags = 1 + strspn(format + 1, "-+ #0123456789.lhzjt");
    if (!format[flags])
      break;
    written += format[flags] == '%' ? fprintf(file, "%%") : tessera_device_print_one(file, format, flags + 1, &given);
    format += flags + 1;
  }
  funlockfile(file);
  return written;
}
