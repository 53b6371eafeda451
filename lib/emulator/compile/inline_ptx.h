// What the files of inline PTX share: an instruction as it is read, and its operands as values.
#pragma once

#include "lib/emulator/compile/intrinsics.h"

enum { PtxMostOperands = 40, PtxMostName = 96 };

typedef struct PtxOperand {
  enum { Ptx_Register, Ptx_Number, Ptx_Special } kind;
  int64_t number; // of the register, or itself
  int64_t offset; // of an address: bytes behind the register's
  char name[16];  // of a special register
} PtxOperand;

typedef struct Ptx {
  MlirOperation op;
  char name[PtxMostName];
  int count, results;
  PtxOperand operands[PtxMostOperands];
} Ptx;

// A text of several instructions becomes an op for each; else nothing is done (inline_ptx_texts.c).
void emulatorSplitAssembly(MlirOperation op);
// Null: the operand is none, or a special register.
MlirValue emulatorPtxValue(const Ptx *ptx, TileBuilder *b, int operand);
// An address, which is an integer or a pointer of any kind, in a space of LLVM's; null as above.
MlirValue emulatorPtxPointer(const Ptx *ptx, TileBuilder *b, int operand, unsigned space);
void emulatorPtxReplace(const Ptx *ptx, MlirValue value); // the op's only result
// ld, st, atom, red, fence (inline_ptx_memory.c); arithmetic (inline_ptx_arithmetic.c). False: another instruction.
bool emulatorPtxMemory(const Ptx *ptx);
bool emulatorPtxArithmetic(const Ptx *ptx);
