// guard.h - a tool's promise that no input crashes it: exit status 1 and a sentence instead.
//
//   int main(int argc, char **argv) {
//     int status;
//     // True if the input is bytecode: the whole tool has then run in a child.
//     if (tessera_guard_bytecode("tile-run", argc, argv, false, &status))
//       return status;
//     tessera_guard_crashes("tile-run");                             // for any other crash of this process
//
// MLIR checks text well, but trusts bytecode: a damaged file can crash its reader, or a later pass. For text the guard
// only looks at the first bytes of the input.
#pragma once

#include <stdbool.h>

// True if an input of the tool is MLIR bytecode: an argument that names a file, "-" for standard input, or, with
// |reads_input|, standard input if no argument names a file. The tool has then run in a child. main returns
// |*out_status|: the child's status, or 1 if the child died, after a message on stderr. In the child: false.
bool tessera_guard_bytecode(const char *tool, int argc, char **argv, bool reads_input, int *out_status);

// Call this when the input has been read. Until then the child has a limit of CPU time, since a reader may loop.
void tessera_guard_has_read(void);

// From now on a crash (SIGSEGV, SIGABRT, …) prints one line on stderr and ends the process with status 1. The line
// contains |doing|, the current activity, and |subject|, the current input; both may change at any time. Does nothing
// under a sanitizer, which reports more. Threads with a stack for signals (the main one, the runtime's) report an
// exhausted stack as such.
void tessera_guard_crashes(const char *tool);
void tessera_guard_doing(const char *doing);
void tessera_guard_subject(const char *subject);

// Prints that memory has run out, and during what, and ends the process with status 1. For handlers of allocators,
// which may not return.
_Noreturn void tessera_guard_out_of_memory(void);

// From now on a signal that ends the process (SIGINT, SIGTERM, …) first ends the children and removes the files and
// folders that were begun (temporary.h). Both functions above do this too. A file that grows beyond `ulimit -f` is an
// error of its writer.
void tessera_guard_ends(void);
// _exit, after the same.
_Noreturn void tessera_guard_end(int status);
