// Calls the entries of host_model.test's program 10,000 times each, in every way they can end, and asks the arena
// whether every byte came back; then from two threads at once.
#include "lib/runtime/tessera.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 10000, MOST = 256 };

typedef void (*packed_t)(void **args);
static packed_t halve, recurse, several, assertive;
static int failures;

#define CHECK(condition) check(condition, #condition, __LINE__)

static void check(int good, const char *text, int line) {
  if (!good && ++failures < 10)
    printf("line %d: %s\n", line, text);
}

static tessera_memref_1d_t vector(float *numbers, int64_t n) {
  return (tessera_memref_1d_t){numbers, numbers, 0, {n}, {1}};
}

static float at(const tessera_memref_1d_t *x, int64_t i) {
  return ((float *)x->aligned)[x->offset + i * x->strides[0]];
}

static int64_t live(void) { return tessera_arena_statistics(NULL).live; }

// Halves x until no element is above 1: as many steps as the data says.
static void call_halve(int k) {
  float numbers[MOST];
  int64_t n = 1 + k % MOST;
  for (int i = 0; i < n; ++i)
    numbers[i] = (float)(k % 37) + (float)i / MOST;
  float expected = numbers[n - 1];
  while (expected > 1)
    expected /= 2;
  tessera_memref_1d_t x = vector(numbers, n), result;
  CHECK(tessera_call(halve, (void *[]){&result, &x}, NULL));
  CHECK(result.sizes[0] == n && at(&result, n - 1) == expected); // the last element is the largest
  tessera_release(result.allocated);
}

static void call_recurse(int k) {
  float numbers[MOST] = {1, 2, 3};
  int64_t depth = k % 12;
  tessera_memref_1d_t x = vector(numbers, MOST), result;
  CHECK(tessera_call(recurse, (void *[]){&result, &x, &depth}, NULL));
  CHECK(at(&result, 2) == 3.0f * (float)(1 << depth) && numbers[2] == 3);
  tessera_release(result.allocated);
}

// One result is the argument, one a constant, one computed: all three are the caller's.
static void call_several(int k) {
  float numbers[4] = {(float)k, 1, 2, 3};
  tessera_memref_1d_t x = vector(numbers, 4), results[3];
  CHECK(tessera_call(several, (void *[]){results, &x}, NULL));
  CHECK(at(&results[0], 0) == (float)k && results[0].allocated != numbers);
  CHECK(at(&results[1], 1) == 20 && at(&results[2], 3) == 6);
  ((float *)results[1].aligned)[1] = -1; // ours: the next call's constant is as before
  for (int i = 0; i < 3; ++i)
    tessera_release(results[i].allocated);
}

// Fails in the middle, with buffers live: they go with the arena that the call had.
static void call_assertive(int k) {
  float numbers[MOST] = {0};
  int64_t depth = k % 5;
  tessera_memref_1d_t x = vector(numbers, MOST), result;
  tessera_arena_t *arena = tessera_arena_create(), *outer = tessera_arena_enter(arena);
  tessera_error_t error = {""};
  CHECK(!tessera_call(assertive, (void *[]){&result, &x, &depth}, &error));
  CHECK(strstr(error.text, "assertion failed: deep enough") != NULL);
  CHECK(tessera_arena_statistics(arena).live > 0);
  tessera_arena_enter(outer);
  tessera_arena_destroy(arena);
}

static void run_many(const char *name, void (*call)(int)) {
  int64_t held = 0, blocks = 0;
  size_t heap = 0;
  for (int k = 0; k < CALLS; ++k) {
    call(k);
    CHECK(live() == 0);
    if (k == CALLS / 10) {
      held = tessera_arena_statistics(NULL).held;
      blocks = tessera_arena_statistics(NULL).blocks;
      heap = mallinfo2().uordblks;
    }
  }
  tessera_arena_statistics_t statistics = tessera_arena_statistics(NULL);
  CHECK(statistics.held == held && statistics.blocks == blocks && statistics.bad_releases == 0);
  CHECK(mallinfo2().uordblks <= heap + 4096);
  printf("%s: %d calls, %lld bytes live, %lld held\n", name, CALLS, (long long)statistics.live,
         (long long)statistics.held);
}

// The process's arena and the pool are shared; every result is still right, and nothing is left.
static void *call_from_thread(void *unused) {
  for (int k = 0; k < CALLS / 4; ++k) {
    call_halve(k);
    call_recurse(k);
    call_several(k);
  }
  return unused;
}

static packed_t find(void *program, const char *name) {
  char symbol[128];
  snprintf(symbol, sizeof symbol, "tessera_packed_%s", name);
  packed_t entry = (packed_t)(uintptr_t)dlsym(program, symbol);
  if (!entry)
    printf("no %s\n", symbol), exit(1);
  return entry;
}

int main(int argc, char **argv) {
  void *program = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!program)
    return printf("%s\n", dlerror()), 1;
  halve = find(program, "halve");
  recurse = find(program, "recurse");
  several = find(program, "several");
  assertive = find(program, "assertive");
  run_many("halve", call_halve);
  run_many("recurse", call_recurse);
  run_many("several", call_several);
  run_many("assertive", call_assertive);
  pthread_t thread;
  pthread_create(&thread, NULL, call_from_thread, NULL);
  call_from_thread(NULL);
  pthread_join(thread, NULL);
  CHECK(live() == 0);
  tessera_arena_trim(NULL);
  CHECK(tessera_arena_statistics(NULL).held == 0);
  printf("two threads: %lld bytes live\n", (long long)live());
  return failures ? 1 : 0;
}
