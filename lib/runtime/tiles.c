// tiles.c - asks the processor (cpuid), the system (arch_prctl) and the environment for tile registers. See tiles.h.
// Expects: nothing. Leaves: the permission, which a process cannot give back. Cost: one load after the first call.
//
// A library that executes the instructions itself (test/runtime/standin/tiles.c) defines tessera_stand_in_tiles, and is
// asked in place of the processor and the system; where it gives a negative number, they are asked.
#include "lib/runtime/tiles.h"

#include "lib/machine/cpu_feature.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { Unknown = -1 };
static atomic_int known = Unknown;

#if defined(__x86_64__)
static int32_t ask_processor(void) {
  if (!tileCpuHas("amx-tile"))
    return 0;
  return (tileCpuHas("amx-bf16") ? TESSERA_TILES_BF16 : 0) | (tileCpuHas("amx-int8") ? TESSERA_TILES_I8 : 0) |
         (tileCpuHas("amx-fp16") ? TESSERA_TILES_F16 : 0);
}

static bool ask_system(void) {
  enum { RequestPermission = 0x1023, TileData = 18 };
  return syscall(SYS_arch_prctl, RequestPermission, TileData) == 0;
}
#else
static int32_t ask_processor(void) { return 0; }
static bool ask_system(void) { return false; }
#endif

static int32_t ask(void) {
  const char *wish = getenv("TESSERA_TILES");
  if (wish && strcmp(wish, "off") == 0)
    return 0;
  int32_t (*stand_in)(void) = (int32_t (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "tessera_stand_in_tiles");
  int32_t given = stand_in ? stand_in() : -1;
  if (given >= 0)
    return given;
  int32_t kinds = ask_processor();
  return kinds && ask_system() ? kinds : 0;
}

int32_t tessera_tiles(void) {
  int kinds = atomic_load_explicit(&known, memory_order_relaxed);
  if (kinds == Unknown) {
    kinds = ask(); // several threads may ask at once: the answer is the same
    atomic_store_explicit(&known, kinds, memory_order_relaxed);
  }
  return kinds;
}

void tessera_tiles_release(void) {
#if defined(__x86_64__)
  if (atomic_load_explicit(&known, memory_order_relaxed) > 0)
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0"); // tilerelease
#endif
}
