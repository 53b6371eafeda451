// arena_test.c - the allocator behind memref.alloc: alignment, reuse, no growth over 10,000 calls, failures as text.
#include "lib/runtime/arena.h"

#include "lib/runtime/call.h"
#include "test/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static void test_sizes_and_alignment(tessera_arena_t *arena) {
  for (size_t n = 0; n < 3000000; n += 1 + n / 89) {
    char *memory = _mlir_memref_to_llvm_alloc(n);
    CHECK((uintptr_t)memory % 64 == 0);
    memset(memory, 0x5a, n);
    int64_t live = tessera_arena_statistics(arena).live;
    CHECK(live >= (int64_t)n && (n < 256 || live <= (int64_t)(n + n / 4)));
    tessera_release(memory);
  }
  for (size_t alignment = 1; alignment <= 1 << 16; alignment *= 2) {
    char *memory = _mlir_memref_to_llvm_aligned_alloc(alignment, 1000);
    CHECK((uintptr_t)memory % alignment == 0);
    memset(memory, 1, 1000);
    _mlir_memref_to_llvm_free(memory);
  }
  CHECK(tessera_arena_statistics(arena).live == 0);
}

// Blocks in use at one time never overlap, in every size class.
static void test_contents_stay(void) {
  enum { N = 2000 };
  unsigned char *blocks[N] = {0};
  unsigned sizes[N], random = 7;
  for (int k = 0; k < 20000; ++k) {
    random = random * 1103515245u + 12345u;
    int i = (int)(random >> 8) % N;
    if (blocks[i])
      CHECK(blocks[i][0] == (unsigned char)i && blocks[i][sizes[i] - 1] == (unsigned char)i);
    tessera_release(blocks[i]);
    sizes[i] = 1 + (random >> 4) % (1u << random % 14);
    blocks[i] = memset(_mlir_memref_to_llvm_alloc(sizes[i]), i, sizes[i]);
  }
  for (int i = 0; i < N; ++i)
    tessera_release(blocks[i]);
}

// What a program does each call: temporaries of several sizes, and a result the caller releases.
static void test_no_leak(tessera_arena_t *arena) {
  int64_t held = 0;
  for (int k = 0; k < 10000; ++k) {
    void *a = _mlir_memref_to_llvm_alloc(4096), *b = _mlir_memref_to_llvm_alloc((size_t)(100 + k % 50));
    void *result = _mlir_memref_to_llvm_aligned_alloc(256, 8192);
    _mlir_memref_to_llvm_free(a);
    _mlir_memref_to_llvm_free(b);
    tessera_release(result);
    if (k == 100)
      held = tessera_arena_statistics(arena).held;
  }
  tessera_arena_statistics_t statistics = tessera_arena_statistics(arena);
  CHECK(statistics.live == 0);
  CHECK(statistics.held == held);
  CHECK(statistics.bad_releases == 0);
}

static void test_peak_and_trim(void) {
  tessera_arena_t *arena = tessera_arena_create(), *outer = tessera_arena_enter(arena);
  void *a = _mlir_memref_to_llvm_alloc(1 << 20), *b = _mlir_memref_to_llvm_alloc(4 << 20);
  tessera_release(b);
  tessera_arena_statistics_t before = tessera_arena_statistics(arena);
  CHECK(before.peak == 5 << 20 && before.live == 1 << 20 && before.held == 5 << 20 && before.blocks == 2);
  tessera_arena_trim(arena);
  tessera_arena_statistics_t after = tessera_arena_statistics(arena);
  CHECK(after.held == 1 << 20 && after.blocks == 1 && after.live == 1 << 20);
  memset(a, 1, 1 << 20);
  tessera_release(a);
  tessera_release(a); // a second time: counted, and the bin stays sound
  CHECK(tessera_arena_statistics(arena).bad_releases == 1);
  CHECK(_mlir_memref_to_llvm_alloc(1 << 20) == a && _mlir_memref_to_llvm_alloc(1 << 20) != a);
  CHECK(tessera_arena_enter(outer) == arena);
  tessera_arena_destroy(arena); // with two blocks live: they go as well (LeakSanitizer would tell)
}

