/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags of `run` and `exec` that say what is collected, and the variables that say the same. */
#ifndef EVSPACE_FLAG_H
#define EVSPACE_FLAG_H

#include "consumers/cli/options.h"

/** What collectors read from their environment. */
enum flag {
	FLAG_DIR,
	FLAG_RUN,
	FLAG_CAPACITY, /* from here to … */
	FLAG_ELEMENTS,
	FLAG_LIFETIMES,
	FLAG_MODES, /* … here an application map may say it, too */
	FLAG_RESERVE,
	FLAG_THREADS,
	FLAG_QUOTA,
	FLAGS
};

/** What was said on the command line; NULL: nothing. Borrowed texts. */
struct flags {
	const char *said[FLAGS];
};

/** Names of the variables, by enum flag, ended by NULL. */
extern const char *const flag_variables[FLAGS + 1];

/** "--capacity"; "" where there is the variable alone. */
const char *flag_name(enum flag flag);

/** What would be right: "a number from 1 to 4096". */
const char *flag_right(enum flag flag);

/** The flags as options of a command, but for --run, which means something else in each; what they
 * say goes into a struct flags. */
extern const struct option_row flag_rows[];

#endif
