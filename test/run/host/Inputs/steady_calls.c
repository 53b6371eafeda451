// Calls an entry twenty times and counts what it asks the system for after the second call: nothing. It runs on one
// thread, since another one asks for its own memory when it first takes a program, which may be in any call.
//   steady_calls PROGRAM
#include "lib/runtime/tessera.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROWS = 96, WIDTH = 256, CALLS = 20, WARM = 2 };

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static atomic_long asked;

void *malloc(size_t size) { return ++asked, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return ++asked, __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return ++asked, __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { return ++asked, __libc_memalign(alignment, size); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
  ++asked;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
  ++asked;
  return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

int main(int argc, char **argv) {
  static float x[ROWS * WIDTH], weights[WIDTH * WIDTH];
  tessera_error_t error = {.text = ""};
  void *program = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  void (*entry)(void **args) = program ? (void (*)(void **))dlsym(program, "tessera_packed_main") : NULL;
  tessera_set_threads(1);
  if (!entry)
    return fprintf(stderr, "steady_calls PROGRAM: %s\n", dlerror()), 2;
  for (int i = 0; i < WIDTH * WIDTH; ++i)
    weights[i] = (float)(i % 37 - 18) / 64, x[i % (ROWS * WIDTH)] = (float)(i % 29 - 14) / 16;
  tessera_memref_2d_t in[2] = {{x, x, 0, {ROWS, WIDTH}, {WIDTH, 1}}, {weights, weights, 0, {WIDTH, WIDTH}, {WIDTH, 1}}};
  long before = 0;
  for (int i = 0; i < CALLS; ++i) {
    tessera_memref_2d_t result;
    if (i == WARM)
      before = asked;
    if (!tessera_call(entry, (void *[]){&result, &in[0], &in[1]}, &error))
      return fprintf(stderr, "steady_calls: %s\n", error.text), 1;
    tessera_release(result.allocated);
  }
  long first = before, later = asked - before;
  printf("the first calls ask for memory: %s; the other %d ask %ld times\n", first > 0 ? "yes" : "no", CALLS - WARM,
         later);
  return later != 0;
}
