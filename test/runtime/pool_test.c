// pool_test.c - every instance runs exactly once, whatever the threads, sizes, nesting and failures; and the answer is
// the same bit for bit. Also the process's pool behind tessera_launch. Prints what failed.
#include "lib/runtime/pool.h"

#include "lib/runtime/call.h"
#include "lib/runtime/launch.h"
#include "test/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 100003 };

// Each instance adds one to its own place: args = {counts}.
static void mark(void **args, int64_t begin, int64_t end) {
  unsigned *counts = args[0];
  for (int64_t i = begin; i < end; ++i)
    ++counts[i];
}

static bool all_are(const unsigned *counts, int64_t n, unsigned wanted) {
  for (int64_t i = 0; i < n; ++i)
    if (counts[i] != wanted)
      return false;
  return true;
}

static void test_every_instance_once(tessera_pool_t *pool, unsigned *counts) {
  static const int64_t sizes[] = {0, 1, 2, 3, 7, 31, 64, 1000, MOST - 1};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    memset(counts, 0, MOST * sizeof *counts);
    for (int repeat = 0; repeat < 20; ++repeat)
      CHECK(tessera_pool_run(pool, mark, NULL, (void *[]){counts}, sizes[s], NULL));
    CHECK(all_are(counts, sizes[s], 20));
    CHECK(counts[sizes[s]] == 0);
  }
}

// Many grids back to back, with idle times between some: workers asleep, spinning and late.
static void test_stress(tessera_pool_t *pool, unsigned *counts) {
  memset(counts, 0, MOST * sizeof *counts);
  unsigned wanted[512] = {0}, random = 12345;
  for (int k = 0; k < 20000; ++k) {
    random = random * 1103515245u + 12345u;
    int n = (int)(random >> 16) % 512;
    tessera_pool_run(pool, mark, NULL, (void *[]){counts}, n, NULL);
    for (int i = 0; i < n; ++i)
      ++wanted[i];
    if (k % 1000 == 0)
      usleep(1000);
  }
  for (int i = 0; i < 512; ++i)
    CHECK(counts[i] == wanted[i]);
}

// A sum inside each instance, so that a wrong split would change the rounding.
static void accumulate(void **args, int64_t begin, int64_t end) {
  double *out = args[0];
  for (int64_t i = begin; i < end; ++i) {
    double sum = 0;
    for (int j = 1; j < 200; ++j)
      sum += 1.0 / (double)(i + j);
    out[i] = sum;
  }
}

static void test_same_bits(tessera_pool_t *pool, const double *wanted, double *got, int64_t n) {
  memset(got, 0, (size_t)n * sizeof *got);
  CHECK(tessera_pool_run(pool, accumulate, NULL, (void *[]){got}, n, NULL));
  CHECK(memcmp(wanted, got, (size_t)n * sizeof *got) == 0);
}

// Instance i runs a grid of 100 over row i: args = {pool, counts}.
static void run_row(void **args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    tessera_pool_run(args[0], mark, NULL, (void *[]){(unsigned *)args[1] + 100 * i}, 100, NULL);
}

static void test_nested(tessera_pool_t *pool, unsigned *counts) {
  memset(counts, 0, MOST * sizeof *counts);
  for (int repeat = 0; repeat < 10; ++repeat)
    CHECK(tessera_pool_run(pool, run_row, NULL, (void *[]){pool, counts}, 200, NULL));
  CHECK(all_are(counts, 200 * 100, 10));
}

static void raise_at_500(void **args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    if (i == 500)
      tessera_raise("instance %d of %s", (int)i, (const char *)args[0]);
}

static void test_failure(tessera_pool_t *pool, unsigned *counts) {
  for (int repeat = 0; repeat < 100; ++repeat) {
    tessera_error_t error = {""};
    CHECK(!tessera_pool_run(pool, raise_at_500, NULL, (void *[]){"grid"}, 1000, &error));
    CHECK(strcmp(error.text, "instance 500 of grid") == 0);
  }
  test_every_instance_once(pool, counts); // and the pool is as good as before
}

