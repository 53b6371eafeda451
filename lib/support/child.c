// child.c - posix_spawn and waitpid. See child.h.
#include "lib/support/child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

// Our environment and one more variable, which comes first and so wins; to be freed. NULL when out of memory.
static char **environment_with(const char *variable) {
  size_t count = 0;
  while (environ[count])
    ++count;
  char **variables = malloc((count + 2) * sizeof *variables);
  if (!variables)
    return NULL;
  variables[0] = (char *)(uintptr_t)variable;
  memcpy(variables + 1, environ, (count + 1) * sizeof *variables);
  return variables;
}

static int spawn(const tessera_child_t *child, char **environment, pid_t *out_process) {
  posix_spawn_file_actions_t actions;
  int why = posix_spawn_file_actions_init(&actions);
  if (why)
    return why;
  if (child->log) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, child->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
  }
  char *const *arguments = (char *const *)(uintptr_t)child->arguments;
  why = posix_spawnp(out_process, child->program, &actions, NULL, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  return why;
}

int tessera_child_run(const tessera_child_t *child, int *out_status) {
  char **environment = child->variable ? environment_with(child->variable) : environ;
  pid_t process;
  int why = environment ? spawn(child, environment, &process) : ENOMEM;
  if (child->variable)
    free(environment);
  while (!why && waitpid(process, out_status, 0) < 0)
    why = errno == EINTR ? 0 : errno;
  return why;
}

bool tessera_child_succeeded(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

bool tessera_child_died(int status) { return WIFSIGNALED(status); }

char *tessera_child_describe(int status, char *out_text, size_t size) {
  if (WIFSIGNALED(status))
    snprintf(out_text, size, "%s", strsignal(WTERMSIG(status)));
  else
    snprintf(out_text, size, "exit status %d", WEXITSTATUS(status));
  return out_text;
}
