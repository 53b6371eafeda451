// pool.c - one job at a time for threads that sleep on a futex (Linux); the caller works too.
// Why our own: programs must run on bare machines, and a grid may last microseconds. Two things keep short grids short:
//  - A job is a word that is open or closed, with a count of the workers inside. A worker that wakes late finds it
//    closed and goes back to sleep, so the caller waits for workers that took work, never for a wake-up (>100 us here).
//  - A worker that finds itself on the caller's processor moves to another: the system wakes it where the waker runs
//  and may
//    leave both there for many milliseconds (two threads as slow as one: 97 of 194 GFLOP/s, seen in bursts of 50 ms).
//  - With every worker asleep, the caller times the first chunk and wakes them only if the rest is worth it; a kernel
//    that was worth it before wakes them at once, since a first chunk of a large grid run alone would be time lost.
#include "lib/runtime/pool.h"

#include "lib/runtime/call.h"
#include "lib/runtime/observe.h"
#include "lib/support/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 4000, WAKE_NANOSECONDS = 50000, CHUNKS_PER_THREAD = 8, MOST_THREADS = 1024, MEMORIES = 64 };

// state: bits 63..32 the job's number, bit 31 it is open, bits 30..0 workers inside.
#define OPEN UINT64_C(0x80000000)
#define INSIDE (OPEN - 1)

typedef struct job_t {
  tessera_kernel_t kernel;
  const char *name;
  void **args;
  uint64_t count, chunk;
} job_t;

// How long an instance of a kernel took the last time.
typedef struct memory_t {
  tessera_kernel_t kernel;
  double nanoseconds;
} memory_t;

struct tessera_pool_t {
  _Alignas(64) _Atomic uint32_t newest; // number of the newest job: what idle workers sleep on
  _Atomic uint32_t sleepers;
  atomic_bool stop;
  _Alignas(64) _Atomic uint64_t state;
  _Alignas(64) _Atomic uint64_t next; // first instance not yet taken
  _Alignas(64) job_t job;             // written while closed with nobody inside
  atomic_bool failed;
  tessera_error_t error; // of whoever set |failed|
  pthread_mutex_t lock;  // one grid at a time; it also guards what follows
  memory_t memories[MEMORIES];
  int workers;
  _Atomic int numbered; // workers that have taken a number
  _Atomic int caller;   // processor it was on when it opened the job
  pthread_t threads[];
};

static _Thread_local bool inside_grid;

static void sleep_while(_Atomic uint32_t *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word, int threads) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

//===--- Taking part in a job --------------------------------------------===//

static bool run_chunk(tessera_pool_t *pool) {
  const job_t *job = &pool->job;
  uint64_t begin = atomic_fetch_add_explicit(&pool->next, job->chunk, memory_order_relaxed);
  if (begin >= job->count)
    return false;
  uint64_t end = job->count - begin < job->chunk ? job->count : begin + job->chunk;
  job->kernel(job->args, (int64_t)begin, (int64_t)end);
  return true;
}

static void run_one_chunk(void **context) { run_chunk(context[0]); }

static void run_all_chunks(void **context) {
  while (run_chunk(context[0]))
    ;
}

// A raise ends here, on the thread it happened on; the first one is kept and nothing more is begun.
static void take_part(tessera_pool_t *pool, void (*part)(void **)) {
  void *context[] = {pool};
  tessera_error_t error;
  if (tessera_call(part, context, &error))
    return;
  if (!atomic_exchange(&pool->failed, true))
    pool->error = error;
  atomic_store(&pool->next, pool->job.count);
}

//===--- The workers -----------------------------------------------------===//

