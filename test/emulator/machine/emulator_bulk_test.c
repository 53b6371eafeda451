// emulator_bulk_test.c - copies of boxes of tensors: where each element goes, what lies outside, which barrier counts
// which bytes, and each way to get the waits wrong, under every seed.
#include "lib/support/tensor_map.h"
#include "test/emulator/machine/emulate.h"

enum { SEEDS = 6, BARRIER = 65536, SHARED = 66560, ELEMENTS = 1 << 16 };

static uint16_t source[ELEMENTS], target[ELEMENTS], dump[32768];
static int flags[64];

static tessera_emulator_report_t *run(tessera_emu_kernel_t kernel, void **params, uint64_t seed, uint32_t threads) {
  const tessera_emulator_buffer_t buffers[] = {{source, sizeof source, "source"},
                                               {target, sizeof target, "target"},
                                               {dump, sizeof dump, "dump"},
                                               {flags, sizeof flags, "flags"}};
  return emulate(&(tessera_emulator_launch_t){.kernel = kernel,
                                              .params = params,
                                              .block = {threads},
                                              .shared_bytes = SHARED,
                                              .buffers = buffers,
                                              .buffer_count = 4,
                                              .checks = true,
                                              .count = true,
                                              .seed = seed});
}

static bool has(const tessera_emulator_report_t *report, int kind, const char *text) {
  for (size_t i = 0; report && i < report->finding_count; ++i)
    if ((int)report->findings[i].kind == kind && strstr(report->findings[i].text, text))
      return true;
  if (report)
    print_findings(report);
  return false;
}

//===--- Where elements go -----------------------------------------------===//

// One thread brings a box in, copies shared memory to `dump`, and sends the box to `target`. params = {map, at, map}
static void there_and_back(self_t *self, void **params) {
  const tessera_tensor_map_t *map = params[0], *back = params[2];
  const int32_t *at = params[1];
  char *shared = self->block->shared, *barrier = shared + BARRIER;
  uint32_t bytes = tessera_tensor_map_element_bytes(map->element);
  for (int axis = 0; axis < map->rank; ++axis)
    bytes *= map->box[axis];
  tessera_emu_mbarrier_init(self, barrier, 1, 1);
  tessera_emu_fence_mbarrier_init(self, 1);
  tessera_emu_mbarrier_arrive(self, barrier, 1, bytes, 0, 2);
  tessera_emu_bulk_load(self, shared, map, barrier, at, map->rank, 3);
  tessera_emu_mbarrier_wait(self, barrier, 0, 4);
  for (uint32_t i = 0; i < bytes; i += 4)
    STORE((int *)((char *)dump + i), LOAD((int *)(shared + i), 5), 6);
  tessera_emu_bulk_store(self, back, shared, at, map->rank, 7);
  tessera_emu_bulk_commit(self);
  tessera_emu_bulk_wait(self, 0, 0, 8);
}

static uint32_t count_of(const tessera_tensor_map_t *map, bool box) {
  uint32_t count = 1;
  for (int axis = 0; axis < map->rank; ++axis)
    count *= box ? map->box[axis] : (uint32_t)map->sizes[axis];
  return count;
}

// The element of the box `n`, 16 bits; its index in the tensor's memory, or -1.
static int64_t place_of(const tessera_tensor_map_t *map, const int32_t *at, uint32_t n) {
  uint64_t place = 0;
  for (int axis = 0; axis < map->rank; ++axis) {
    int64_t index = at[axis] + (int64_t)(n % map->box[axis]);
    n /= map->box[axis];
    if (index < 0 || index >= (int64_t)map->sizes[axis])
      return -1;
    place += (uint64_t)index * (axis ? map->strides[axis - 1] / 2 : 1);
  }
  return (int64_t)place;
}

// By rows and pieces, as the PTX manual's tables have it: where the box's element n lies, in elements.
static uint32_t shared_place(const tessera_tensor_map_t *map, uint32_t n) {
  if (!map->swizzle)
    return n;
  uint32_t width = map->swizzle / 2, row = n / width, piece = n % width / 8;
  uint32_t turn = map->swizzle == 128 ? row % 8 : map->swizzle == 64 ? row / 2 % 4 : row / 4 % 2;
  return row * width + (piece ^ turn) * 8 + n % 8;
}

