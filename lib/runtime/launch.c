// launch.c - the process's own pool, started by the first launch, and the counted entry for compiled code.
// Why one for the process: two programs sharing the machine's cores must not each start a thread for every core.
// Expects: kernels with the ABI of pool.h. Leaves: idle threads asleep until the process ends.
#include "lib/runtime/launch.h"

#include "lib/runtime/call.h"
#include "lib/runtime/observe.h"
#include "lib/support/clock.h"

#include <pthread.h>
#include <stdatomic.h>

// The one state of the process here. Grids hold the lock for reading; changing the pool needs it for writing.
static struct {
  pthread_rwlock_t lock;
  tessera_pool_t *pool; // NULL until first used
  int threads;          // as asked; 0 is all
  _Atomic int64_t launches;
} process = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static void start_pool(void) {
  pthread_rwlock_wrlock(&process.lock);
  if (!process.pool)
    process.pool = tessera_pool_create(process.threads);
  pthread_rwlock_unlock(&process.lock);
}

// Read-locks the process's pool; NULL, which runs grids in place, only when there is no memory for one.
static tessera_pool_t *borrow_pool(void) {
  pthread_rwlock_rdlock(&process.lock);
  if (!process.pool) {
    pthread_rwlock_unlock(&process.lock);
    start_pool();
    pthread_rwlock_rdlock(&process.lock);
  }
  return process.pool;
}

static void return_pool(void) { pthread_rwlock_unlock(&process.lock); }

static void launch(tessera_kernel_t kernel, void **args, int64_t count, const char *name) {
  if (count == 1 || tessera_pool_is_inside()) { // in place, and a raise goes straight to the caller's guard
    kernel(args, 0, count);
    return;
  }
  tessera_error_t error;
  bool done = tessera_pool_run(borrow_pool(), kernel, name, args, count, &error);
  return_pool();
  if (!done)
    tessera_raise_message(error.text);
}

void tessera_count_launch(void) { atomic_fetch_add_explicit(&process.launches, 1, memory_order_relaxed); }

void tessera_launch(tessera_kernel_t kernel, void **args, int64_t count, const char *name) {
  tessera_count_launch();
  if (count < 1)
    return;
  if (!tessera_is_observed()) {
    launch(kernel, args, count, name);
    return;
  }
  tessera_span_t span = {.kernel = name, .is_launch = true, .programs = count, .begin = tessera_nanoseconds()};
  launch(kernel, args, count, name);
  tessera_tell(&span);
}

bool tessera_set_threads(int threads) {
  if (tessera_pool_is_inside())
    return false;
  pthread_rwlock_wrlock(&process.lock);
  tessera_pool_destroy(process.pool);
  process.pool = NULL;
  process.threads = threads;
  pthread_rwlock_unlock(&process.lock);
  return true;
}

int tessera_threads(void) {
  if (tessera_pool_is_inside())
    return 1;
  int threads = tessera_pool_threads(borrow_pool());
  return_pool();
  return threads;
}

int64_t tessera_launch_count(void) { return atomic_load_explicit(&process.launches, memory_order_relaxed); }
