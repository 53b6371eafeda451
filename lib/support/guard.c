// guard.c - running the tool again as a child, and a handler of fatal signals. See guard.h.
// Why a child for bytecode: what runs wild may also exhaust memory or the stack of any thread, where no handler helps.
// Expects: /proc. Leaves: no core file and no child that outlives us. Cost for bytecode: starting the tool twice.
#include "lib/support/guard.h"

#include "lib/support/child.h"

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
#include <unistd.h>

static const char magic[4] = {'M', 'L', (char)0xef, 'R'};
static const char variable[] = "TESSERA_GUARDED"; // the parent's process id

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

static bool become_child(const char *parent) {
  const struct rlimit none = {0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (atol(parent) != (long)getppid()) // it died before we asked to die with it
    _exit(1);
  setrlimit(RLIMIT_CORE, &none);
  unsetenv(variable);
  return false;
}

bool tessera_guard_bytecode(const char *tool, int argc, char **argv, bool reads_input, int *out_status) {
  const char *parent = getenv(variable);
  if (parent)
    return become_child(parent);
  const char *input = find_bytecode(argc, argv, reads_input);
  if (!input)
    return false;
  char process[64], how[64];
  snprintf(process, sizeof process, "%s=%ld", variable, (long)getpid());
  const char *const *arguments = (const char *const *)(uintptr_t)argv;
  int status, why = tessera_child_run(&(tessera_child_t){"/proc/self/exe", arguments, process, NULL}, &status);
  *out_status = 1;
  if (why)
    fprintf(stderr, "%s: error: %s: no process for reading bytecode can be started: %s\n", tool, input, strerror(why));
  else if (tessera_child_succeeded(status))
    *out_status = 0;
  else if (tessera_child_died(status))
    fprintf(stderr, "%s: error: %s: damaged bytecode? Reading or compiling it crashed (%s)\n", tool, input,
            tessera_child_describe(status, how, sizeof how));
  return true;
}

//===--- crashes in this process ----------------------------------------------===//

// The one state of the process here: what its signal handler says.
static struct {
  const char *tool;
  _Atomic(const char *) doing;
  _Alignas(16) char stack[64 * 1024];
} process;

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

// Only what may be called in a signal handler.
static void end_with_message(int signal) {
  const char *doing = atomic_load(&process.doing);
  say(process.tool);
  say(": error: crashed");
  if (doing) {
    say(" at: ");
    say(doing);
  }
  say(": ");
  say(name_of(signal));
  say("\n");
  _exit(1);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_A_SANITIZER
#endif
#endif

void tessera_guard_crashes(const char *tool) {
  process.tool = tool;
#ifndef UNDER_A_SANITIZER
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  stack_t stack = {.ss_sp = process.stack, .ss_size = sizeof process.stack}; // ours may be what is exhausted
  struct sigaction action = {.sa_handler = end_with_message, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
    sigaction(signals[i], &action, NULL);
#else
  (void)end_with_message;
#endif
}

void tessera_guard_doing(const char *doing) { atomic_store(&process.doing, doing); }
