// Memory operations that are more than one access. See instructions.h.
#include "lib/emulator/instructions/instructions.h"

#include <string.h>

enum { WIDEST_INSTRUCTION = 16 }; // bytes one lane moves at once

void *tessera_emu_access_wide(tessera_emu_thread_t *self, const void *address, uint32_t bytes, uint32_t what,
                              uint32_t site) {
  void *first = tessera_emu_access(self, address, WIDEST_INSTRUCTION, what, site);
  for (uint32_t at = WIDEST_INSTRUCTION; at < bytes; at += WIDEST_INSTRUCTION) {
    uint32_t rest = bytes - at < WIDEST_INSTRUCTION ? bytes - at : WIDEST_INSTRUCTION;
    const char *part = (const char *)address + at;
    void *there = tessera_emu_access(self, part, rest, what & 0xffff, site);
    if (there != part && first == address)
      first = there; // 64 bytes nobody reads: room for all of it
  }
  return first;
}

//===--- masks ------------------------------------------------------------------===//

// Elements from `at` on that the mask has in a row and one access may take; 0 at the end.
static uint32_t run_length(uint64_t mask, uint32_t at, uint32_t bytes, uint32_t count) {
  uint32_t length = 0;
  while (at + length < count && (mask >> (at + length) & 1) && (length + 1) * bytes <= WIDEST_INSTRUCTION)
    ++length;
  return length;
}

void tessera_emu_masked_load(tessera_emu_thread_t *self, const void *address, uint64_t mask, uint32_t bytes,
                             uint32_t count, void *values, uint32_t site) {
  for (uint32_t at = 0; at < count;) {
    uint32_t length = run_length(mask, at, bytes, count), size = length * bytes;
    if (length)
      memcpy((char *)values + at * bytes,
             tessera_emu_access(self, (const char *)address + at * bytes, size, TESSERA_EMU_LOAD, site), size);
    at += length ? length : 1;
  }
}

void tessera_emu_masked_store(tessera_emu_thread_t *self, void *address, uint64_t mask, uint32_t bytes, uint32_t count,
                              const void *values, uint32_t site) {
  for (uint32_t at = 0; at < count;) {
    uint32_t length = run_length(mask, at, bytes, count), size = length * bytes;
    if (length)
      memcpy(tessera_emu_access(self, (char *)address + at * bytes, size, TESSERA_EMU_STORE, site),
             (const char *)values + at * bytes, size);
    at += length ? length : 1;
  }
}

//===--- memcpy, memset -----------------------------------------------------------===//

void tessera_emu_copy(tessera_emu_thread_t *self, void *to, const void *from, uint64_t bytes, uint32_t site) {
  for (uint64_t at = 0; at < bytes; at += WIDEST_INSTRUCTION) {
    uint32_t size = bytes - at < WIDEST_INSTRUCTION ? (uint32_t)(bytes - at) : WIDEST_INSTRUCTION;
    char part[WIDEST_INSTRUCTION];
    memcpy(part, tessera_emu_access(self, (const char *)from + at, size, TESSERA_EMU_LOAD, site), size);
    memcpy(tessera_emu_access(self, (char *)to + at, size, TESSERA_EMU_STORE, site), part, size);
  }
}

void tessera_emu_set(tessera_emu_thread_t *self, void *to, uint32_t byte, uint64_t bytes, uint32_t site) {
  for (uint64_t at = 0; at < bytes; at += WIDEST_INSTRUCTION) {
    uint32_t size = bytes - at < WIDEST_INSTRUCTION ? (uint32_t)(bytes - at) : WIDEST_INSTRUCTION;
    memset(tessera_emu_access(self, (char *)to + at, size, TESSERA_EMU_STORE, site), (int)byte, size);
  }
}

//===--- AMD's buffers --------------------------------------------------------------===//

void tessera_emu_buffer_make(tessera_buffer_resource_t *resource, void *base, uint64_t bytes) {
  *resource = (tessera_buffer_resource_t){base, bytes};
}

// How many of the next bytes are inside: whole dwords (or what is left of the access) or none.
static uint32_t inside(const tessera_buffer_resource_t *resource, uint32_t offset, uint32_t bytes) {
  uint32_t in = 0;
  while (in < bytes) {
    uint32_t part = bytes - in < 4 ? bytes - in : 4;
    if ((uint64_t)offset + in + part > resource->bytes)
      break;
    in += part;
  }
  return in;
}

void tessera_emu_buffer_load(tessera_emu_thread_t *self, const tessera_buffer_resource_t *resource, uint32_t offset,
                             uint32_t scalar, void *values, uint32_t bytes, uint32_t site) {
  uint32_t in = inside(resource, offset, bytes);
  memset(values, 0, bytes);
  if (in)
    memcpy(values,
           tessera_emu_access(self, resource->base + offset + scalar, in, TESSERA_EMU_LOAD | TESSERA_EMU_GLOBAL, site),
           in);
}

void tessera_emu_buffer_store(tessera_emu_thread_t *self, const tessera_buffer_resource_t *resource, uint32_t offset,
                              uint32_t scalar, const void *values, uint32_t bytes, uint32_t site) {
  uint32_t in = inside(resource, offset, bytes);
  if (in)
    memcpy(tessera_emu_access(self, resource->base + offset + scalar, in, TESSERA_EMU_STORE | TESSERA_EMU_GLOBAL, site),
           values, in);
}

void tessera_emu_load_to_lds(tessera_emu_thread_t *self, const void *from, void *to, uint32_t bytes, uint32_t offset,
                             uint32_t site) {
  char *place = (char *)to + offset + self->lane * bytes;
  tessera_emu_copy_counted(self, place, (const char *)from + offset, bytes, site);
}
