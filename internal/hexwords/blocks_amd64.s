//go:build !purego

#include "textflag.h"

// SSE2 only, which every amd64 processor has. Each constant stands sixteen times,
// once for each byte of a vector.

#define SIXTEEN(name, word) \
	DATA name<>+0(SB)/8, word \
	DATA name<>+8(SB)/8, word \
	GLOBL name<>(SB), RODATA|NOPTR, $16

SIXTEEN(zeroDigit, $0x3030303030303030) // '0'
SIXTEEN(nine, $0x0909090909090909)
SIXTEEN(lowerCase, $0x2020202020202020) // makes a letter lower case
SIXTEEN(letterA, $0x6161616161616161)   // 'a'
SIXTEEN(five, $0x0505050505050505)      // 'f' − 'a'
SIXTEEN(nibble, $0x0f0f0f0f0f0f0f0f)
SIXTEEN(firsts, $0x00ff00ff00ff00ff)    // the lower byte of each pair
SIXTEEN(toLetter, $0x2727272727272727)  // 'a' − 10 − '0'

// VALUES turns the sixteen digits in c into their values, and takes from right
// the bytes where there is no digit. It uses X2 to X4.
//
// A byte is within 0 and n if the lesser of it and n, unsigned, is itself.
#define VALUES(c, right) \
	MOVO    c, X2     \
	PSUBB   X8, X2    \ // digit − '0'
	MOVO    X2, X3    \
	PMINUB  X9, X3    \
	PCMPEQB X2, X3    \ // 0 to 9: a decimal
	MOVO    c, X2     \
	POR     X10, X2   \
	PSUBB   X11, X2   \ // letter − 'a'
	MOVO    X2, X4    \
	PMINUB  X12, X4   \
	PCMPEQB X2, X4    \ // 0 to 5: a letter
	POR     X4, X3    \
	PAND    X3, right \
	PAND    X13, c    \ // the value of a decimal; of a letter, less 9
	PAND    X9, X4    \
	PADDB   X4, c

// PAIR puts the values of each two digits together, in the lower byte of the
// pair. It uses X2.
#define PAIR(values) \
	MOVO  values, X2  \
	PSLLW $4, values  \
	PSRLW $8, X2      \
	POR   X2, values  \
	PAND  X14, values

// func decodeBlocks(out []byte, digits string) bool
TEXT ·decodeBlocks(SB), NOSPLIT, $0-41
	MOVQ    out_base+0(FP), DI
	MOVQ    digits_base+24(FP), SI
	MOVQ    digits_len+32(FP), R8
	LEAQ    -32(SI)(R8*1), R8  // where the last block begins
	MOVOU   zeroDigit<>(SB), X8
	MOVOU   nine<>(SB), X9
	MOVOU   lowerCase<>(SB), X10
	MOVOU   letterA<>(SB), X11
	MOVOU   five<>(SB), X12
	MOVOU   nibble<>(SB), X13
	MOVOU   firsts<>(SB), X14
	PCMPEQB X7, X7             // all ones: no wrong digit yet

decode:
	MOVOU    0(SI), X0
	MOVOU    16(SI), X1
	VALUES(X0, X7)
	VALUES(X1, X7)
	PAIR(X0)
	PAIR(X1)
	PACKUSWB X1, X0
	MOVOU    X0, (DI)
	CMPQ     SI, R8
	JEQ      decoded
	ADDQ     $32, SI
	ADDQ     $16, DI
	CMPQ     SI, R8
	JLS      decode

	// Less than a block is left: the last one overlaps the one before it.
	SUBQ R8, SI
	SHRQ $1, SI
	SUBQ SI, DI
	MOVQ R8, SI
	JMP  decode

decoded:
	PMOVMSKB X7, AX
	CMPL     AX, $0xffff
	SETEQ    ret+40(FP)
	RET

// func encodeBlocks(out, raw []byte)
TEXT ·encodeBlocks(SB), NOSPLIT, $0-48
	MOVQ  out_base+0(FP), DI
	MOVQ  raw_base+24(FP), SI
	MOVQ  raw_len+32(FP), R8
	LEAQ  -16(SI)(R8*1), R8   // where the last block begins
	MOVOU zeroDigit<>(SB), X8
	MOVOU nine<>(SB), X9
	MOVOU nibble<>(SB), X13
	MOVOU toLetter<>(SB), X14

encode:
	MOVOU     (SI), X0
	MOVO      X0, X1
	PSRLW     $4, X0
	PAND      X13, X0  // first digits
	PAND      X13, X1  // second digits
	MOVO      X0, X2
	PUNPCKLBW X1, X0   // of the first eight bytes, in turns
	PUNPCKHBW X1, X2   // of the last eight
	MOVO      X0, X1
	MOVO      X2, X3
	PCMPGTB   X9, X1   // 10 or more
	PCMPGTB   X9, X3
	PAND      X14, X1
	PAND      X14, X3
	PADDB     X8, X0
	PADDB     X8, X2
	PADDB     X1, X0
	PADDB     X3, X2
	MOVOU     X0, 0(DI)
	MOVOU     X2, 16(DI)
	CMPQ      SI, R8
	JEQ       encoded
	ADDQ      $16, SI
	ADDQ      $32, DI
	CMPQ      SI, R8
	JLS       encode

	// As above.
	SUBQ R8, SI
	SHLQ $1, SI
	SUBQ SI, DI
	MOVQ R8, SI
	JMP  encode

encoded:
	RET
