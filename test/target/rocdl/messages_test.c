// What AMD's device functions say (lib/target/rocdl/messages.ll) and what the host reads of it
// (lib/runtime/messages.h): the functions themselves, compiled for this processor, call by call. Only the end of a wave
// is another function.
#include "lib/jit/jit.h"
#include "lib/runtime/messages.h"
#include "lib/target/rocdl/embedded.h"
#include "test/check.h"
#include "llvm-c/IRReader.h"

#include <setjmp.h>
#include <stdlib.h>

enum { BYTES = 4096 };
static tessera_error_t error;
static uint64_t buffer[BYTES / 8];
static int (*say)(const char *format, const void *values);
static void (*fail)(const char *text, const char *file, int line, const char *function, uint64_t bytes);

static jmp_buf wave;
void test_wave_ends(void);
void test_wave_ends(void) { longjmp(wave, 1); }

static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  char *result = malloc(strlen(text) + strlen(to) + 1);
  sprintf(result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  return result;
}

// Both places of the instruction: its declaration and its call.
static TileJit *compile(void) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = NULL;
  char *message = NULL, *text = strndup((const char *)tileRocdlFunctions[0].text, tileRocdlFunctions[0].length);
  for (int i = 0; i < 2; ++i) {
    char *next = replaced(text, "@llvm.amdgcn.endpgm", "@test_wave_ends");
    free(text);
    text = next;
  }
  LLVMMemoryBufferRef source = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "messages");
  free(text);
  if (LLVMParseIRInContext(context, source, &module, &message)) {
    printf("%s\n", message);
    return NULL;
  }
  return tileJitCreate(module, context, 2, &error);
}

// What is printed when the host looks; "failed: …" behind it when an assertion did.
static const char *taken(void) {
  static char text[BYTES];
  memset(text, 0, sizeof text);
  FILE *file = fmemopen(text, sizeof text - 512, "w");
  bool ok = tessera_messages_take(buffer, file, &error);
  fclose(file);
  if (!ok)
    sprintf(text + strlen(text), "failed: %s", error.text);
  CHECK(!tessera_messages_are_there(buffer));
  return text;
}

static void test_prints(void) {
  CHECK(strcmp(taken(), "") == 0);
  say("plain\n", NULL);
  say("%lld%% of [%g]\n", &(struct {
        int64_t a;
        double b;
      }){-50, 0.25});
  say("%d and %5.2f|", &(struct {
        int32_t a;
        double b;
      }){7, 1.5});
  say("", NULL);
  say("ends %%", NULL);
  CHECK(tessera_messages_are_there(buffer));
  const char *text = taken();
  CHECK(strcmp(text, "plain\n-50% of [0.25]\n7 and  1.50|ends %") == 0, "%s", text);
  CHECK(strcmp(taken(), "") == 0);
}

static void check_failed(const char *said) {
  if (!setjmp(wave)) {
    fail(said, "", 0, "", 1);
    CHECK(false, "goes on after a failed assertion");
  }
}

static void test_assertions(void) {
  say("before\n", NULL);
  check_failed("a.mlir:3:4: 100% wrong");
  check_failed("a second one");
  say("after\n", NULL);
  const char *text = taken();
  CHECK(strcmp(text, "before\nafter\nfailed: assertion failed: a.mlir:3:4: 100% wrong") == 0, "%s", text);
  CHECK(strcmp(taken(), "") == 0);
}

// As many as there is room for, then a line about the others; and the buffer is whole again.
static void test_too_many(void) {
  for (int64_t i = 0; i < BYTES; ++i)
    say("%lld ", &i);
  const char *text = taken();
  long long bytes = 16 + 8 + 8, kept = (BYTES - (long long)sizeof(tessera_messages_t)) / bytes; // head, text, value
  char end[128];
  snprintf(end, sizeof end, "%lld [%lld bytes of messages were lost: the buffer has %d]\n", kept - 1,
           (BYTES - kept) * bytes, BYTES);
  CHECK(strncmp(text, "0 1 2 3 ", 8) == 0 && strstr(text, end), "%s", text);
  say("again", NULL);
  CHECK(strcmp(taken(), "again") == 0);
}

int main(void) {
  TileJit *jit = compile();
  void **address = jit ? tileJitLookup(jit, "tessera_messages", &error) : NULL;
  void *print = tileJitLookup(jit, "vprintf", &error), *assertion = tileJitLookup(jit, "__assertfail", &error);
  CHECK(address && print && assertion, "%s", error.text);
  memcpy(&say, &print, sizeof print);
  memcpy(&fail, &assertion, sizeof assertion);
  CHECK(say("nobody listens", NULL) == 0);
  tessera_messages_begin(buffer, sizeof buffer);
  *address = ((tessera_messages_t *)buffer)->self;
  test_prints();
  test_assertions();
  test_too_many();
  tileJitDestroy(jit);
  return checkResult(16);
}
