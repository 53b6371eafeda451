// temporary.h - files, folders and children that must not outlive the process, however the process ends.
//
//   tessera_folder_t folder;
//   if (!tessera_folder_make(&folder, &error)) …          // a new folder below TMPDIR, else below /tmp
//   snprintf(path, sizeof path, "%s/program.o", folder.path);
//   …
//   tessera_folder_remove(&folder);                       // with the files in it; it may hold no folders
//
// A tool calls tessera_temporary_end before it ends in the middle: in a signal handler, or on the thread of a timeout
// (guard.h does both). A process that is killed by SIGKILL leaves its files; its children still end (child.h).
#pragma once

#include "lib/support/status.h"

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

typedef struct tessera_folder_t {
  char path[PATH_MAX];
  int slot; // of the noted folder
} tessera_folder_t;

// Makes a folder with a new name that only this user may read. The error names the folder and the reason.
bool tessera_folder_make(tessera_folder_t *out_folder, tessera_error_t *out_error);
void tessera_folder_remove(const tessera_folder_t *folder);

// A thing is made and noted between these two, so that no end of the process falls between making and noting.
// tessera_temporary_hold also keeps signals from this thread; |before| is for tessera_temporary_let_go.
void tessera_temporary_hold(sigset_t *out_before);
void tessera_temporary_let_go(const sigset_t *before);
// What is noted under the slot is removed (a file) or ended (a child) by tessera_temporary_end. -1: not noted, because
// too many things are, or because the path is too long.
int tessera_temporary_note_file(const char *path);
int tessera_temporary_note_child(pid_t process);
void tessera_temporary_forget(int slot); // -1 is allowed

// Ends the noted children and removes the noted files and folders. Safe in signal handlers. Threads that make further
// ones wait for ever: the caller must end the process.
void tessera_temporary_end(void);