static void test_place(const tessera_tensor_map_t *given, const int32_t *at, uint64_t seed) {
  tessera_tensor_map_t map = *given, back = *given;
  uint32_t wrong = 0, lost = 0, outside = 0;
  map.address = (uint64_t)(uintptr_t)source;
  back.address = (uint64_t)(uintptr_t)target;
  for (uint32_t i = 0; i < ELEMENTS; ++i) {
    source[i] = (uint16_t)(i * 2654435761u >> 16 | 1);
    target[i] = 0xabcd;
  }
  memset(dump, 0x11, sizeof dump);
  tessera_emulator_report_t *report = run(there_and_back, (void *[]){&map, (void *)(uintptr_t)at, &back}, seed, 1);
  CHECK(is_clean(report), "rank %d, swizzle %d", map.rank, map.swizzle);
  for (uint32_t n = 0; n < count_of(&map, true); ++n) {
    int64_t place = place_of(&map, at, n);
    uint16_t expected = place >= 0 ? source[place] : map.fill ? 0x7fff : 0;
    wrong += dump[shared_place(&map, n)] != expected;
    outside += place < 0;
    if (place >= 0) {
      lost += target[place] != source[place];
      target[place] = 0xabcd;
    }
  }
  for (uint32_t i = 0; i < ELEMENTS; ++i)
    lost += target[i] != 0xabcd;
  CHECK(!wrong && !lost, "rank %d, swizzle %d: %u wrong in shared memory, %u in the tensor", map.rank, map.swizzle,
        wrong, lost);
  CHECK(report && report->counters.async_copies == 2 &&
            report->counters.async_bytes == 4ull * (count_of(&map, true) - outside),
        "rank %d, swizzle %d: counts", map.rank, map.swizzle);
  tessera_emulator_report_destroy(report);
}

static void test_places(void) {
  static const int32_t ats[][TESSERA_MAP_RANK] = {{0}, {8, 3, 1, 1, 0}, {-5, -2, 0, -1, 1}, {29, 11, 2, 1, -1}};
  static const uint8_t swizzles[] = {0, 32, 64, 128};
  for (int rank = 1; rank <= TESSERA_MAP_RANK; ++rank)
    for (int s = 0; s < 4; ++s)
      for (int i = 0; i < 4; ++i) {
        tessera_tensor_map_t map = {.sizes = {88, 13, 4, 3, 2},
                                    .strides = {192, 192 * 14, 192 * 14 * 5, 192 * 14 * 5 * 3},
                                    .rank = (uint8_t)rank,
                                    .element = TESSERA_MAP_F16,
                                    .swizzle = swizzles[s],
                                    .fill = i & 1,
                                    .box = {swizzles[s] ? swizzles[s] / 2 : 24, 9, 3, 2, 2}};
        test_place(&map, ats[i], (uint64_t)i);
      }
}

//===--- A ring by one thread and a warp ---------------------------------===//

typedef enum mistake_t {
  NOTHING,
  NO_WAIT,
  WAITS_FOR_LAST_ROUND,
  EXPECTS_LESS,
  EXPECTS_MORE,
  OTHER_BARRIER,
  NO_WAIT_FOR_EMPTY,
  NOBODY_WAITS,
  NO_INIT_FENCE,
  FENCE_AFTER_BARRIER,
  MISTAKES
} mistake_t;

enum { STAGES = 2, ROUNDS = 5, BOX_BYTES = 2048 };

// Thread 32 brings boxes, the first warp reads them. params = {map, mistake}
static void ring(self_t *self, void **params) {
  const tessera_tensor_map_t *map = params[0];
  int broken = *(int *)params[1];
  uint32_t sum = 0; // wraps
  char *shared = self->block->shared, *barriers = shared + BARRIER;
  if (self->index == 0)
    for (int i = 0; i < STAGES; ++i) {
      tessera_emu_mbarrier_init(self, barriers + 8 * i, 1, 1);
      tessera_emu_mbarrier_init(self, barriers + 8 * (STAGES + i), 32, 1);
    }
  if (broken != NO_INIT_FENCE && broken != FENCE_AFTER_BARRIER)
    tessera_emu_fence_mbarrier_init(self, 1);
  tessera_emu_barrier(self, 0, 0, 2);
  if (broken == FENCE_AFTER_BARRIER)
    tessera_emu_fence_proxy(self, 1);
  for (int round = 0; round < ROUNDS; ++round) {
    int stage = round % STAGES, parity = round / STAGES % 2;
    char *full = barriers + 8 * stage, *empty = barriers + 8 * (STAGES + stage), *box = shared + BOX_BYTES * stage;
    if (self->index == 32) {
      uint32_t less = broken == EXPECTS_LESS ? 16 : 0, more = broken == EXPECTS_MORE && round == 1 ? 16 : 0;
      if (broken != NO_WAIT_FOR_EMPTY)
        tessera_emu_mbarrier_wait(self, empty, !parity, 3);
      tessera_emu_mbarrier_arrive(self, full, 1, BOX_BYTES - less + more, 0, 4);
      tessera_emu_bulk_load(self, box, map, broken == OTHER_BARRIER ? barriers + 8 * (1 - stage) : full,
                            (int32_t[]){0, 16 * round}, 2, 5);
    } else if (self->index < 32 && broken != NOBODY_WAITS) {
      if (broken == WAITS_FOR_LAST_ROUND)
        tessera_emu_mbarrier_wait(self, full, !parity, 6);
      else if (broken != NO_WAIT)
        tessera_emu_mbarrier_wait(self, full, parity, 6);
      for (int i = 0; i < BOX_BYTES / 128; ++i)
        sum += (uint32_t)LOAD((int *)(box + 128 * i + 4 * self->lane), 7);
      tessera_emu_mbarrier_arrive(self, empty, 1, 0, 0, 8);
    }
    if (broken == NOBODY_WAITS && round == STAGES - 1)
      break;
  }
  if (self->index < 32)
    STORE(&flags[self->index], (int)sum, 9);
}

