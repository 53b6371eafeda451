// local.h - memory that lives inside one program instance: what `tile.alloc … local` becomes on the CPU.
//
// Each thread has a stack of its own, so packing buffers need no lock, stay warm in that core's cache and are reused by
// the next instance. About 5 ns for a pair of calls once the stack has grown.
//
//   float *packed = tessera_local_alloc(bytes);   // 64-byte aligned, contents undefined
//   …
//   tessera_local_free(packed);                   // in reverse order, on the same thread
//
// A kernel running inside another's instance (a nested grid) continues on the same stack. Freeing out of order is safe
// too: the memory comes back when everything above it is freed. The thread's exit returns the stack to the system.
#pragma once

#include <stdint.h>

// Zero bytes give a valid pointer. A negative size, or one the system refuses, raises (call.h): it does not return
// inside tessera_call and gives NULL outside.
void *tessera_local_alloc(int64_t bytes);
void tessera_local_free(void *memory); // NULL is allowed

// For the runtime: the top of this thread's stack, and back to it whatever was allocated since.
void *tessera_local_mark(void);
void tessera_local_reset(void *mark);

// Bytes this thread's stack holds from the system; a steady program does not change it.
int64_t tessera_local_held(void);
