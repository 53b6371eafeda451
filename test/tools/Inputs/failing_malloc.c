// failing_malloc.c - the allocation number N of a process fails, and no other one: LD_PRELOAD this, FAIL_AT=N. With
// FAIL_FROM=N all from then on fail, with FAIL_ALIGNED_OF=NAME each aligned_alloc of the library NAME. Prints the
// number of allocations at exit to the file COUNT_TO, and the library that asked for number N to the file FAILED_IN.
// A process may also begin again by failing_malloc_at(N): the allocation number N from there on fails, none for N < 0.
// failing_malloc_count() tells how many there were.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long count;
static long fail_at = -1, fail_from = -1;
static const char *aligned_of;

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("FAIL_AT"), *from = getenv("FAIL_FROM");
  fail_at = at ? atol(at) : -1;
  aligned_of = getenv("FAIL_ALIGNED_OF");
  fail_from = from ? atol(from) : -1;
  atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("COUNT_TO");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%ld\n", atomic_load(&count));
    fclose(file);
  }
}

void failing_malloc_at(long number) {
  fail_at = number;
  atomic_store(&count, 0);
}

long failing_malloc_count(void) { return atomic_load(&count); }

static void tell(const void *caller) {
  const char *path = getenv("FAILED_IN");
  Dl_info info;
  int file = path && dladdr(caller, &info) && info.dli_fname ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
  if (file < 0)
    return;
  if (write(file, info.dli_fname, strlen(info.dli_fname)) < 0)
    abort();
  close(file);
}

static int fails(const void *caller) {
  long number = atomic_fetch_add(&count, 1);
  if (number != fail_at && (fail_from < 0 || number < fail_from))
    return 0;
  tell(caller);
  errno = ENOMEM;
  return 1;
}

#define FAILS fails(__builtin_return_address(0))
void *malloc(size_t size) { return FAILS ? NULL : __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return FAILS ? NULL : __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { return FAILS ? NULL : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return FAILS ? NULL : __libc_memalign(alignment, size); }
static int is_of(const void *caller) {
  Dl_info info;
  return aligned_of && dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, aligned_of);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return is_of(__builtin_return_address(0)) || FAILS ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size) {
  void *memory = FAILS ? NULL : __libc_memalign(alignment, size);
  if (memory)
    *out = memory;
  return memory ? 0 : ENOMEM;
}
