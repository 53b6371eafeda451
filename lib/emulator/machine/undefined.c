// undefined.c - operations that have no meaning, as findings at their place: divisions, stacks that end, a thread's own
// memory. Why here: on the host each of them is a crash without a place, or a number from nowhere.
#include "lib/emulator/machine/worker.h"

#include <string.h>

enum { STACK_RESERVE = 32 << 10 }; // for what the machine itself calls on a thread's stack

static uint32_t known(uint32_t site) { return site <= TESSERA_EMULATOR_SITES ? site : 0; }

int64_t tessera_emu_divisor(tessera_emu_thread_t *thread, int64_t dividend, int64_t divisor, uint32_t width,
                            uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  if (__builtin_expect(divisor != 0 && divisor != -1, 1))
    return divisor;
  int64_t smallest = width ? (int64_t)(UINT64_MAX << (width - 1)) : 0;
  if (divisor != 0 && (!width || dividend != smallest))
    return divisor;
  if (divisor == 0)
    emu_find(self, TESSERA_EMULATOR_UNDEFINED, known(site), 0, 0, 0, "%lld is divided by zero", (long long)dividend);
  else
    emu_find(self, TESSERA_EMULATOR_UNDEFINED, known(site), 0, 0, 0, "the smallest integer %lld is divided by -1",
             (long long)dividend);
  return 1;
}

void tessera_emu_stack(tessera_emu_thread_t *thread, uint64_t bytes, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uintptr_t here = (uintptr_t)__builtin_frame_address(0), room = here - (uintptr_t)self->fiber->low;
  if (room <= self->fiber->bytes && bytes < room && room - bytes >= STACK_RESERVE)
    return;
  emu_find(self, TESSERA_EMULATOR_STACK, known(site), 0, 0, 0,
           "a call needs %llu bytes beside what its callers took; a thread has %llu", (unsigned long long)bytes,
           (unsigned long long)self->fiber->bytes);
  emu_end_thread(self);
}

void tessera_emu_private_begins(uint8_t *written, uint64_t bytes) { memset(written, 0, bytes); }

void *tessera_emu_private(tessera_emu_thread_t *thread, const void *base, uint64_t size, uint8_t *written,
                          const void *address, uint64_t bytes, uint32_t what, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uint64_t offset = (uintptr_t)address - (uintptr_t)base;
  bool stores = what & TESSERA_EMU_STORE;
  if (!self->worker->launch->checks)
    return (void *)(uintptr_t)address;
  if (offset > size || size - offset < bytes) {
    emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, known(site), 0, offset, 0,
             "%s of %llu bytes at byte %lld of private memory that has %llu", stores ? "write" : "read",
             (unsigned long long)bytes, (long long)offset, (unsigned long long)size);
    if (bytes > sizeof self->nowhere)
      emu_end_thread(self);
    return self->nowhere;
  }
  if (!written)
    return (void *)(uintptr_t)address;
  if (what & TESSERA_EMU_LOAD && memchr(written + offset, 0, bytes))
    emu_find(self, TESSERA_EMULATOR_UNINITIALIZED, known(site), 0, offset, 0,
             "read of %llu bytes at byte %llu of private memory, which nobody wrote", (unsigned long long)bytes,
             (unsigned long long)offset);
  if (stores)
    memset(written + offset, 1, bytes);
  return (void *)(uintptr_t)address;
}
