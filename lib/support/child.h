// child.h - running another program and waiting for it: the one place where this project starts a process.
// Always posix_spawn: a fork of a process with threads, as ours are, may not even allocate.
//
//   int status;
//   int why = tessera_child_run(&(tessera_child_t){"ld", arguments, .log = "link.log"}, &status);
//   if (why) …strerror(why)…; else if (!tessera_child_succeeded(status)) …
#ifndef TESSERA_SUPPORT_CHILD_H
#define TESSERA_SUPPORT_CHILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tessera_child_t {
  const char *program;          // looked up on PATH when it has no slash
  const char *const *arguments; // the first is its own name; ends with NULL
  const char *variable;         // "NAME=value" added to the environment, or NULL
  const char *log;              // a file for what it writes, and nothing for it to read; NULL: our own three streams
} tessera_child_t;

// 0 when it ran and ended, |*out_status| as waitpid(2) says; else why it could not be started (errno).
int tessera_child_run(const tessera_child_t *child, int *out_status);
bool tessera_child_succeeded(int status);
bool tessera_child_died(int status); // of a signal
// "exit status 3" or "Segmentation fault". Returns |out_text|.
char *tessera_child_describe(int status, char *out_text, size_t size);

#endif // TESSERA_SUPPORT_CHILD_H
