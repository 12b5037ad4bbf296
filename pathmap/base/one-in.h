/* SPDX-License-Identifier: BSD-3-Clause */
/* The words for recording one event in n, n a power of two: "1/2" to "1/65536". */
#ifndef EVSPACE_ONE_IN_H
#define EVSPACE_ONE_IN_H

/** The largest exponent: one event in 2^16. */
#define ONE_IN_MOST 16u

/** The word for one in 2^@power ("1/8" for 3), from 1 to ONE_IN_MOST; else NULL. Static. */
const char *one_in_word(unsigned power);

/** The power that @word is for, or 0: it is no such word. */
unsigned one_in_find(const char *word);

#endif
