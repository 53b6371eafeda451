// guard_test.c - a tool that ends as its last argument says, behind the guards. guard_test.test runs it in every way.
#include "lib/support/guard.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int overflow_stack(int depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  return depth < 0 ? 0 : overflow_stack(depth + 1) + frame[0];
}

static int end(const char *how) {
  if (strcmp(how, "--abort") == 0)
    abort();
  if (strcmp(how, "--access") == 0)
    raise(SIGSEGV);
  if (strcmp(how, "--stack") == 0)
    return overflow_stack(0);
  if (strcmp(how, "--kill") == 0)
    raise(SIGKILL);
  if (strcmp(how, "--read") == 0) {
    char text[64] = "";
    size_t count = fread(text, 1, sizeof text - 1, stdin);
    printf("read %zu bytes\n", count);
  }
  return strcmp(how, "--fail") == 0;
}

int main(int argc, char **argv) {
  int status;
  if (tessera_guard_bytecode("guarded", argc, argv, true, &status)) {
    printf("guarded: %d\n", status);
    return status;
  }
  tessera_guard_crashes("guarded");
  tessera_guard_doing("the end");
  return end(argv[argc - 1]);
}
