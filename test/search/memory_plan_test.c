// Planned arenas: an independent checker finds no two buffers in use together that share a byte, and arenas are at most
// 1.15 times what lives at once on drawn programs' lifetimes.
#include "lib/search/memory_plan.h"

#include <stdio.h>
#include <string.h>

enum { Most = 64, Steps = 96 };

static int failures;

static void expect(bool holds, const char *what) {
  if (!holds)
    printf("wrong: %s\n", what);
  failures += !holds;
}

static uint64_t seed = 12345;

static int64_t draw(int64_t below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(seed >> 33) % below;
}

typedef struct Lives {
  int64_t count, bytes[Most], offsets[Most];
  int begin[Most], end[Most];
} Lives;

static bool overlap(const void *data, int64_t a, int64_t b) {
  const Lives *lives = data;
  return lives->begin[a] <= lives->end[b] && lives->begin[b] <= lives->end[a];
}

static int64_t planOf(Lives *lives, bool isThorough) {
  TileMemoryPlan plan = {.count = lives->count,
                         .bytes = lives->bytes,
                         .areTogether = overlap,
                         .data = lives,
                         .isThorough = isThorough,
                         .offsets = lives->offsets};
  memset(lives->offsets, 0xff, sizeof lives->offsets);
  return tileMemoryPlanFind(&plan);
}

// The bytes in use at once, and, step by step, that each byte has one owner: knows nothing of holes and orders.
static int64_t check(const Lives *lives, int64_t arena, int64_t unit) {
  static int owner[1 << 16];
  int64_t most = 0;
  for (int step = 0; step < Steps; ++step) {
    int64_t live = 0;
    memset(owner, 0, sizeof owner);
    for (int64_t i = 0; i < lives->count; ++i) {
      if (lives->begin[i] > step || step > lives->end[i])
        continue;
      live += lives->bytes[i];
      expect(lives->offsets[i] >= 0 && lives->offsets[i] + lives->bytes[i] <= arena, "a buffer lies in the arena");
      for (int64_t at = lives->offsets[i] / unit; at < (lives->offsets[i] + lives->bytes[i]) / unit; ++at) {
        expect(at < 1 << 16 && !owner[at], "a byte has one owner at a time");
        owner[at & 0xffff] = 1;
      }
    }
    most = live > most ? live : most;
  }
  return most;
}

static void testDrawn(void) {
  double worst = 0, sum = 0;
  const int rounds = 1000;
  for (int round = 0; round < rounds; ++round) {
    Lives lives = {.count = 1 + draw(Most - 1)};
    for (int64_t i = 0; i < lives.count; ++i) {
      lives.begin[i] = (int)draw(Steps - 12);
      lives.end[i] = lives.begin[i] + (int)draw(12);
      lives.bytes[i] = 64 * (1 + draw(40));
    }
    int64_t plain = planOf(&lives, false);
    int64_t least = check(&lives, plain, 64);
    int64_t arena = planOf(&lives, true);
    check(&lives, arena, 64);
    double ratio = (double)arena / (double)least;
    expect(arena >= least && arena <= plain, "more orders never make the arena larger");
    worst = ratio > worst ? ratio : worst;
    sum += ratio;
  }
  printf("drawn lifetimes: %.3f times the least on average, %.3f at most\n", sum / rounds, worst);
  expect(sum / rounds < 1.02 && worst < 1.2, "arenas are close to what lives at once");
}

// Chains as programs have them: each op reads the buffer before it, some are read again later.
static void testChains(void) {
  double worst = 0;
  for (int round = 0; round < 200; ++round) {
    Lives lives = {.count = 20 + draw(Most - 20)};
    for (int64_t i = 0; i < lives.count; ++i) {
      lives.begin[i] = (int)i;
      lives.end[i] = (int)i + 1 + (draw(5) == 0 ? (int)draw(10) : 0);
      lives.bytes[i] = 1024 << draw(4);
    }
    int64_t arena = planOf(&lives, true), least = check(&lives, arena, 64);
    worst = (double)arena / (double)least > worst ? (double)arena / (double)least : worst;
  }
  printf("drawn chains: %.3f times the least at most\n", worst);
  expect(worst <= 1.15, "chains need at most 1.15 times what lives at once");
}

static void testSmall(void) {
  Lives none = {.count = 0}, apart = {.count = 2, .bytes = {128, 64}, .begin = {0, 2}, .end = {1, 3}};
  expect(planOf(&none, true) == 0, "nothing needs nothing");
  expect(planOf(&apart, true) == 128 && apart.offsets[0] == 0 && apart.offsets[1] == 0, "what is apart shares bytes");
  apart.begin[1] = 1;
  expect(planOf(&apart, true) == 192, "what one step reads and writes does not");
}

int main(void) {
  testSmall();
  testDrawn();
  testChains();
  printf("%d failures\n", failures);
  return failures != 0;
}
