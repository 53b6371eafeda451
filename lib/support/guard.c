// guard.c - running the tool again as a child, and handlers of signals that end the process. See guard.h.
// Why a child for bytecode: what runs wild may also exhaust memory or the stack of any thread, where no handler helps.
// Expects: /proc. Leaves: no core file and no child that outlives us. Cost for bytecode: starting the tool twice.
#include "lib/support/guard.h"

#include "lib/support/child.h"
#include "lib/support/temporary.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static const char magic[4] = {'M', 'L', (char)0xef, 'R'};
static const char variable[] = "TESSERA_GUARDED"; // the parent's process id

// The one state of the process here: what its signal handler says.
static struct {
  const char *tool;
  _Atomic(const char *) doing, subject;
  _Alignas(16) char stack[64 * 1024];
} process;

//===--- is it bytecode? ------------------------------------------------------===//

static bool is_magic(const char *bytes, ssize_t count) {
  return count > 0 && memcmp(bytes, magic, (size_t)count < sizeof magic ? (size_t)count : sizeof magic) == 0;
}

static bool file_is_bytecode(const char *path) {
  struct stat status;
  char bytes[sizeof magic];
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
    return false;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool is = file >= 0 && is_magic(bytes, read(file, bytes, sizeof bytes));
  if (file >= 0)
    close(file);
  return is;
}

// Looks without taking: the child reads it.
static bool input_is_bytecode(void) {
  struct stat status;
  char bytes[sizeof magic];
  int copy[2];
  if (fstat(STDIN_FILENO, &status) != 0)
    return false;
  if (S_ISREG(status.st_mode))
    return is_magic(bytes, pread(STDIN_FILENO, bytes, sizeof bytes, lseek(STDIN_FILENO, 0, SEEK_CUR)));
  if (!S_ISFIFO(status.st_mode) || pipe2(copy, O_CLOEXEC) != 0)
    return false;
  ssize_t count = tee(STDIN_FILENO, copy[1], sizeof bytes, 0);
  bool is = count > 0 && is_magic(bytes, read(copy[0], bytes, sizeof bytes));
  close(copy[0]);
  close(copy[1]);
  return is;
}

// Flags that make a tool print something and read nothing: looking would wait for whoever holds the other end.
static bool reads_nothing(const char *argument) {
  static const char *const flags[] = {"--help", "-help", "-h", "--version", "--show-", "--list-", "--print-pipeline"};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
    if (strncmp(argument, flags[i], strlen(flags[i])) == 0)
      return true;
  return false;
}

// A file, rather than a flag or the value of one written apart ("-o out", "--pass-pipeline 'builtin.module(cse)'").
static bool names_file(char **argv, int i) {
  return argv[i][0] != '-' && strcmp(argv[i - 1], "-o") != 0 && !strchr(argv[i], '(');
}

// The name of the input that is bytecode, or NULL. Standard input is looked at only where the tool will read it.
static const char *find_bytecode(int argc, char **argv, bool reads_input) {
  bool by_name = false;
  for (int i = 1; i < argc; ++i) {
    by_name = by_name || strcmp(argv[i], "-") == 0;
    if (names_file(argv, i) && file_is_bytecode(argv[i]))
      return argv[i];
    reads_input = reads_input && !names_file(argv, i) && !reads_nothing(argv[i]);
  }
  return (by_name || reads_input) && input_is_bytecode() ? "-" : NULL;
}

//===--- the child ------------------------------------------------------------===//

// The limit for reading a damaged file, in seconds of CPU time: MLIR's reader may loop for ever.
enum { READING_SECONDS = 60 };

static void limit_cpu(time_t seconds) {
  const struct itimerval limit = {.it_value.tv_sec = seconds};
  setitimer(ITIMER_PROF, &limit, NULL);
}

static bool become_child(const char *parent) {
  const struct rlimit none = {0, 0};
  tessera_child_die_with((pid_t)atol(parent));
  tessera_guard_ends();
  setrlimit(RLIMIT_CORE, &none);
  unsetenv(variable);
  limit_cpu(READING_SECONDS);
  return false;
}

static void say_how_it_ended(const char *tool, const char *input, int status) {
  char how[64];
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
    fprintf(stderr, "%s: error: %s: damaged bytecode? Reading it had not ended after %d s of CPU time\n", tool, input,
            READING_SECONDS);
  else if (tessera_child_died(status))
    fprintf(stderr, "%s: error: %s: damaged bytecode? Reading or compiling it crashed (%s)\n", tool, input,
            tessera_child_describe(status, how, sizeof how));
}

