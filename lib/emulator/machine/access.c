// access.c - the hook before each load and store: whose memory is it, may it be touched so, what does it count as.
#include "lib/emulator/machine/access.h"

#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/shadow.h"

#include <string.h>

//===--- Where an address points -----------------------------------------===//

// Memory of the thread's block; by an instruction or a pointer that may, of any block of its cluster.
static bool is_shared(const emu_thread_t *self, uintptr_t address, uint32_t what) {
  bool is_own = address - (uintptr_t)self->view.block->shared < EMU_WINDOW_BYTES;
  return is_own || (!(what & TESSERA_EMU_SHARED) && emu_in_window(self->worker, address));
}

static bool is_local(const emu_thread_t *self, uintptr_t address) {
  return address - (uintptr_t)self->fiber->low < self->fiber->bytes ||
         address - (uintptr_t)self->nowhere < sizeof self->nowhere;
}

static bool holds(const emu_buffer_t *buffer, uintptr_t address, uint32_t bytes) {
  return address >= buffer->begin && address < buffer->end && buffer->end - address >= bytes;
}

size_t emu_buffer_search(const emu_launch_t *launch, uintptr_t address) {
  size_t low = 0, high = launch->buffer_count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    *(launch->buffers[middle].begin <= address ? &low : &high) = middle;
  }
  return low;
}

emu_buffer_t *emu_buffer_at(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t site) {
  emu_launch_t *launch = self->worker->launch;
  uint8_t *guess = &self->worker->buffer_of_site[site % sizeof self->worker->buffer_of_site];
  if (*guess < launch->buffer_count && holds(&launch->buffers[*guess], address, bytes))
    return &launch->buffers[*guess];
  size_t found = launch->buffer_count ? emu_buffer_search(launch, address) : 0;
  if (!launch->buffer_count || !holds(&launch->buffers[found], address, bytes))
    return NULL;
  *guess = (uint8_t)(found < 255 ? found : 255);
  return &launch->buffers[found];
}

//===--- Complaints about the address itself -----------------------------===//

static const char *verb(uint32_t what) {
  return !(what & TESSERA_EMU_STORE) ? "read" : what & TESSERA_EMU_LOAD ? "update" : "write";
}

static void *out_of_shared(emu_thread_t *self, uint32_t offset, uint32_t bytes, uint32_t what, uint32_t site) {
  const tessera_emulator_launch_t *given = self->worker->launch->given;
  uint32_t real = emu_shared_offset(self->worker->launch, offset);
  emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, 0, real, 0,
           "%s of %u bytes at shared+%u, but the block has %u bytes of shared memory", verb(what), bytes, real,
           given->shared_bytes - given->shared_added_bytes);
  return self->nowhere;
}

static void *out_of_buffer(emu_thread_t *self, const emu_buffer_t *buffer, uintptr_t address, uint32_t bytes,
                           uint32_t what, uint32_t site) {
  emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, 0, address - buffer->begin, 0,
           "%s of %u bytes at %s%+lld, a buffer of %llu bytes", verb(what), bytes,
           buffer->given->name ? buffer->given->name : "global", (long long)(address - buffer->begin),
           (unsigned long long)(buffer->end - buffer->begin));
  return self->nowhere;
}

// Names the buffer before the address, from which it most likely came.
static void *out_of_global(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t what, uint32_t site) {
  const emu_launch_t *launch = self->worker->launch;
  const emu_buffer_t *near = launch->buffer_count ? &launch->buffers[emu_buffer_search(launch, address)] : NULL;
  if (near && address >= 4096)
    return out_of_buffer(self, near, address, bytes, what, site);
  if (address < 4096)
    emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, 0, address, 0,
             "%s of %u bytes at address %llu: a null pointer", verb(what), bytes, (unsigned long long)address);
  else
    emu_find(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, site, 0, address, 0,
             "%s of %u bytes of global memory, but the kernel was given no buffer", verb(what), bytes);
  return self->nowhere;
}

void emu_check_alignment(emu_thread_t *self, uintptr_t address, uint32_t alignment, uint32_t what, uint32_t site) {
  if (alignment && address & (alignment - 1))
    emu_find(self, TESSERA_EMULATOR_MISALIGNED, site, 0, address, 0,
             "%s at address 0x%llx, which must be a multiple of %u", verb(what), (unsigned long long)address,
             alignment);
}

static void check_writable(emu_thread_t *self, const emu_buffer_t *buffer, uintptr_t address, uint32_t site) {
  emu_find(self, TESSERA_EMULATOR_READ_ONLY, site, 0, address - buffer->begin, 0,
           "write to %s+%llu, which is read only", buffer->given->name ? buffer->given->name : "global",
           (unsigned long long)(address - buffer->begin));
}

//===--- Accesses --------------------------------------------------------===//

static emu_access_t describe(emu_thread_t *self, uint32_t what, uint32_t atomic, uint32_t site) {
  return (emu_access_t){self, what & TESSERA_EMU_LOAD, what & TESSERA_EMU_STORE, atomic, site};
}

