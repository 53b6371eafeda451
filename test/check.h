// What C unit tests share: a check that prints where and what failed and counts it; main returns checkResult().
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int checkFailures, checkCount;

#define CHECK(condition, ...)                                                                                          \
  do {                                                                                                                 \
    ++checkCount;                                                                                                      \
    if (!(condition) && ++checkFailures <= 20) {                                                                       \
      printf("%s:%d: failed: %s: ", __FILE__, __LINE__, #condition);                                                   \
      printf(" " __VA_ARGS__); /* the message is optional */                                                           \
      printf("\n");                                                                                                    \
    }                                                                                                                  \
  } while (0)

// The text contains the part; prints both when it does not.
#define CHECK_CONTAINS(text, part) CHECK(strstr(text, part), "\"%s\" is not in \"%s\"", part, text)

// Passes only if at least `least` checks ran: a loop that never runs must not pass.
static inline int checkResult(int least) {
  printf("%d checks, %d failed\n", checkCount, checkFailures);
  if (checkCount < least)
    printf("expected at least %d checks\n", least);
  return checkFailures || checkCount < least;
}

// xorshift64*: the same numbers on every machine.
static inline uint64_t checkRandom(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}
