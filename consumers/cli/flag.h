/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags of `run` and `exec` that say what is collected, and the variables that say the same. */
#ifndef EVSPACE_FLAG_H
#define EVSPACE_FLAG_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

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

/** Options that flags_options() makes at most, and the last one that ends a getopt_long(3) table.
 */
#define FLAG_OPTIONS (FLAGS + 1)

/** Write the flags into @table, as getopt_long(3) takes them, and an end behind them. */
void flags_options(struct option table[FLAG_OPTIONS]);

/** Take what getopt_long() returned. False: it is none of these flags. */
bool flags_take(struct flags *flags, int code, const char *value);

/** The part of a --help text that describes the flags and their variables. */
void flags_help(void);

#endif