static void test_ring(void) {
  static const char *const texts[MISTAKES] = {[NO_WAIT] = "",
                                              [WAITS_FOR_LAST_ROUND] = "",
                                              [EXPECTS_LESS] = "which expects 16 bytes fewer than have come in phase 0",
                                              [EXPECTS_MORE] = "for 16 bytes of phase 0",
                                              [OTHER_BARRIER] = "",
                                              [NO_WAIT_FOR_EMPTY] = "",
                                              [NOBODY_WAITS] = "nobody waited for it",
                                              [NO_INIT_FENCE] = "missing fence",
                                              [FENCE_AFTER_BARRIER] = "missing fence"};
  tessera_tensor_map_t map = {.address = (uint64_t)(uintptr_t)source,
                              .sizes = {64, 80},
                              .strides = {128},
                              .box = {64, 16},
                              .rank = 2,
                              .element = TESSERA_MAP_I16,
                              .swizzle = 128};
  for (uint64_t seed = 0; seed < SEEDS; ++seed)
    for (int mistake = 0; mistake < MISTAKES; ++mistake) {
      tessera_emulator_report_t *report = run(ring, (void *[]){&map, &mistake}, seed, 64);
      bool found = false;
      for (size_t i = 0; report && mistake && i < report->finding_count; ++i)
        found |= strstr(report->findings[i].text, texts[mistake]) != NULL;
      CHECK(mistake ? found : is_clean(report), "mistake %d, seed %d", mistake, (int)seed);
      if (mistake && !found && report)
        print_findings(report);
      tessera_emulator_report_destroy(report);
    }
}

//===--- Stores ----------------------------------------------------------===//

typedef enum store_t {
  STORES,
  READER_FENCES, // as good
  NO_STORE_WAIT,
  NO_COMMIT,
  WAITS_FOR_READS,
  NO_BARRIER,
  OVERWRITES,
  NO_FENCE,
  LATE_FENCE,
  EARLY_FENCE,
  STORES_KINDS
} store_t;

// Threads write a box, thread 0 stores it, all write the next one; another thread looks at what was stored.
static void stores(self_t *self, void **params) {
  const tessera_tensor_map_t *map = params[0];
  int what = *(int *)params[1];
  int *box = shared_ints(self);
  for (int round = 0; round < 2; ++round) {
    if (what == EARLY_FENCE)
      tessera_emu_fence_proxy(self, 2);
    for (int i = (int)self->index; i < BOX_BYTES / 4; i += 64)
      STORE(&box[i], i + round, 1);
    bool fences = what != NO_FENCE && what != LATE_FENCE && what != EARLY_FENCE && what != READER_FENCES;
    if (fences)
      tessera_emu_fence_proxy(self, 2);
    if (what != NO_BARRIER)
      tessera_emu_barrier(self, 0, 0, 2);
    if (what == LATE_FENCE && self->index)
      tessera_emu_fence_proxy(self, 2);
    if (self->index == 0) {
      if (what == READER_FENCES)
        tessera_emu_fence_proxy(self, 2);
      tessera_emu_bulk_store(self, map, box, (int32_t[]){0, 16 * round}, 2, 3);
      if (what != NO_COMMIT)
        tessera_emu_bulk_commit(self);
      if (what != NO_STORE_WAIT && what != OVERWRITES)
        tessera_emu_bulk_wait(self, 0, what == WAITS_FOR_READS, 4);
    }
    if (what != OVERWRITES || self->index != 5)
      tessera_emu_barrier(self, 0, 0, 5);
    if (what == OVERWRITES)
      return;
  }
  if (self->index == 7)
    LOAD((int *)target, 6);
}

