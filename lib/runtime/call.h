// call.h - calling a compiled program such that its failures come back as text instead of ending the process.
//
// Compiled code has no error results: an allocation that fails in the middle of it has nowhere to go. tessera_call
// marks the place to come back to; tessera_raise, anywhere below it on the same thread, comes back there. A grid
// carries a failure of any of its threads to the thread that launched it.
#pragma once

#include "lib/support/status.h"

// Runs body(args). False, with |out_error|, when something in it raised. What the program had allocated from its arena
// until then stays live: run programs in an arena of their own (arena.h) and destroy it. Local memory is given back.
// The frames jumped over are not unwound: nothing between here and the raise may hold a lock or a C++ destructor.
bool tessera_call(void (*body)(void **args), void **args, tessera_error_t *out_error);

// Ends the innermost tessera_call of this thread with this sentence. Without one, prints the sentence on stderr, keeps
// it for tessera_take_error, and RETURNS (a library does not end its process): the caller then goes on without what it
// asked for, so an allocation gives NULL. Compiled assertions call tessera_raise_message.
TESSERA_PRINTF(1, 2) void tessera_raise(const char *format, ...);
void tessera_raise_message(const char *message);
// The message, and two numbers that a compiled assertion found to differ: "… (7 and 40)".
void tessera_raise_unequal(const char *message, int64_t seen, int64_t expected);

// For callers without tessera_call: true, with the sentence, if something was raised on this thread since the function
// was last called. The results of entries that were called in between are not to be used.
bool tessera_take_error(tessera_error_t *out_error);

// What NAME_into calls (lib/runtime/manifest.h) before it writes: raises unless |size|, that of a result, is what the
// caller's buffer was |given|.
void tessera_check_size(int64_t result, int64_t dimension, int64_t size, int64_t given);
