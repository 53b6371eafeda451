// printf, assert, clock and bit tricks of compiled kernels. See instructions.h.
#include "lib/emulator/instructions/instructions.h"

#include "lib/support/device_printf.h"

#include <stdio.h>
#include <time.h>

int tessera_emu_vprintf(tessera_emu_thread_t *self, const char *format, const void *values) {
  FILE *nowhere = tessera_emu_prints(self) ? NULL : fopen("/dev/null", "w");
  int result = tessera_device_printf(nowhere ? nowhere : stdout, format, values, true);
  if (nowhere)
    fclose(nowhere);
  return result;
}

void tessera_emu_assert(tessera_emu_thread_t *self, const char *message, const char *file, uint32_t line,
                        const char *function, uint64_t character_bytes, uint32_t site) {
  char text[256];
  (void)character_bytes;
  (void)function;
  if (*file)
    snprintf(text, sizeof text, "assertion failed: %s (%s:%u)", message, file, line);
  else
    snprintf(text, sizeof text, "assertion failed: %s", message);
  tessera_emu_trap(self, site, text);
}

uint64_t tessera_emu_clock(tessera_emu_thread_t *self) {
  struct timespec now;
  (void)self;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