static void test_stores(void) {
  static const struct {
    int kind;
    const char *text;
  } expected[STORES_KINDS] = {
      [NO_STORE_WAIT] = {TESSERA_EMULATOR_OVERWRITE, "which an asynchronous operation still reads"},
      [NO_COMMIT] = {TESSERA_EMULATOR_OVERWRITE, "which an asynchronous operation still reads"},
      [WAITS_FOR_READS] = {TESSERA_EMULATOR_RACE, "target+0"},
      [NO_BARRIER] = {TESSERA_EMULATOR_RACE, ""},
      [OVERWRITES] = {TESSERA_EMULATOR_EARLY_READ, "the block has ended"},
      [NO_FENCE] = {TESSERA_EMULATOR_UNFENCED, "no fence.proxy.async lies between"},
      [LATE_FENCE] = {TESSERA_EMULATOR_UNFENCED, "no fence.proxy.async lies between"},
      [EARLY_FENCE] = {TESSERA_EMULATOR_UNFENCED, "no fence.proxy.async lies between"}};
  tessera_tensor_map_t map = {.address = (uint64_t)(uintptr_t)target,
                              .sizes = {64, 80},
                              .strides = {128},
                              .box = {64, 16},
                              .rank = 2,
                              .element = TESSERA_MAP_I16};
  for (uint64_t seed = 0; seed < SEEDS; ++seed)
    for (int what = 0; what < STORES_KINDS; ++what) {
      tessera_emulator_report_t *report = run(stores, (void *[]){&map, &what}, seed, 64);
      bool right = what == STORES || what == READER_FENCES;
      CHECK(!right ? has(report, expected[what].kind, expected[what].text) : is_clean(report), "case %d, seed %d", what,
            (int)seed);
      for (int i = 0; right && i < BOX_BYTES / 2; ++i)
        CHECK(((int *)target)[i] == i % (BOX_BYTES / 4) + i / (BOX_BYTES / 4), "word %d", i);
      tessera_emulator_report_destroy(report);
    }
}

//===--- Operands --------------------------------------------------------===//

// params = {map, offset in shared memory, coordinates}
static void bad(self_t *self, void **params) {
  const tessera_tensor_map_t *map = params[0];
  char *barrier = self->block->shared + BARRIER;
  tessera_emu_mbarrier_init(self, barrier, 1, 1);
  tessera_emu_bulk_load(self, self->block->shared + *(uint32_t *)params[1], map, barrier, (int32_t[]){0, 0, 0},
                        *(uint32_t *)params[2], 2);
}

static void test_operands(void) {
  tessera_tensor_map_t good = {.address = (uint64_t)(uintptr_t)source,
                               .sizes = {64, 80},
                               .strides = {128},
                               .box = {32, 16},
                               .rank = 2,
                               .element = TESSERA_MAP_I16};
  tessera_tensor_map_t none = {0}, narrow = good;
  narrow.swizzle = 128;
  const struct {
    const tessera_tensor_map_t *map;
    uint32_t offset, rank;
    int kind;
    const char *text;
  } cases[] = {
      {&none, 0, 2, TESSERA_EMULATOR_BAD_OPERAND, "holds no tensor map"},
      {&good, 0, 3, TESSERA_EMULATOR_BAD_OPERAND, "by 3 coordinates of a tensor map of 2 axes"},
      {&good, 16, 2, TESSERA_EMULATOR_MISALIGNED, "must be a multiple of 128"},
      {&good, BARRIER - 512, 2, TESSERA_EMULATOR_OUT_OF_BOUNDS, "to an mbarrier"},
      {&good, SHARED - 512, 2, TESSERA_EMULATOR_OUT_OF_BOUNDS, "the block has 66560 bytes"},
      {&narrow, 0, 2, TESSERA_EMULATOR_BAD_OPERAND, "shorter than the swizzle of 128"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    uint32_t offset = cases[i].offset, rank = cases[i].rank;
    tessera_emulator_report_t *report = run(bad, (void *[]){(void *)(uintptr_t)cases[i].map, &offset, &rank}, 1, 1);
    CHECK(has(report, cases[i].kind, cases[i].text), "case %d", (int)i);
    tessera_emulator_report_destroy(report);
  }
}

int main(void) {
  test_places();
  test_ring();
  test_stores();
  test_operands();
  return checkResult(300);
}