// What a stream may still use goes to that stream only, until it is done; trimming leaves it alone.
static void test_stream_order(void) {
  enum { SIZE = 1 << 16 };
  tessera_arena_t *arena = tessera_arena_create(), *outer = tessera_arena_enter(arena);
  CHECK(tessera_stream_enter(7) == 0);
  void *a = _mlir_memref_to_llvm_alloc(SIZE), *b = _mlir_memref_to_llvm_alloc(SIZE);
  tessera_release(a);
  CHECK(_mlir_memref_to_llvm_alloc(SIZE) == a); // in the same stream: at once
  tessera_release(a);
  CHECK(tessera_stream_enter(8) == 7);
  void *c = _mlir_memref_to_llvm_alloc(SIZE);
  CHECK(c != a && c != b); // another stream must not
  tessera_release(c);
  tessera_stream_enter(0);
  void *d = _mlir_memref_to_llvm_alloc(SIZE);
  CHECK(d != a && d != b && d != c); // nor may the host
  tessera_release(d);
  tessera_arena_trim(arena); // takes d only
  CHECK(tessera_arena_statistics(arena).blocks == 3 && tessera_arena_statistics(arena).live == SIZE);
  tessera_stream_done(arena, 7);
  CHECK(_mlir_memref_to_llvm_alloc(SIZE) == a);
  void *e = _mlir_memref_to_llvm_alloc(SIZE);
  CHECK(e != c); // stream 8 is not done
  tessera_stream_enter(8);
  CHECK(_mlir_memref_to_llvm_alloc(SIZE) == c);
  tessera_stream_enter(0);
  tessera_stream_done(arena, 8);
  tessera_release(a), tessera_release(b), tessera_release(c), tessera_release(e);
  tessera_arena_trim(arena);
  tessera_arena_statistics_t statistics = tessera_arena_statistics(arena);
  CHECK(statistics.live == 0 && statistics.held == 0 && statistics.blocks == 0 && statistics.bad_releases == 0);
  tessera_arena_enter(outer);
  tessera_arena_destroy(arena);
}

static void test_ignored_releases(void) {
  tessera_release(NULL);
  tessera_release((void *)(uintptr_t)0xdeadbeef);
}

static void allocate(void **args) {
  args[1] = _mlir_memref_to_llvm_alloc(*(size_t *)args[0]);
  args[2] = "went on";
}

static void test_absurd_sizes(void) {
  static const size_t sizes[] = {(size_t)-1, (size_t)-64, SIZE_MAX / 2, (size_t)1 << 50};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    size_t size = sizes[i];
    void *args[] = {&size, NULL, NULL};
    tessera_error_t error = {""};
    CHECK(!tessera_call(allocate, args, &error));
    CHECK(!args[1] && !args[2]);
    CHECK_CONTAINS(error.text, "a program asked for a buffer of ");
    CHECK_CONTAINS(error.text, " bytes: the machine has ");
  }
}

static void allocate_badly_aligned(void **args) { args[0] = _mlir_memref_to_llvm_aligned_alloc(96, 64); }

static void test_bad_alignment(void) {
  tessera_error_t error = {""};
  CHECK(!tessera_call(allocate_badly_aligned, (void *[]){NULL}, &error));
  CHECK(strcmp(error.text, "a program asked for 64 bytes aligned to 96") == 0);
}

// Inner failures end the inner call only.
static void call_inner(void **args) {
  size_t size = (size_t)-1;
  CHECK(!tessera_call(allocate, (void *[]){&size, NULL, NULL}, NULL));
  args[0] = "after the inner call";
  tessera_raise_message("outer");
}

static void test_nested_calls(void) {
  void *args[] = {NULL};
  tessera_error_t error = {""};
  CHECK(!tessera_call(call_inner, args, &error));
  CHECK(args[0] && strcmp(error.text, "outer") == 0);
}

static void *release_all(void *blocks) {
  for (int i = 0; i < 1000; ++i)
    tessera_release(((void **)blocks)[i]);
  return NULL;
}

