// child_test.c - children: how they end, their limit of time, that they die with their parent, where they write.
// Started with an argument, the test acts as the child.
#include "lib/support/child.h"

#include "lib/support/temporary.h"
#include "test/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char self[] = "/proc/self/exe";

static int run(const char *how, const tessera_child_t *more, int *out_status) {
  const char *const arguments[] = {"child_test", how, NULL};
  tessera_child_t child = *more;
  child.program = self;
  child.arguments = arguments;
  return tessera_child_run(&child, out_status);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_ends(void) {
  int status = 99;
  char how[64];
  CHECK(!run("0", &(tessera_child_t){.seconds = 60}, &status) && tessera_child_succeeded(status));
  CHECK(!run("3", &(tessera_child_t){.seconds = TESSERA_CHILD_HAS_OWN_LIMIT}, &status));
  CHECK(!tessera_child_succeeded(status) && !tessera_child_died(status));
  CHECK_CONTAINS(tessera_child_describe(status, how, sizeof how), "exit status 3");
  CHECK(!run("kill", &(tessera_child_t){.seconds = 60}, &status) && tessera_child_died(status));
  CHECK_CONTAINS(tessera_child_describe(status, how, sizeof how), "Killed");
  const char *const arguments[] = {"no-such-program-as-this", NULL};
  CHECK(tessera_child_run(&(tessera_child_t){arguments[0], arguments, .seconds = 60}, &status) == ENOENT);
  CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
}

static void test_limit(void) {
  int status = 0;
  char how[64];
  double start = seconds();
  CHECK(!run("wait", &(tessera_child_t){.seconds = 0.2}, &status) && status == TESSERA_CHILD_LATE);
  CHECK(seconds() - start < 30 && !tessera_child_succeeded(status) && !tessera_child_died(status));
  CHECK_CONTAINS(tessera_child_describe(status, how, sizeof how), "no end within its limit of time");
}

static void test_streams(void) {
  int status, both[2];
  char text[64] = "";
  CHECK(!run("say", &(tessera_child_t){.log = "child.log", .variable = "SAID=twice", .seconds = 60}, &status));
  FILE *file = fopen("child.log", "r");
  CHECK(file && fgets(text, sizeof text, file));
  CHECK_CONTAINS(text, "twice");
  if (file)
    fclose(file);
  CHECK(pipe(both) == 0);
  CHECK(!run("say", &(tessera_child_t){.streams = (int[]){0, both[1], both[1]}, .seconds = 60}, &status));
  close(both[1]);
  CHECK(read(both[0], text, sizeof text) > 0);
  close(both[0]);
}

// A child starts one of its own, tells its number and is killed: that one ends too.
static void test_dies_with_parent(void) {
  int both[2], grandchild = 0;
  CHECK(pipe(both) == 0);
  const char *const arguments[] = {"child_test", "parent", NULL};
  tessera_running_t running;
  CHECK(!tessera_child_start(&(tessera_child_t){self, arguments, .streams = (int[]){0, both[1], 2}}, &running));
  close(both[1]);
  CHECK(read(both[0], &grandchild, sizeof grandchild) == sizeof grandchild && grandchild > 0);
  CHECK(!tessera_child_ends(&running, 0.01) && kill(grandchild, 0) == 0);
  kill(running.process, SIGKILL);
  CHECK(tessera_child_died(tessera_child_wait(&running, 60)));
  char nothing;
  CHECK(read(both[0], &nothing, 1) == 0, "the grandchild holds the pipe until it ends");
  close(both[0]);
}

static void test_folder(void) {
  tessera_folder_t folder;
  tessera_error_t error = {""};
  char path[PATH_MAX + 16];
  setenv("TMPDIR", ".", 1);
  CHECK(tessera_folder_make(&folder, &error), "%s", error.text);
  for (int i = 0; i < 500; ++i) {
    snprintf(path, sizeof path, "%s/a rather long name of a file, number %d", folder.path, i);
    FILE *file = fopen(path, "w");
    CHECK(file && !fclose(file));
  }
  tessera_folder_remove(&folder);
  CHECK(access(folder.path, F_OK) != 0);
  CHECK(tessera_folder_make(&folder, &error) && access(folder.path, F_OK) == 0);
  tessera_temporary_end(); // as a signal's handler does
  CHECK(access(folder.path, F_OK) != 0);
  setenv("TMPDIR", "no/such/folder", 1);
}

static int be_child(const char *how) {
  if (strcmp(how, "say") == 0)
    return puts(getenv("SAID") ? getenv("SAID") : "once") < 0;
  if (strcmp(how, "wait") == 0)
    for (;;)
      pause();
  if (strcmp(how, "kill") == 0)
    raise(SIGKILL);
  if (strcmp(how, "parent") == 0) {
    const char *const arguments[] = {"child_test", "wait", NULL};
    tessera_running_t running;
    if (tessera_child_start(&(tessera_child_t){self, arguments, .seconds = 0}, &running))
      return 1;
    int process = running.process;
    return write(1, &process, sizeof process) < 0 || tessera_child_wait(&running, 0);
  }
  return atoi(how);
}

int main(int argc, char **argv) {
  if (argc > 1)
    return be_child(argv[1]);
  test_ends();
  test_limit();
  test_streams();
  test_dies_with_parent();
  test_folder();
  return checkResult(520);
}
