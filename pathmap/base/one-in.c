/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of words, as maps, variables and commands share them. */
#include "pathmap/base/one-in.h"

#include <stddef.h>
#include <string.h>

static const char *const words[ONE_IN_MOST] = {
	"1/2",	 "1/4",	   "1/8",    "1/16",   "1/32",	 "1/64",    "1/128",   "1/256",
	"1/512", "1/1024", "1/2048", "1/4096", "1/8192", "1/16384", "1/32768", "1/65536",
};

const char *one_in_word(unsigned power)
{
	return power >= 1 && power <= ONE_IN_MOST ? words[power - 1] : NULL;
}

unsigned one_in_find(const char *word)
{
	for (unsigned power = 1; power <= ONE_IN_MOST; power++)
		if (strcmp(words[power - 1], word) == 0)
			return power;
	return 0;
}
