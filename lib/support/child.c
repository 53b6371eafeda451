// child.c - clone, exec and pidfd. See child.h.
// Why not posix_spawn: between its fork and its exec nobody can ask to die with the parent. Expects: Linux. Leaves: no
// child that outlives its parent. Cost: as posix_spawn, which shares the parent's memory until exec in the same way.
#include "lib/support/child.h"

#include "lib/support/clock.h"
#include "lib/support/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { STACK = 256 * 1024 };

// The child runs in our memory, which costs nothing to copy. ThreadSanitizer takes every clone for a fork, and would
// write down for us what is true of the child only: there the child has memory of its own but for its stack.
#define SHARED_MEMORY CLONE_VM
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef SHARED_MEMORY
#define SHARED_MEMORY 0
#endif
#endif

//===--- in the child, before it is the other program ---------------------------===//

// What the child reads, and where it says why it failed: the lower end of its stack.
typedef struct start_t {
  const tessera_child_t *child;
  char **environment;
  const sigset_t *mask; // as before we blocked all signals
  pid_t parent;
  int why;
} start_t;

void tessera_child_die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it ended before we asked
    _exit(1);
}

static bool take_streams(const tessera_child_t *child) {
  for (int i = 0; child->streams && i < 3; ++i)
    if (dup2(child->streams[i], i) < 0)
      return false;
  if (child->streams || !child->log)
    return true;
  int from = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int to = open(child->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return from >= 0 && to >= 0 && dup2(from, 0) >= 0 && dup2(to, 1) >= 0 && dup2(to, 2) >= 0;
}

// A handler would run in the parent's memory.
static void forget_handlers(void) {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL)
      sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
  }
}

__attribute__((no_sanitize("address", "thread"))) static int become_program(void *context) {
  start_t *start = context;
  tessera_child_die_with(start->parent);
  forget_handlers();
  if (take_streams(start->child)) {
    sigprocmask(SIG_SETMASK, start->mask, NULL);
    execvpe(start->child->program, (char *const *)(uintptr_t)start->child->arguments, start->environment);
  }
  start->why = errno;
  _exit(127);
}

//===--- starting -------------------------------------------------------------===//

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

static int start_with(const tessera_child_t *child, char **environment, tessera_running_t *out_running) {
  sigset_t before;
  char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED)
    return ENOMEM;
  tessera_temporary_hold(&before);
  start_t *start = (start_t *)stack;
  *start = (start_t){child, environment, &before, getpid(), 0};
  out_running->process = clone(become_program, stack + STACK, SHARED_MEMORY | CLONE_VFORK | SIGCHLD, start);
  int why = out_running->process < 0 ? errno : start->why;
  if (!why)
    out_running->slot = tessera_temporary_note_child(out_running->process);
  tessera_temporary_let_go(&before);
  munmap(stack, STACK);
  if (why && out_running->process >= 0)
    waitpid(out_running->process, NULL, 0);
  return why;
}

int tessera_child_start(const tessera_child_t *child, tessera_running_t *out_running) {
  char **environment = child->variable ? environment_with(child->variable) : environ;
  int why = environment ? start_with(child, environment, out_running) : ENOMEM;
  if (child->variable)
    free(environment);
  return why;
}

//===--- waiting --------------------------------------------------------------===//

static double now(void) { return tessera_milliseconds() * 1e-3; }

// Has it ended? Leaves it to be waited for.
static bool has_ended(pid_t process) {
  siginfo_t how = {.si_pid = 0};
  return waitid(P_PID, (id_t)process, &how, WEXITED | WNOHANG | WNOWAIT) != 0 || how.si_pid == process;
}

bool tessera_child_ends(const tessera_running_t *running, double seconds) {
  int handle = (int)syscall(SYS_pidfd_open, running->process, 0); // an old kernel has none
  double end = now() + seconds;
  double left = seconds;
  while (!has_ended(running->process) && left > 0) {
    double most = handle < 0 ? 0.01 : left < 1000 ? left : 1000;
    poll(&(struct pollfd){handle, POLLIN, 0}, handle >= 0, (int)(most * 1000) + 1);
    left = end - now();
  }
  if (handle >= 0)
    close(handle);
  return has_ended(running->process);
}

int tessera_child_wait(const tessera_running_t *running, double seconds) {
  bool in_time = seconds <= 0 || tessera_child_ends(running, seconds);
  int status = 0;
  siginfo_t how;
  if (!in_time)
    kill(running->process, SIGKILL);
  while (waitid(P_PID, (id_t)running->process, &how, WEXITED | WNOWAIT) < 0 && errno == EINTR)
    continue;
  tessera_temporary_forget(running->slot); // while nobody else can have its number
  while (waitpid(running->process, &status, 0) < 0 && errno == EINTR)
    continue;
  return in_time ? status : TESSERA_CHILD_LATE;
}

int tessera_child_run(const tessera_child_t *child, int *out_status) {
  tessera_running_t running;
  int why = tessera_child_start(child, &running);
  if (!why)
    *out_status = tessera_child_wait(&running, child->seconds);
  return why;
}

//===--- how it ended ---------------------------------------------------------===//

bool tessera_child_succeeded(int status) {
  return status != TESSERA_CHILD_LATE && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tessera_child_died(int status) { return status != TESSERA_CHILD_LATE && WIFSIGNALED(status); }

char *tessera_child_describe(int status, char *out_text, size_t size) {
  if (status == TESSERA_CHILD_LATE)
    snprintf(out_text, size, "no end within its limit of time");
  else if (WIFSIGNALED(status))
    snprintf(out_text, size, "%s", strsignal(WTERMSIG(status)));
  else
    snprintf(out_text, size, "exit status %d", WEXITSTATUS(status));
  return out_text;
}
