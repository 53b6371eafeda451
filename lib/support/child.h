// child.h - running another program and waiting for it: the one place where this project starts a process.
// Every child dies with the thread that started it. A child has a limit of elapsed time, unless it sets its own limit.
// Never call fork: our processes have threads, and a fork of such a process may not even allocate.
//
//   int status;
//   int why = tessera_child_run(&(tessera_child_t){"ld", arguments, .log = "link.log", .seconds = 600}, &status);
//   if (why) …strerror(why)…; else if (!tessera_child_succeeded(status)) …
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TESSERA_CHILD_SECONDS = 600, TESSERA_CHILD_LATE = -1, TESSERA_CHILD_HAS_OWN_LIMIT = 0 };

typedef struct tessera_child_t {
  const char *program;          // looked up on PATH when it has no slash
  const char *const *arguments; // the first is its own name; ends with NULL
  const char *variable;         // "NAME=value" added to the environment, or NULL
  const char *log;              // a file for what it writes, and nothing for it to read; NULL: our own three streams
  const int *streams;           // three descriptors for its standard streams; NULL: as `log` says
  double seconds;               // of elapsed time, then it is killed; or TESSERA_CHILD_HAS_OWN_LIMIT
} tessera_child_t;

typedef struct tessera_running_t {
  pid_t process;
  int slot; // temporary.h
} tessera_running_t;

// Returns 0 if the child ran and ended: |*out_status| is then the status of waitpid(2), or TESSERA_CHILD_LATE.
// Otherwise returns the errno that says why the child could not be started.
int tessera_child_run(const tessera_child_t *child, int *out_status);
bool tessera_child_succeeded(int status);
bool tessera_child_died(int status); // of a signal
// "exit status 3", "Segmentation fault" or "no end within its limit of time". Returns |out_text|.
char *tessera_child_describe(int status, char *out_text, size_t size);

// The two halves of a run, for a caller who talks to the child in between. Start returns 0 or an errno, as above.
int tessera_child_start(const tessera_child_t *child, tessera_running_t *out_running);
// Returns the status, as above. |seconds| counts from now; 0 waits without a limit.
int tessera_child_wait(const tessera_running_t *running, double seconds);

// Waits until the child has ended, at most |seconds|. True if the child has ended; the caller must still wait for it.
bool tessera_child_ends(const tessera_running_t *running, double seconds);

// From now on SIGKILL ends this process when its parent ends. Ends it at once if |parent| is not its parent any more.
void tessera_child_die_with(pid_t parent);