bool tessera_guard_bytecode(const char *tool, int argc, char **argv, bool reads_input, int *out_status) {
  const char *parent = getenv(variable);
  process.tool = tool;
  if (parent)
    return become_child(parent);
  tessera_guard_ends();
  const char *input = find_bytecode(argc, argv, reads_input);
  if (!input)
    return false;
  char process_id[64];
  snprintf(process_id, sizeof process_id, "%s=%ld", variable, (long)getpid());
  const char *const *arguments = (const char *const *)(uintptr_t)argv;
  const tessera_child_t child = {"/proc/self/exe", arguments, process_id, .seconds = TESSERA_CHILD_HAS_OWN_LIMIT};
  int status, why = tessera_child_run(&child, &status);
  *out_status = why || !tessera_child_succeeded(status);
  if (why)
    fprintf(stderr, "%s: error: %s: no process for reading bytecode can be started: %s\n", tool, input, strerror(why));
  else
    say_how_it_ended(tool, input, status);
  return true;
}

void tessera_guard_has_read(void) { limit_cpu(0); }

//===--- signals that end the process -------------------------------------------===//

// What was begun goes, then the signal does what it does without us.
static void end_by_signal(int number) {
  tessera_temporary_end();
  signal(number, SIG_DFL);
  raise(number);
}

void tessera_guard_ends(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) {
    struct sigaction before, action = {.sa_handler = end_by_signal};
    if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) // nohup's stay ignored
      sigaction(signals[i], &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN); // a file that grows beyond its limit is an error of write(2)
  int death;
  if (prctl(PR_GET_PDEATHSIG, &death) == 0 && death == SIGKILL) // a tool started by ours removes what it began
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

void tessera_guard_end(int status) {
  tessera_temporary_end();
  _exit(status);
}

//===--- crashes in this process ----------------------------------------------===//

static void say(const char *text) {
  ssize_t done = write(STDERR_FILENO, text, strlen(text));
  (void)done;
}

static const char *name_of(int signal) {
  return signal == SIGSEGV || signal == SIGBUS ? "a wrong access to memory"
         : signal == SIGABRT                   ? "it gave up (SIGABRT)"
         : signal == SIGFPE                    ? "a division by zero"
                                               : "an illegal instruction";
}

static uintptr_t stack_pointer_of(const void *context) {
  const ucontext_t *at = context;
#if defined(__x86_64__)
  return (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
  return (uintptr_t)at->uc_mcontext.sp;
#else
  (void)at;
  return 0;
#endif
}

// Was it an access close to the end of the stack? Nothing else lies there.
static bool is_out_of_stack(int signal, const siginfo_t *what, const void *context) {
  enum { CLOSE = 64 * 1024 };
  uintptr_t at = (uintptr_t)what->si_addr, top = stack_pointer_of(context);
  return (signal == SIGSEGV || signal == SIGBUS) && what->si_code > 0 && at - top + CLOSE < 2 * CLOSE;
}

static void say_doing(void) {
  const char *doing = atomic_load(&process.doing);
  if (!doing)
    return;
  say(" at: ");
  say(doing);
}

_Noreturn void tessera_guard_out_of_memory(void) {
  say(process.tool ? process.tool : "tessera");
  say(": error: out of memory");
  say_doing();
  say("\n");
  tessera_guard_end(1);
}

// Only what may be called in a signal handler.
static void end_with_message(int signal, siginfo_t *what, void *context) {
  const char *subject = atomic_load(&process.subject);
  say(process.tool);
  say(": error: ");
  if (is_out_of_stack(signal, what, context)) {
    say(subject ? subject : "");
    say(subject ? ": out of stack" : "out of stack");
    say_doing();
    say(": recursion without an end, or too much data on the stack\n");
  } else {
    say("crashed");
    say_doing();
    say(": ");
    say(name_of(signal));
    say("\n");
  }
  tessera_guard_end(1);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_A_SANITIZER
#endif
#endif

void tessera_guard_crashes(const char *tool) {
  process.tool = tool;
  tessera_guard_ends();
#ifndef UNDER_A_SANITIZER
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  stack_t stack = {.ss_sp = process.stack, .ss_size = sizeof process.stack}; // ours may be what is exhausted
  struct sigaction action = {.sa_sigaction = end_with_message, .sa_flags = SA_ONSTACK | SA_SIGINFO};
  sigaltstack(&stack, NULL);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
    sigaction(signals[i], &action, NULL);
#else
  (void)end_with_message;
#endif
}

void tessera_guard_doing(const char *doing) { atomic_store(&process.doing, doing); }

void tessera_guard_subject(const char *subject) { atomic_store(&process.subject, subject); }