// The first instance takes long; the others wait for a worker, however late a busy machine lets it come (150 s at
// most). args = {the caller, a worker has come}
static void wait_for_a_worker(void **args, int64_t begin, int64_t end) {
  atomic_bool *has_come = args[1];
  for (int64_t i = begin; i < end; ++i) {
    if (!pthread_equal(pthread_self(), *(pthread_t *)args[0]))
      atomic_store(has_come, true);
    for (int k = 0; !atomic_load(has_come) && k < (i ? 1000 : 2); ++k)
      usleep(10000);
  }
}

// Long instances are shared out; the second time at once, since the pool remembers how long they took.
static void test_work_is_shared(void) {
  tessera_pool_t *pool = tessera_pool_create(2);
  pthread_t caller = pthread_self();
  for (int repeat = 0; repeat < 2; ++repeat) {
    usleep(50000); // the worker falls asleep
    atomic_bool has_come = false;
    tessera_pool_run(pool, wait_for_a_worker, NULL, (void *[]){&caller, &has_come}, 16, NULL);
    CHECK(has_come);
  }
  tessera_pool_destroy(pool);
}

static void *run_grids(void *argument) {
  void **args = argument;
  unsigned *counts = calloc(1000, sizeof *counts);
  for (int k = 0; k < 500; ++k)
    tessera_pool_run(args[0], mark, NULL, (void *[]){counts}, 1000, NULL);
  bool good = all_are(counts, 1000, 500);
  free(counts);
  return good ? args : NULL;
}

static void test_callers_take_turns(tessera_pool_t *pool) {
  pthread_t callers[3];
  void *args[] = {pool}, *good;
  for (int i = 0; i < 3; ++i)
    pthread_create(&callers[i], NULL, run_grids, args);
  for (int i = 0; i < 3; ++i) {
    pthread_join(callers[i], &good);
    CHECK(good);
  }
}

static void launch_row(void **args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    tessera_launch(mark, (void *[]){(unsigned *)args[0] + 100 * i}, 100, NULL);
    if (tessera_set_threads(3) && tessera_pool_is_inside())
      tessera_raise("the pool changed under a running grid");
  }
}

static void launch_failing(void **args) { tessera_launch(raise_at_500, args, 1000, NULL); }

static void test_process_pool(unsigned *counts) {
  for (int threads = 1; threads <= 4; ++threads) {
    CHECK(tessera_set_threads(threads));
    CHECK(tessera_threads() == threads);
    memset(counts, 0, MOST * sizeof *counts);
    int64_t before = tessera_launch_count();
    tessera_launch(launch_row, (void *[]){counts}, 50, NULL);
    tessera_launch(mark, (void *[]){counts}, 0, NULL);
    tessera_launch(mark, (void *[]){counts}, -5, NULL);
    CHECK(tessera_launch_count() - before == 53);
    CHECK(all_are(counts, 5000, 1));
    tessera_error_t error = {""};
    CHECK(!tessera_call(launch_failing, (void *[]){"launch"}, &error));
    CHECK_CONTAINS(error.text, "instance 500 of launch");
  }
  CHECK(tessera_set_threads(0) && tessera_threads() >= 1);
}

int main(void) {
  unsigned *counts = malloc(MOST * sizeof *counts);
  double *wanted = malloc(5000 * sizeof *wanted), *got = malloc(5000 * sizeof *got);
  accumulate((void *[]){wanted}, 0, 5000);
  for (int threads = 1; threads <= 4; ++threads) {
    tessera_pool_t *pool = tessera_pool_create(threads);
    CHECK(tessera_pool_threads(pool) == threads);
    test_every_instance_once(pool, counts);
    test_stress(pool, counts);
    test_same_bits(pool, wanted, got, 5000);
    test_nested(pool, counts);
    test_failure(pool, counts);
    test_callers_take_turns(pool);
    tessera_pool_destroy(pool);
  }
  test_every_instance_once(NULL, counts);
  test_work_is_shared();
  test_process_pool(counts);
  free(counts);
  free(wanted);
  free(got);
  return checkResult(20);
}