// Results released by other threads than allocated them, meanwhile both allocate.
// Memory of other allocators is never read as a block: neither by its header nor through the pointer.
static void test_foreign_memory(tessera_arena_t *arena) {
  static char foreign[256];
  int64_t bad = tessera_arena_statistics(arena).bad_releases;
  tessera_release(foreign + 128);
  CHECK(tessera_arena_statistics(arena).bad_releases == bad + 1);
  CHECK(!tessera_arena_release(arena, foreign) && !tessera_arena_release(arena, (void *)(uintptr_t)8));
  char *aligned = _mlir_memref_to_llvm_aligned_alloc(4096, 100);
  CHECK(!tessera_arena_release(NULL, aligned) && tessera_arena_release(arena, aligned));
  CHECK(!tessera_arena_release(arena, aligned) && tessera_arena_statistics(arena).live == 0);
}

static void test_threads(tessera_arena_t *arena) {
  static void *blocks[2][1000];
  pthread_t threads[2];
  for (int t = 0; t < 2; ++t) {
    for (int i = 0; i < 1000; ++i)
      blocks[t][i] = _mlir_memref_to_llvm_alloc((size_t)i);
    pthread_create(&threads[t], NULL, release_all, blocks[t]);
  }
  for (int t = 0; t < 2; ++t)
    pthread_join(threads[t], NULL);
  CHECK(tessera_arena_statistics(arena).live == 0);
}

// Memory whose pages nobody may touch: neither arena nor release may read or write a byte of it.
static void *map_untouchable(void *context, size_t bytes) {
  ++*(int *)context;
  void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void keep(void *context, void *memory) { --*(int *)context; } // its pages stay, and stay untouchable

static void note(void *context, void *memory, size_t bytes) { *(size_t *)context += bytes; }

static void test_memory_of_its_own(void) {
  int taken = 0;
  const tessera_memory_t memory = {&taken, map_untouchable, keep};
  tessera_arena_t *first = tessera_arena_create_in(&memory), *second = tessera_arena_create_in(&memory);
  tessera_arena_t *outer = tessera_arena_enter(first);
  char *a = _mlir_memref_to_llvm_alloc(1000), *aligned = _mlir_memref_to_llvm_aligned_alloc(65536, 5000);
  CHECK(a && aligned && (uintptr_t)aligned % 65536 == 0 && taken == 2);
  size_t asked = 0;
  tessera_arena_for_each(first, note, &asked);
  CHECK(asked == 1000 + 5000 + 65536);
  tessera_arena_enter(second);
  char *b = _mlir_memref_to_llvm_alloc(1000);
  tessera_release(aligned); // while another arena is entered
  _mlir_memref_to_llvm_free(a);
  CHECK(tessera_arena_statistics(first).live == 0 && tessera_arena_statistics(second).live == 1024);
  _mlir_memref_to_llvm_free(a); // twice
  CHECK(tessera_arena_statistics(first).bad_releases == 1);
  tessera_arena_enter(first);
  CHECK(_mlir_memref_to_llvm_alloc(1000) == a && taken == 3);
  CHECK(tessera_arena_release(first, a + 999) && !tessera_arena_release(first, b));
  tessera_arena_trim(first);
  CHECK(taken == 1 && tessera_arena_statistics(first).held == 0);
  tessera_arena_enter(outer);
  tessera_arena_destroy(first);
  tessera_release(b);
  tessera_arena_destroy(second);
  CHECK(taken == 0);
}

int main(void) {
  test_stream_order();
  test_memory_of_its_own();
  test_ignored_releases();
  int64_t process_live = tessera_arena_statistics(NULL).live;
  void *memory = _mlir_memref_to_llvm_alloc(64);
  CHECK(tessera_arena_statistics(NULL).live == process_live + 64);
  tessera_release(memory);
  tessera_arena_t *arena = tessera_arena_create();
  tessera_arena_enter(arena);
  test_sizes_and_alignment(arena);
  test_contents_stay();
  test_no_leak(arena);
  test_absurd_sizes();
  test_bad_alignment();
  test_nested_calls();
  test_foreign_memory(arena);
  test_threads(arena);
  tessera_arena_enter(NULL);
  CHECK(tessera_arena_statistics(arena).live == 0);
  tessera_arena_destroy(arena);
  tessera_arena_destroy(NULL);
  test_peak_and_trim();
  return checkResult(1000);
}
