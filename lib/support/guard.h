// guard.h - a tool's promise that no input crashes it: exit status 1 and a sentence instead.
//
//   int main(int argc, char **argv) {
//     int status;
//     if (tessera_guard_bytecode("tile-run", argc, argv, false, &status))   // the whole tool ran in a child: it was
//     bytecode
//       return status;
//     tessera_guard_crashes("tile-run");                             // what else goes wrong, in this process
//
// MLIR checks text well, but believes bytecode: a damaged file can make its reader, or a pass long after it, run wild.
// Text costs nothing: a look at the first bytes of the input.
#pragma once

#include <stdbool.h>

// Is one of the arguments an MLIR bytecode file, or "-", standard input, one (or, with |reads_input|, standard input
// where no argument names a file)? Then this tool has been run on it in a child, and |*out_status| is what main should
// return: the child's, or 1, with a message on stderr, when it died. False in that child.
bool tessera_guard_bytecode(const char *tool, int argc, char **argv, bool reads_input, int *out_status);

// The input has been read. Until then that child has a limit of CPU time: the reader may loop for ever.
void tessera_guard_has_read(void);

// From now on a crash (SIGSEGV, SIGABRT, …) prints one line on stderr and ends the process with status 1. |doing|, a
// string that may be exchanged at any time, says what was going on; |subject| what was worked on. Not under a
// sanitizer, which tells more. An exhausted stack is told apart, on the threads that have a stack for signals (the main
// one, the runtime's).
void tessera_guard_crashes(const char *tool);
void tessera_guard_doing(const char *doing);
void tessera_guard_subject(const char *subject);

// Says that memory has run out, and what was going on, and ends the process with status 1: for handlers of allocators
// that may not return.
_Noreturn void tessera_guard_out_of_memory(void);

// From now on a signal that ends the process (SIGINT, SIGTERM, …) first ends the children and removes the files and
// folders that were begun (temporary.h). Both functions above do this too. A file that grows beyond `ulimit -f` is an
// error of its writer.
void tessera_guard_ends(void);
// _exit, after the same.
_Noreturn void tessera_guard_end(int status);
