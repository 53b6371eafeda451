// Instructions of x86-64 by LLVM's names of features (`avx512bf16`, `amx-tile`) and of levels (`x86-64-v4`): whether
// this processor has them and its operating system keeps their registers. This file asks cpuid, because compilers' own
// lists are shorter.
//
//   if (!tileCpuHas("avx512fp16")) return refuse("avx512fp16");
//
// A header of its own, without a library: programs made ahead of time are loaded where lib/machine is not.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct TileCpuFeature {
  const char *name;
  uint32_t leaf, subleaf;
  int word, bit;  // eax, ebx, ecx, edx
  uint64_t state; // bits of XCR0: registers that the operating system saves
} TileCpuFeature;

static inline uint64_t tileCpuSavedState(void) {
  uint32_t a, b, c, d, low, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
    return 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

// clang-format off
enum { TileCpuVectors = 0x6, TileCpuWideVectors = 0xe6, TileCpuTiles = 0x60000 };
static const TileCpuFeature tileCpuFeatures[] = {
    {"fma", 1, 0, 2, 12, TileCpuVectors},                {"movbe", 1, 0, 2, 22, 0},
    {"f16c", 1, 0, 2, 29, TileCpuVectors},               {"lzcnt", 0x80000001, 0, 2, 5, 0},
    {"bmi", 7, 0, 1, 3, 0},                              {"avx2", 7, 0, 1, 5, TileCpuVectors},
    {"bmi2", 7, 0, 1, 8, 0},                             {"avx512f", 7, 0, 1, 16, TileCpuWideVectors},
    {"avx512dq", 7, 0, 1, 17, TileCpuWideVectors},       {"avx512ifma", 7, 0, 1, 21, TileCpuWideVectors},
    {"avx512cd", 7, 0, 1, 28, TileCpuWideVectors},       {"avx512bw", 7, 0, 1, 30, TileCpuWideVectors},
    {"avx512vl", 7, 0, 1, 31, TileCpuWideVectors},       {"avx512vbmi", 7, 0, 2, 1, TileCpuWideVectors},
    {"avx512vbmi2", 7, 0, 2, 6, TileCpuWideVectors},     {"gfni", 7, 0, 2, 8, 0},
    {"vaes", 7, 0, 2, 9, TileCpuVectors},                {"vpclmulqdq", 7, 0, 2, 10, TileCpuVectors},
    {"avx512vnni", 7, 0, 2, 11, TileCpuWideVectors},     {"avx512bitalg", 7, 0, 2, 12, TileCpuWideVectors},
    {"avx512vpopcntdq", 7, 0, 2, 14, TileCpuWideVectors}, {"amx-bf16", 7, 0, 3, 22, TileCpuTiles},
    {"avx512fp16", 7, 0, 3, 23, TileCpuWideVectors},     {"amx-tile", 7, 0, 3, 24, TileCpuTiles},
    {"amx-int8", 7, 0, 3, 25, TileCpuTiles},             {"avxvnni", 7, 1, 0, 4, TileCpuVectors},
    {"avx512bf16", 7, 1, 0, 5, TileCpuWideVectors},      {"amx-fp16", 7, 1, 0, 21, TileCpuTiles},
};
// clang-format on

// Levels that machine files name: psABI's. Each has what the ones before it have.
static const struct {
  const char *name, *features;
} tileCpuLevels[] = {{"x86-64", ""},
                     {"x86-64-v3", "fma movbe f16c lzcnt bmi avx2 bmi2"},
                     {"x86-64-v4", "x86-64-v3 avx512f avx512dq avx512cd avx512bw avx512vl"}};
enum {
  TileCpuNumFeatures = sizeof tileCpuFeatures / sizeof *tileCpuFeatures,
  TileCpuNumLevels = sizeof tileCpuLevels / sizeof *tileCpuLevels
};

static inline bool tileCpuHasFeature(const TileCpuFeature *feature) {
  uint32_t words[4];
  return __get_cpuid_count(feature->leaf, feature->subleaf, &words[0], &words[1], &words[2], &words[3]) &&
         (words[feature->word] >> feature->bit & 1) && (tileCpuSavedState() & feature->state) == feature->state;
}

// Finds the first of the words in `needs` that this processor lacks. Returns the word's length; 0: none is lacking.
static inline size_t tileCpuLacks(const char *needs, const char **word);

static inline bool tileCpuHasWord(const char *word, size_t length) {
  const char *lacking;
  for (int i = 0; i < TileCpuNumLevels; ++i)
    if (strlen(tileCpuLevels[i].name) == length && !memcmp(tileCpuLevels[i].name, word, length))
      return !tileCpuLacks(tileCpuLevels[i].features, &lacking);
  for (int i = 0; i < TileCpuNumFeatures; ++i)
    if (strlen(tileCpuFeatures[i].name) == length && !memcmp(tileCpuFeatures[i].name, word, length))
      return tileCpuHasFeature(&tileCpuFeatures[i]);
  return false;
}

static inline size_t tileCpuLacks(const char *needs, const char **word) {
  for (*word = needs; **word; *word += strspn(*word, " ")) {
    size_t length = strcspn(*word, " ");
    if (!tileCpuHasWord(*word, length))
      return length;
    *word += length;
  }
  return 0;
}
#else
static inline size_t tileCpuLacks(const char *needs, const char **word) {
  *word = needs;
  return strcspn(needs, " ");
}
#endif

static inline bool tileCpuHas(const char *name) {
  const char *word;
  return !tileCpuLacks(name, &word);
}
