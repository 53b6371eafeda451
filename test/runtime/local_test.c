// local_test.c - a kernel's local memory: aligned, not overlapping, nesting, back after a failure, steady at rest.
#include "lib/runtime/local.h"

#include "lib/runtime/call.h"
#include "lib/runtime/pool.h"
#include "test/check.h"

// A kernel with two buffers and a call inside: depth levels deep, each checks its own bytes at the end.
static bool nest(int depth, int64_t bytes) {
  unsigned char *a = tessera_local_alloc(bytes), *b = tessera_local_alloc(bytes / 3);
  bool good = (uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0;
  memset(a, depth, (size_t)bytes);
  memset(b, depth + 100, (size_t)(bytes / 3));
  if (depth > 0)
    good = nest(depth - 1, bytes + bytes / 2) && good;
  for (int64_t i = 0; i < bytes; ++i)
    good = good && a[i] == depth;
  for (int64_t i = 0; i < bytes / 3; ++i)
    good = good && b[i] == depth + 100;
  tessera_local_free(b);
  tessera_local_free(a);
  return good;
}

static void test_nesting(void) {
  CHECK(nest(12, 1000));
  int64_t held = tessera_local_held();
  for (int k = 0; k < 50; ++k)
    CHECK(nest(12, 1000));
  CHECK(tessera_local_held() == held); // steady
  CHECK(!tessera_local_mark());        // and empty
}

static void test_sizes(void) {
  void *empty = tessera_local_alloc(0), *one = tessera_local_alloc(1);
  CHECK(empty && one && empty != one);
  tessera_local_free(one);
  tessera_local_free(empty);
  tessera_local_free(NULL);
  void *large = tessera_local_alloc(40 << 20);
  memset(large, 1, 40 << 20);
  tessera_local_free(large);
  CHECK(tessera_local_held() >= 40 << 20);
  CHECK(tessera_local_alloc(40 << 20) == large); // kept
  tessera_local_free(large);
}

// The top comes back only when everything above it is free, in whatever order that happened.
static void test_out_of_order(void) {
  void *a = tessera_local_alloc(100), *b = tessera_local_alloc(100), *c = tessera_local_alloc(100);
  tessera_local_free(a);
  tessera_local_free(b);
  void *d = tessera_local_alloc(100);
  CHECK(d != a && d != b && d != c);
  tessera_local_free(c);
  tessera_local_free(d);
  CHECK(!tessera_local_mark());
  CHECK(tessera_local_alloc(100) == a);
  tessera_local_free(a);
}

static void ask_for_too_much(void **args) {
  tessera_local_alloc(1000);
  tessera_local_alloc(*(int64_t *)args[0]);
  args[0] = NULL;
}

static void test_absurd_sizes(void) {
  static const int64_t sizes[] = {-1, INT64_MIN, INT64_MAX, (int64_t)1 << 62};
  void *outer = tessera_local_alloc(64);
  for (int i = 0; i < 4; ++i) {
    int64_t size = sizes[i];
    void *args[] = {&size}, *mark = tessera_local_mark();
    tessera_error_t error = {""};
    CHECK(!tessera_call(ask_for_too_much, args, &error));
    CHECK(args[0] != NULL);
    CHECK_CONTAINS(error.text, "bytes of local memory: not a size");
    CHECK(tessera_local_mark() == mark); // what the failed kernel had is back
  }
  tessera_local_free(outer);
}

static void use_local(void **args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    ((unsigned char *)args[0])[i] = nest(3, 1 + i * 37);
}

// Each thread has its own; leaving threads free theirs (LeakSanitizer would tell).
static void test_threads(void) {
  for (int threads = 1; threads <= 4; ++threads) {
    unsigned char good[1000] = {0};
    tessera_pool_t *pool = tessera_pool_create(threads);
    CHECK(tessera_pool_run(pool, use_local, NULL, (void *[]){good}, 1000, NULL));
    tessera_pool_destroy(pool);
    CHECK(!memchr(good, 0, sizeof good));
  }
}

int main(void) {
  test_nesting();
  test_sizes();
  test_out_of_order();
  test_absurd_sizes();
  test_threads();
  return checkResult(50);
}
