// call.c - tessera_call and tessera_raise: setjmp at the border of a compiled program, longjmp from its failures.
// Why: generated code cannot return an error, and a library may not abort. Cost: one setjmp per call, about 20 ns.
// Expects: only C and generated code between the two (nothing to unwind). Leaves: the thread's local memory as before.
#include "lib/runtime/call.h"

#include "lib/runtime/local.h"
#include "lib/runtime/tiles.h"

#include <setjmp.h>

typedef struct guard_t {
  jmp_buf where;
  struct guard_t *outer;
  void *local_mark; // top of this thread's local memory when the call began
  tessera_error_t *out_error;
} guard_t;

static _Thread_local guard_t *innermost;
static _Thread_local tessera_error_t untaken; // raised outside tessera_call; no text: nothing

bool tessera_call(void (*body)(void **args), void **args, tessera_error_t *out_error) {
  guard_t guard = {.outer = innermost, .local_mark = tessera_local_mark(), .out_error = out_error};
  innermost = &guard;
  if (setjmp(guard.where) == 0) {
    body(args);
    innermost = guard.outer;
    return true;
  }
  innermost = guard.outer;
  tessera_tiles_release();
  tessera_local_reset(guard.local_mark);
  return false;
}

void tessera_raise(const char *format, ...) {
  tessera_error_t error;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error.text, sizeof error.text, format, arguments);
  va_end(arguments);
  if (!innermost) {
    fprintf(stderr, "tessera: %s\n", error.text);
    untaken = error;
    return;
  }
  if (innermost->out_error)
    *innermost->out_error = error;
  longjmp(innermost->where, 1);
}

bool tessera_take_error(tessera_error_t *out_error) {
  bool is_there = untaken.text[0];
  if (is_there && out_error)
    *out_error = untaken;
  untaken.text[0] = '\0';
  return is_there;
}

void tessera_raise_message(const char *message) { tessera_raise("%s", message); }

void tessera_raise_unequal(const char *message, int64_t seen, int64_t expected) {
  tessera_raise("%s (%lld and %lld)", message, (long long)seen, (long long)expected);
}

void tessera_check_size(int64_t result, int64_t dimension, int64_t size, int64_t given) {
  if (size != given)
    tessera_raise("result %lld: dimension %lld has size %lld, the buffer given for it has %lld", (long long)result,
                  (long long)dimension, (long long)size, (long long)given);
}