static void *access_shared(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t what, uint32_t atomic,
                           uint32_t site) {
  const emu_launch_t *launch = self->worker->launch;
  uint32_t offset = (uint32_t)emu_window_offset(self->worker, (void *)address);
  if (offset % EMU_WINDOW_BYTES + bytes > launch->given->shared_bytes)
    return out_of_shared(self, offset % EMU_WINDOW_BYTES, bytes, what, site);
  if (!emu_reach(self, offset, true, site))
    return self->nowhere;
  if (launch->checks) {
    emu_access_t access = describe(self, what, atomic, site);
    emu_shadow_shared(&access, offset, bytes);
  }
  if (launch->count && !(what & TESSERA_EMU_UNCOUNTED))
    emu_log_add(self, address, bytes, what | TESSERA_EMU_SHARED, site);
  return (void *)address;
}

static void *access_global(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t what, uint32_t atomic,
                           uint32_t site) {
  const emu_launch_t *launch = self->worker->launch;
  emu_buffer_t *buffer = emu_buffer_at(self, address, bytes, site);
  if (!buffer)
    return out_of_global(self, address, bytes, what, site);
  self->groups += (launch->chip->counted & what) != 0;
  if (launch->resident && what & TESSERA_EMU_STORE && !atomic)
    ++self->worker->launch->changes;
  if (what & TESSERA_EMU_STORE && buffer->given->read_only) {
    check_writable(self, buffer, address, site);
    return self->nowhere;
  }
  if (launch->checks && buffer->words) {
    emu_access_t access = describe(self, what, atomic, site);
    emu_shadow_global(&access, buffer, address, bytes);
  }
  if (!launch->count || what & TESSERA_EMU_UNCOUNTED)
    return (void *)address;
  bool looks = atomic && launch->resident && !(what & TESSERA_EMU_STORE);
  (looks ? emu_log_look : emu_log_add)(self, address, bytes, what | TESSERA_EMU_GLOBAL, site);
  return (void *)address;
}

void *emu_access_at(emu_thread_t *self, const void *pointer, uint32_t bytes, uint32_t what, uint32_t atomic,
                    uint32_t site) {
  uintptr_t address = (uintptr_t)pointer;
  if (what & TESSERA_EMU_STORE && !atomic) // a loop that only looks at memory may spin; atomics tell by themselves
    emu_progress(self->worker);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  ++self->worker->steps;
  emu_check_alignment(self, address, what >> 16, what, site);
  if (is_shared(self, address, what))
    return access_shared(self, address, bytes, what, atomic, site);
  if (what & (TESSERA_EMU_SHARED | TESSERA_EMU_CLUSTER))
    return out_of_shared(self, (uint32_t)(address - (uintptr_t)self->view.block->shared), bytes, what, site);
  if (!(what & TESSERA_EMU_GLOBAL) && is_local(self, address))
    return emu_private_at(self, pointer, bytes, what, site);
  return access_global(self, address, bytes, what, atomic, site);
}

// As PTX has it, volatile is relaxed and of system scope: no race with its like, and what fences make an order of.
static void *access_volatile(tessera_emu_thread_t *self, const void *address, uint32_t bytes, uint32_t what,
                             uint32_t site) {
  void *place = tessera_emu_atomic_begin(self, address, bytes, what & ~(uint32_t)TESSERA_EMU_VOLATILE,
                                         TESSERA_EMU_RELAXED, TESSERA_EMU_SCOPE_SYSTEM, site);
  tessera_emu_atomic_end(self);
  emu_of(self)->worker->counters.atomics--;
  return place;
}

void *tessera_emu_access(tessera_emu_thread_t *thread, const void *address, uint32_t bytes, uint32_t what,
                         uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  const emu_launch_t *launch = self->worker->launch;
  if (what & TESSERA_EMU_VOLATILE)
    return access_volatile(thread, address, bytes, what, site);
  if (!launch->checks && !launch->count)
    return (void *)(uintptr_t)address;
  return emu_access_at(self, address, bytes, what, 0, site);
}

static bool reaches(const emu_buffer_t *buffer, uintptr_t root) { return root >= buffer->begin && root <= buffer->end; }

// A pointer that left its buffer may have met another one there.
void *tessera_emu_access_from(tessera_emu_thread_t *thread, const void *root, const void *address, uint32_t bytes,
                              uint32_t what, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  const emu_launch_t *launch = self->worker->launch;
  uintptr_t from = (uintptr_t)root, to = (uintptr_t)address;
  const emu_buffer_t *met = launch->checks ? emu_buffer_at(self, to, bytes, site) : NULL;
  if (__builtin_expect(met && !reaches(met, from), 0)) {
    const emu_buffer_t *own = &launch->buffers[emu_buffer_search(launch, from)];
    if (reaches(own, from))
      return out_of_buffer(self, own, to, bytes, what, site <= TESSERA_EMULATOR_SITES ? site : 0);
  }
  return tessera_emu_access(thread, address, bytes, what, site);
}
