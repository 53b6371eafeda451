// printf, assert, clock and bit tricks of compiled kernels. See instructions.h.
#include "lib/emulator/instructions/instructions.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

//===--- vprintf ------------------------------------------------------------------===//

typedef struct arguments_t {
  const char *values;
  size_t at;
} arguments_t;

static const char *next_argument(arguments_t *arguments, size_t bytes) {
  arguments->at = (arguments->at + bytes - 1) / bytes * bytes;
  const char *argument = arguments->values + arguments->at;
  arguments->at += bytes;
  return argument;
}

// One conversion, "%-8.3f": as C's, with the argument that CUDA's rules find for it.
static int print_conversion(const char *conversion, size_t length, arguments_t *arguments) {
  char format[64];
  snprintf(format, sizeof format, "%.*s", (int)length, conversion);
  char kind = format[strlen(format) - 1];
  bool is_long = strpbrk(format, "lzjt") != NULL;
  if (strchr("fFeEgGaA", kind)) {
    double value;
    memcpy(&value, next_argument(arguments, 8), 8);
    return printf(format, value);
  }
  if (kind == 's' || kind == 'p') {
    void *value;
    memcpy(&value, next_argument(arguments, 8), 8);
    return printf(format, value);
  }
  long long value = 0;
  memcpy(&value, next_argument(arguments, is_long ? 8 : 4), is_long ? 8 : 4);
  return is_long ? printf(format, value) : printf(format, (int)value);
}

int tessera_emu_vprintf(tessera_emu_thread_t *self, const char *format, const void *values) {
  (void)self;
  arguments_t arguments = {values, 0};
  int written = 0;
  flockfile(stdout);
  while (*format) {
    size_t plain = strcspn(format, "%");
    written += (int)fwrite(format, 1, plain, stdout);
    format += plain;
    if (!*format)
      break;
    size_t flags = 1 + strspn(format + 1, "-+ #0123456789.lhzjt");
    if (!format[flags])
      break;
    written += format[flags] == '%' ? printf("%%") : print_conversion(format, flags + 1, &arguments);
    format += flags + 1;
  }
  funlockfile(stdout);
  return written;
}

void tessera_emu_assert(tessera_emu_thread_t *self, const char *message, const char *file, uint32_t line,
                        const char *function, uint64_t character_bytes, uint32_t site) {
  char text[256];
  (void)character_bytes;
  (void)function;
  snprintf(text, sizeof text, "assertion failed: %s (%s:%u)", message, file, line);
  tessera_emu_trap(self, site, text);
}

uint64_t tessera_emu_clock(tessera_emu_thread_t *self) {
  struct timespec now;
  (void)self;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
