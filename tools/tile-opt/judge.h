// What a judge says of a module at any level: it runs one function on seeded inputs in a child process, so that a
// program that a broken pass made may crash, run wild or never end.
//
//   Judging judging = {.target = "interpret", .entry = "main", .signature = signature, .timeout = 60};
//   Verdict before, after;
//   judge(&judging, module, &before);
//   …
//   Finding finding;
//   if (verdictsDiffer(&before, &after, &judging, &finding)) … finding.text …
//   verdictDestroy(&before); verdictDestroy(&after);
#pragma once

#include "lib/support/judge.h"
#include "lib/support/signature.h"
#include "mlir-c/IR.h"

typedef struct Judging {
  const char *target; // "interpret", "cpu", "emulate:sm_80"
  const char *entry;
  tessera_signature_t signature; // no dynamic sizes among the arguments
  int64_t seed;
  int timeout;    // seconds of one judgement
  double traffic; // percent by which counted traffic may rise; negative: may rise
  uint64_t known; // of the module lowered last: the same again is not run; 0: none
} Judging;

typedef enum Outcome {
  Outcome_Ran,
  Outcome_Same,    // lowers to what is known already
  Outcome_Unknown, // no judgement: the target cannot run a module at this level
  Outcome_Fault,   // the program is wrong, crashes or does not end
} Outcome;

typedef struct Verdict {
  Outcome outcome;
  const char *target;
  char reason[1024];         // Unknown, Fault
  char *told;                // what the judge wrote on stderr: located diagnostics; owned, may be null
  int count;                 // outputs: results, then memref arguments
  tessera_answer_t *outputs; // owned
  int64_t traffic;           // of global memory, in transactions; -1: not counted
  uint64_t lowered;
} Verdict;

uint64_t judgeHash(MlirOperation op); // of its text
void judge(const Judging *judging, MlirOperation module, Verdict *verdict);
void verdictDestroy(Verdict *verdict);

// What is wrong with `seen`, which has run or is at fault, when `expected`, which has run, is right.
typedef enum FindingKind { Finding_Answer, Finding_Fault, Finding_Traffic } FindingKind;
typedef struct Finding {
  FindingKind kind;
  char text[1536]; // "changes the answer: result 0 of 'main' is 3 at [2], expected 4 within 1e-06; 1 of 8 elements
                   // wrong"
  int output;      // the one that differs; -1: none
} Finding;
// The allowed error of an element is the judge's bound or, if that is smaller or there is none, half the digits of its
// type below the largest element of the output.
bool verdictsDiffer(const Verdict *expected, const Verdict *seen, const Judging *judging, Finding *finding);

// Do both faults say the same, but for numbers?
bool reasonsAreAlike(const char *a, const char *b);
