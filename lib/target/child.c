// Three pipes and one poll loop that feeds and drains at the same time, so that no pipe fills up while the other side
// waits. See child.h.
#include "lib/target/child.h"

#include "lib/support/child.h"
#include "lib/support/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { In, Out, Complaints, DefaultSeconds = 120, Piece = 65536 };

typedef struct Bytes {
  char *data;
  size_t size, capacity;
} Bytes;

typedef struct Running {
  const TileChild *child;
  tessera_running_t process;
  int ends[3]; // ours; -1: closed
  size_t fed;
  Bytes collected[3];
} Running;

static int secondsOf(const TileChild *child) { return child->seconds ? child->seconds : DefaultSeconds; }

//===--- starting -------------------------------------------------------------------------------===//

static void closeEnd(int *end) {
  if (*end >= 0)
    close(*end);
  *end = -1;
}

// 0, or why it could not be started.
static int start(Running *running) {
  int theirs[3] = {-1, -1, -1}, why = 0;
  for (int i = 0; i < 3; ++i)
    running->ends[i] = -1;
  for (int i = 0; i < 3 && !why; ++i) {
    int both[2];
    why = pipe2(both, O_CLOEXEC) ? errno : 0;
    if (why)
      break;
    running->ends[i] = both[i == In];
    theirs[i] = both[i != In];
    fcntl(running->ends[i], F_SETFL, O_NONBLOCK);
  }
  if (!why)
    why = tessera_child_start(
        &(tessera_child_t){running->child->arguments[0], running->child->arguments, .streams = theirs},
        &running->process);
  for (int i = 0; i < 3; ++i)
    closeEnd(&theirs[i]);
  return why;
}

//===--- feeding and draining -------------------------------------------------------------------===//

static void feed(Running *running) {
  size_t left = running->child->inputSize - running->fed;
  ssize_t written = left ? write(running->ends[In], (const char *)running->child->input + running->fed, left) : 0;
  if (written > 0)
    running->fed += (size_t)written;
  bool mustRetry = written < 0 && (errno == EAGAIN || errno == EINTR);
  if (!mustRetry && (written <= 0 || running->fed == running->child->inputSize))
    closeEnd(&running->ends[In]);
}

static void drain(Running *running, int which) {
  Bytes *bytes = &running->collected[which];
  if (bytes->capacity - bytes->size < Piece + 1) {
    size_t capacity = 2 * bytes->capacity + 2 * Piece;
    char *data = realloc(bytes->data, capacity);
    if (!data) {
      closeEnd(&running->ends[which]);
      return;
    }
    bytes->data = data;
    bytes->capacity = capacity;
  }
  ssize_t got = read(running->ends[which], bytes->data + bytes->size, Piece);
  if (got > 0)
    bytes->size += (size_t)got;
  else if (got == 0 || (errno != EAGAIN && errno != EINTR))
    closeEnd(&running->ends[which]);
}

static int64_t millisecondsNow(void) { return tessera_nanoseconds() / 1000000; }

// False when time ran out.
static bool converse(Running *running) {
  int64_t end = millisecondsNow() + 1000ll * secondsOf(running->child);
  while (running->ends[Out] >= 0 || running->ends[Complaints] >= 0) {
    struct pollfd polled[3];
    for (int i = 0; i < 3; ++i)
      polled[i] = (struct pollfd){running->ends[i], i == In ? POLLOUT : POLLIN, 0};
    int64_t left = end - millisecondsNow();
    if (left <= 0)
      return false;
    if (poll(polled, 3, (int)left) < 0 && errno != EINTR)
      return false;
    if (running->ends[In] >= 0 && polled[In].revents)
      feed(running);
    for (int i = Out; i <= Complaints; ++i)
      if (running->ends[i] >= 0 && polled[i].revents)
        drain(running, i);
  }
  return true;
}

//===--- ending ---------------------------------------------------------------------------------===//

static bool judge(const Running *running, bool inTime, int status, tessera_error_t *error) {
  const char *name = running->child->arguments[0], *slash = strrchr(name, '/');
  const Bytes *said = &running->collected[Complaints];
  name = slash ? slash + 1 : name;
  if (!inTime || status == TESSERA_CHILD_LATE)
    return tessera_fail(error, "%s took more than %d seconds", name, secondsOf(running->child));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  const char *text = said->size ? said->data : "";
  int length = (int)strcspn(text, "\n");
  if (WIFSIGNALED(status))
    return tessera_fail(error, "%s was ended by signal %d (%s)%s%.*s", name, WTERMSIG(status),
                        strsignal(WTERMSIG(status)), length ? ": " : "", length, text);
  return tessera_fail(error, "%s failed%s%.*s", name, length ? ": " : "", length, text);
}

// A program that ends early must not end us by SIGPIPE; nobody else's handling changes.
static bool talk(Running *running) {
  sigset_t pipes, before, pending;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipes, &before);
  bool inTime = converse(running);
  sigpending(&pending);
  if (sigismember(&pending, SIGPIPE) && !sigismember(&before, SIGPIPE))
    sigtimedwait(&pipes, NULL, &(struct timespec){0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return inTime;
}

bool tileChildRun(const TileChild *child, TileChildResult *result, tessera_error_t *error) {
  Running running = {.child = child};
  *result = (TileChildResult){NULL};
  int why = start(&running);
  if (why) {
    for (int i = 0; i < 3; ++i)
      closeEnd(&running.ends[i]);
    return tessera_fail(error, "cannot start %s: %s", child->arguments[0], strerror(why));
  }
  if (!child->inputSize)
    closeEnd(&running.ends[In]);
  bool inTime = talk(&running);
  for (int i = 0; i < 3; ++i)
    closeEnd(&running.ends[i]);
  int status = tessera_child_wait(&running.process, inTime ? secondsOf(child) : 1e-9); // or kill it at once
  for (int i = Out; i <= Complaints; ++i)
    if (running.collected[i].data)
      running.collected[i].data[running.collected[i].size] = '\0';
  *result = (TileChildResult){running.collected[Out].data, running.collected[Complaints].data,
                              running.collected[Out].size, running.collected[Complaints].size};
  return judge(&running, inTime, status, error);
}

void tileChildDestroy(TileChildResult *result) {
  free(result->output);
  free(result->complaints);
  *result = (TileChildResult){NULL};
}