static void wait_for_job_after(tessera_pool_t *pool, uint32_t seen) {
  for (int i = 0; atomic_load_explicit(&pool->newest, memory_order_acquire) == seen && !atomic_load(&pool->stop); ++i) {
    if (i < SPINS) {
      pause_briefly();
      continue;
    }
    atomic_fetch_add(&pool->sleepers, 1);
    sleep_while(&pool->newest, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
  }
}

// Enters the job if it is still open, and gives its number.
static bool enter_job(tessera_pool_t *pool, uint32_t *number) {
  uint64_t state = atomic_load(&pool->state);
  while ((state & OPEN) && !atomic_compare_exchange_weak(&pool->state, &state, state + 1))
    ;
  if (state & OPEN)
    *number = (uint32_t)(state >> 32);
  return state & OPEN;
}

static void leave_the_callers_processor(const tessera_pool_t *pool) {
  int here = sched_getcpu();
  cpu_set_t allowed, others;
  if (here < 0 || here != atomic_load_explicit(&pool->caller, memory_order_relaxed) ||
      sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  others = allowed;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed); // it stays where it has gone to, until the system knows better
}

static void work_on_job(tessera_pool_t *pool, int number) {
  if (!tessera_is_observed()) {
    take_part(pool, run_all_chunks);
    return;
  }
  if (atomic_load(&pool->next) >= pool->job.count) // too late for a part of it
    return;
  tessera_span_t part = {.kernel = pool->job.name, .thread = number, .programs = (int64_t)pool->job.count};
  part.begin = tessera_nanoseconds();
  take_part(pool, run_all_chunks);
  tessera_tell(&part);
}

// A stack on which a host's handler may tell that the thread's own is exhausted. NULL: the thread has one, or no
// memory.
static void *open_signal_stack(void) {
  enum { BYTES = 64 * 1024 };
  stack_t had, stack = {.ss_size = BYTES};
  if (sigaltstack(NULL, &had) || !(had.ss_flags & SS_DISABLE) || !(stack.ss_sp = malloc(BYTES)))
    return NULL;
  sigaltstack(&stack, NULL);
  return stack.ss_sp;
}

static void close_signal_stack(void *stack) {
  if (stack)
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
  free(stack);
}

static void *work(void *argument) {
  tessera_pool_t *pool = argument;
  int number = atomic_fetch_add(&pool->numbered, 1) + 1;
  inside_grid = true;
  void *stack = open_signal_stack();
  for (uint32_t seen = 0;;) {
    wait_for_job_after(pool, seen);
    if (atomic_load(&pool->stop))
      break;
    seen = atomic_load_explicit(&pool->newest, memory_order_acquire);
    if (!enter_job(pool, &seen))
      continue;
    leave_the_callers_processor(pool);
    work_on_job(pool, number);
    atomic_fetch_sub_explicit(&pool->state, 1, memory_order_release);
  }
  close_signal_stack(stack);
  return NULL;
}

//===--- The caller ------------------------------------------------------===//

static memory_t *memory_of(tessera_pool_t *pool) {
  uintptr_t address = (uintptr_t)pool->job.kernel;
  memory_t *memory = &pool->memories[(address >> 4 ^ address >> 10) % MEMORIES];
  if (memory->kernel != pool->job.kernel)
    *memory = (memory_t){.kernel = pool->job.kernel};
  return memory;
}

static void open_job(tessera_pool_t *pool) {
  uint32_t number = atomic_load_explicit(&pool->newest, memory_order_relaxed) + 1;
  atomic_store_explicit(&pool->caller, sched_getcpu(), memory_order_relaxed);
  atomic_store(&pool->state, (uint64_t)number << 32 | OPEN);
  atomic_store(&pool->newest, number);
  if (atomic_load(&pool->sleepers))
    wake(&pool->newest, pool->workers);
}

static void close_job(tessera_pool_t *pool) {
  atomic_fetch_and(&pool->state, ~OPEN);
  for (int i = 0; atomic_load_explicit(&pool->state, memory_order_acquire) & INSIDE; ++i) {
    if (i < SPINS)
      pause_briefly();
    else
      sched_yield();
  }
}

static void run_together(tessera_pool_t *pool) {
  int64_t start = tessera_nanoseconds();
  uint64_t count = pool->job.count - atomic_load(&pool->next);
  open_job(pool);
  take_part(pool, run_all_chunks);
  close_job(pool);
  memory_of(pool)->nanoseconds = (double)(tessera_nanoseconds() - start) * (pool->workers + 1) / (double)count;
}

// All workers sleep and nothing says the grid is long: does the first chunk?
static void run_first_chunk_alone(tessera_pool_t *pool) {
  job_t *job = &pool->job;
  int64_t start = tessera_nanoseconds();
  take_part(pool, run_one_chunk);
  double each = (double)(tessera_nanoseconds() - start) / (double)job->chunk;
  memory_of(pool)->nanoseconds = each;
  if (atomic_load(&pool->next) >= job->count)
    return;
  if (each * (double)(job->count - job->chunk) >= WAKE_NANOSECONDS) {
    run_together(pool);
    return;
  }
  uint64_t chunk = job->chunk;
  job->chunk = job->count;
  take_part(pool, run_all_chunks);
  job->chunk = chunk;
}

static void run_job(tessera_pool_t *pool) {
  bool awake = atomic_load(&pool->sleepers) < (uint32_t)pool->workers;
  if (awake || memory_of(pool)->nanoseconds * (double)pool->job.count >= WAKE_NANOSECONDS)
    run_together(pool);
  else
    run_first_chunk_alone(pool);
}

static void run_whole_job(void **context) {
  job_t *job = context[0];
  job->kernel(job->args, 0, (int64_t)job->count);
}

// On this thread alone. It counts as inside even so: tessera_launch holds the pool's lock above the kernel.
static bool run_in_place(job_t *job, tessera_error_t *out_error) {
  bool outer = inside_grid;
  inside_grid = outer || job->count > 1;
  bool done = tessera_call(run_whole_job, (void *[]){job}, out_error);
  inside_grid = outer;
  return done;
}

bool tessera_pool_run(tessera_pool_t *pool, tessera_kernel_t kernel, const char *name, void **args, int64_t count,
                      tessera_error_t *out_error) {
  if (count < 1)
    return true;
  job_t job = {.kernel = kernel, .name = name, .args = args, .count = (uint64_t)count};
  if (!pool || pool->workers == 0 || count == 1 || inside_grid)
    return run_in_place(&job, out_error);
  uint64_t chunk = job.count / (uint64_t)(CHUNKS_PER_THREAD * (pool->workers + 1));
  job.chunk = chunk ? chunk : 1;
  pthread_mutex_lock(&pool->lock);
  inside_grid = true;
  pool->job = job;
  atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
  atomic_store_explicit(&pool->failed, false, memory_order_relaxed);
  run_job(pool);
  bool failed = atomic_load(&pool->failed);
  if (failed && out_error)
    *out_error = pool->error;
  inside_grid = false;
  pthread_mutex_unlock(&pool->lock);
  return !failed;
}

//===--- Life ------------------------------------------------------------===//

static int allowed_processors(void) {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? count : 1;
}

tessera_pool_t *tessera_pool_create(int threads) {
  threads = threads > 0 ? threads : allowed_processors();
  threads = threads < MOST_THREADS ? threads : MOST_THREADS;
  size_t bytes = sizeof(tessera_pool_t) + (size_t)threads * sizeof(pthread_t);
  tessera_pool_t *pool = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!pool)
    return NULL;
  *pool = (tessera_pool_t){.workers = 0};
  pthread_mutex_init(&pool->lock, NULL);
  for (int i = 0; i < threads - 1; ++i)
    if (pthread_create(&pool->threads[pool->workers], NULL, work, pool) == 0)
      ++pool->workers;
  return pool;
}

void tessera_pool_destroy(tessera_pool_t *pool) {
  if (!pool)
    return;
  atomic_store(&pool->stop, true);
  atomic_fetch_add(&pool->newest, 1);
  wake(&pool->newest, INT_MAX);
  for (int i = 0; i < pool->workers; ++i)
    pthread_join(pool->threads[i], NULL);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

int tessera_pool_threads(const tessera_pool_t *pool) { return pool ? pool->workers + 1 : 1; }

bool tessera_pool_is_inside(void) { return inside_grid; }
