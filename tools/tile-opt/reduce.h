// Shrinks a program that a pass breaks: makes it smaller step by step as long as the pass still breaks it.
//
//   Case broken = {.module = before, .pipeline = "builtin.module(canonicalize)", .judging = &judging};
//   reduceCase(&broken);   // broken.module is another, smaller one; the judging's signature is its entry's
#pragma once

#include "tools/tile-opt/judge.h"

typedef struct Case {
  MlirModule module;    // owned
  const char *pipeline; // that breaks it
  Judging judging;
  FindingKind kind;   // of what is wrong after the pass
  const char *reason; // of a fault
  int seconds;        // that reducing may take
} Case;

void reduceCase(Case *broken);
// Ops of the module, itself not counted.
intptr_t reduceCountOps(MlirModule module);
// Judges the case: what comes before the pass, after it, and what differs. False when the case is not broken. The
// verdicts are to be destroyed in either case.
bool caseJudge(const Case *broken, Verdict *before, Verdict *after, Finding *finding);
