// undefined.c - operations that have no meaning, as findings at their place: divisions, stacks that end, a thread's own
// memory. Why here: on the host each of them is a crash without a place, or a number from nowhere.
#include "lib/emulator/machine/access.h"

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

//===--- A thread's own memory ---------------------------------------------===//

tessera_emu_private_t *tessera_emu_privates(tessera_emu_thread_t *thread) { return emu_of(thread)->privates; }

void tessera_emu_privates_end(tessera_emu_thread_t *thread, tessera_emu_private_t *last) {
  emu_of(thread)->privates = last;
}

void tessera_emu_private_begins(tessera_emu_thread_t *thread, tessera_emu_private_t *own, const void *base,
                                uint64_t bytes) {
  emu_thread_t *self = emu_of(thread);
  own->before = self->privates;
  own->base = base;
  own->bytes = bytes;
  memset(own->written, 0, bytes);
  self->privates = own;
}

static const char *verb(uint32_t what) { return what & TESSERA_EMU_STORE ? "write" : "read"; }

// Where an access goes that must not happen.
static void *nowhere(emu_thread_t *self, uint64_t bytes) {
  if (bytes > sizeof self->nowhere)
    emu_end_thread(self);
  return self->nowhere;
}

void *tessera_emu_private(tessera_emu_thread_t *thread, tessera_emu_private_t *own, const void *address, uint64_t bytes,
                          uint32_t what, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uint64_t offset = (uintptr_t)address - (uintptr_t)own->base;
  if (!self->worker->launch->checks)
    return (void *)(uintptr_t)address;
  if (offset > own->bytes || own->bytes - offset < bytes) {
    emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, known(site), 0, offset, 0,
             "%s of %llu bytes at byte %lld of private memory that has %llu", verb(what), (unsigned long long)bytes,
             (long long)offset, (unsigned long long)own->bytes);
    return nowhere(self, bytes);
  }
  if (what & TESSERA_EMU_LOAD && memchr(own->written + offset, 0, bytes))
    emu_find(self, TESSERA_EMULATOR_UNINITIALIZED, known(site), 0, offset, 0,
             "read of %llu bytes at byte %llu of private memory, which nobody wrote", (unsigned long long)bytes,
             (unsigned long long)offset);
  if (what & TESSERA_EMU_STORE)
    memset(own->written + offset, 1, bytes);
  return (void *)(uintptr_t)address;
}

void *emu_private_at(emu_thread_t *self, const void *address, uint64_t bytes, uint32_t what, uint32_t site) {
  uintptr_t at = (uintptr_t)address;
  if (!self->worker->launch->checks || at - (uintptr_t)self->nowhere < sizeof self->nowhere)
    return (void *)at;
  for (tessera_emu_private_t *own = self->privates; own; own = own->before)
    if (at - (uintptr_t)own->base < own->bytes)
      return tessera_emu_private(&self->view, own, address, bytes, what, site);
  emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, 0, 0, 0,
           "%s of %llu bytes of private memory outside of every variable that lives", verb(what),
           (unsigned long long)bytes);
  return nowhere(self, bytes);
}
