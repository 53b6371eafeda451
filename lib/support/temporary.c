// temporary.c - a table of what must go when the process ends. See temporary.h.
// Why a static table: a signal handler may neither allocate nor wait for a lock that its own thread holds.
// Expects: files in a noted folder, no folders. Leaves: nothing noted of this process; what a parent noted before a
// fork stays the parent's. Cost: some 260 KiB of memory that is touched only as far as it is used.
#include "lib/support/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 64, MOST_WAITS = 200 };
enum { FREE, BEING_FILLED, A_FILE, A_FOLDER, A_CHILD };

typedef struct slot_t {
  atomic_int state;
  pid_t owner, child;
  char path[PATH_MAX];
} slot_t;

// The one state of the process here.
static struct {
  slot_t slots[SLOTS];
  atomic_int holds;
  atomic_bool is_ending;
} process;

//===--- noting ---------------------------------------------------------------===//

void tessera_temporary_hold(sigset_t *out_before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, out_before);
  atomic_fetch_add(&process.holds, 1);
  if (!atomic_load(&process.is_ending))
    return;
  atomic_fetch_sub(&process.holds, 1);
  for (;;) // another thread ends the process
    pause();
}

void tessera_temporary_let_go(const sigset_t *before) {
  atomic_fetch_sub(&process.holds, 1);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int note(int state, const char *path, pid_t child) {
  if (strlen(path) >= PATH_MAX)
    return -1;
  for (int i = 0; i < SLOTS; ++i) {
    slot_t *slot = &process.slots[i];
    int is_free = FREE;
    if (!atomic_compare_exchange_strong(&slot->state, &is_free, BEING_FILLED))
      continue;
    slot->owner = getpid();
    slot->child = child;
    strcpy(slot->path, path);
    atomic_store(&slot->state, state);
    return i;
  }
  return -1;
}

int tessera_temporary_note_file(const char *path) { return note(A_FILE, path, 0); }
int tessera_temporary_note_child(pid_t child) { return note(A_CHILD, "", child); }

void tessera_temporary_forget(int slot) {
  if (slot >= 0)
    atomic_store(&process.slots[slot].state, FREE);
}

//===--- folders --------------------------------------------------------------===//

// What getdents64(2) gives: readdir would allocate.
typedef struct entry_t {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
} entry_t;

// The files of a folder, once through; how many were removed.
static int remove_files(int folder) {
  _Alignas(8) char entries[4096];
  int removed = 0;
  long count;
  lseek(folder, 0, SEEK_SET);
  while ((count = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
    for (long at = 0; at < count; at += ((const entry_t *)(entries + at))->length)
      removed += unlinkat(folder, ((const entry_t *)(entries + at))->name, 0) == 0;
  return removed;
}

static void remove_folder(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  while (folder >= 0 && remove_files(folder) > 0)
    ;
  if (folder >= 0)
    close(folder);
  rmdir(path);
}

bool tessera_folder_make(tessera_folder_t *out_folder, tessera_error_t *out_error) {
  const char *place = getenv("TMPDIR");
  sigset_t before;
  snprintf(out_folder->path, sizeof out_folder->path, "%s/tessera-XXXXXX", place && *place ? place : "/tmp");
  out_folder->slot = -1;
  tessera_temporary_hold(&before);
  bool made = mkdtemp(out_folder->path) != NULL;
  int why = errno;
  if (made)
    out_folder->slot = note(A_FOLDER, out_folder->path, 0);
  tessera_temporary_let_go(&before);
  return made || tessera_fail(out_error, "%s: cannot be made: %s", out_folder->path, strerror(why));
}

void tessera_folder_remove(const tessera_folder_t *folder) {
  remove_folder(folder->path);
  tessera_temporary_forget(folder->slot);
}

//===--- the end of the process -----------------------------------------------===//

static void wait_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); }

static bool is_mine(const slot_t *slot, int state) {
  return atomic_load(&slot->state) == state && slot->owner == getpid();
}

// Children are asked to end, so that tools of ours remove their own files, and a second later made to.
static void end_children(void) {
  for (int i = 0; i < SLOTS; ++i)
    if (is_mine(&process.slots[i], A_CHILD))
      kill(process.slots[i].child, SIGTERM);
  for (int i = 0; i < SLOTS; ++i) {
    const slot_t *slot = &process.slots[i];
    int waits = 0, status;
    while (is_mine(slot, A_CHILD) && waitpid(slot->child, &status, WNOHANG) == 0 && ++waits < MOST_WAITS)
      wait_a_little();
    if (is_mine(slot, A_CHILD) && waits == MOST_WAITS) {
      kill(slot->child, SIGKILL);
      waitpid(slot->child, &status, 0);
    }
  }
}

void tessera_temporary_end(void) {
  atomic_store(&process.is_ending, true);
  for (int i = 0; atomic_load(&process.holds) > 0 && i < MOST_WAITS; ++i)
    wait_a_little();
  end_children();
  for (int i = 0; i < SLOTS; ++i)
    if (is_mine(&process.slots[i], A_FILE))
      unlink(process.slots[i].path);
    else if (is_mine(&process.slots[i], A_FOLDER))
      remove_folder(process.slots[i].path);
}
