/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of flags that say what is collected: their variables, what is right, their help. */
#include "consumers/cli/flag.h"

#include <stdio.h>

#include "consumers/cli/help.h"

/* What getopt_long(3) returns for the first of them: no character. */
#define FIRST_CODE 512

#define CHANNELS                                                                                 \
	"(channels: p2p, collective, wait, completion, comm, env, rma, io, user, pack; all for " \
	"every one)"

const char *const flag_variables[FLAGS + 1] = {
	[FLAG_DIR] = "EVSPACE_DIR",
	[FLAG_RUN] = "EVSPACE_RUN",
	[FLAG_CAPACITY] = "EVSPACE_CAPACITY",
	[FLAG_ELEMENTS] = "EVSPACE_ELEMENTS",
	[FLAG_LIFETIMES] = "EVSPACE_LIFETIMES",
	[FLAG_MODES] = "EVSPACE_MODES",
	[FLAG_RESERVE] = "EVSPACE_RESERVE",
	[FLAG_THREADS] = "EVSPACE_THREADS",
	[FLAG_QUOTA] = "EVSPACE_QUOTA",
};

/* What is said of each; those without a name are variables alone. */
static const struct {
	const char *name;
	const char *right;
	const char *help;
} flags_table[FLAGS] = {
	[FLAG_DIR] = {"", "a path of less than 190 characters", NULL},
	[FLAG_RUN] =
		{"--run",
		 "a name of at most 63 characters without '/' that does not start with '.', but "
		 "not evspace, which is EventSpace's own",
		 NULL},
	[FLAG_CAPACITY] = {"--capacity",
			   "a number of tuples from 2 to 16777216, or such numbers by channel, as "
			   "p2p=1000,wait=0, 0 being none " CHANNELS,
			   "  --capacity N     tuples that each element holds; or by channel, as\n"
			   "                   p2p=1000,wait=0 (0: not collected). Default: by the "
			   "memory that\n"
			   "                   there is, 8000 where most happens, 200 at least\n"},
	[FLAG_ELEMENTS] =
		{"--elements",
		 "thread, comm, op or site, or one of these by channel, as "
		 "p2p=site,wait=op " CHANNELS,
		 "  --elements KIND  what one element is: of a thread (default: thread), or "
		 "of its\n"
		 "                   communicators (comm), operations (op), call sites "
		 "(site); or by\n"
		 "                   channel, as p2p=site,wait=op\n"},
	[FLAG_LIFETIMES] =
		{"--lifetimes",
		 "a time such as 90s, 5 (seconds), 500ms or 10m, or times by channel, as "
		 "p2p=10s,wait=500ms, at most a year " CHANNELS,
		 "  --lifetimes TIME for how long events stay, as 10s (default: until they "
		 "are\n"
		 "                   overwritten); or by channel, as p2p=10s,wait=500ms\n"},
	[FLAG_MODES] =
		{"--modes",
		 "trace, time, count, sample or off, or one of these by channel, as "
		 "p2p=trace,wait=count or all=count,p2p=trace " CHANNELS,
		 "  --modes MODES    what is recorded at first: trace (default), time, count, "
		 "sample\n"
		 "                   or off; or by channel, as all=count,p2p=trace (see "
		 "evspace\n"
		 "                   collect --help)\n"},
	[FLAG_RESERVE] = {"--reserve", "a number of elements from 1 to 1048576",
			  "  --reserve N      elements that each channel may be split into by "
			  "--elements\n"
			  "                   (default 256)\n"},
	[FLAG_THREADS] = {"--threads", "a number from 1 to 4096",
			  "  --threads N      threads of a process that get elements of their own "
			  "(default 8)\n"},
	[FLAG_QUOTA] =
		{"--quota", "a size such as 500M, 2G, 10kB or 64MiB",
		 "  --quota SIZE     shared memory that all your runs on a host may take, as "
		 "500M\n"
		 "                   or 2G (default: a quarter of it). Where it is used up, the "
		 "oldest\n"
		 "                   runs that have ended make way\n"},
};

const char *flag_name(enum flag flag)
{
	return flags_table[flag].name;
}

const char *flag_right(enum flag flag)
{
	return flags_table[flag].right;
}

void flags_options(struct option table[FLAG_OPTIONS])
{
	size_t n = 0;

	for (int i = 0; i < FLAGS; i++) {
		if (*flags_table[i].name)
			table[n++] = (struct option){.name = flags_table[i].name + 2,
						     .has_arg = required_argument,
						     .val = FIRST_CODE + i};
	}
	table[n] = (struct option){0};
}

bool flags_take(struct flags *flags, int code, const char *value)
{
	if (code < FIRST_CODE || code >= FIRST_CODE + FLAGS)
		return false;
	flags->said[code - FIRST_CODE] = value;
	return true;
}

void flags_help(void)
{
	puts("\nWhat is collected; what no flag says, its variable does, else the map:");
	for (int i = 0; i < FLAGS; i++) {
		if (flags_table[i].help)
			help_print(flags_table[i].help);
	}
	help_print(
		"Channels are groups of operations: p2p, collective, wait, completion, comm, env, "
		"rma,\n"
		"io, user, pack, or all. The variables are EVSPACE_RUN, EVSPACE_CAPACITY,\n"
		"EVSPACE_ELEMENTS, EVSPACE_LIFETIMES, EVSPACE_MODES, EVSPACE_RESERVE, "
		"EVSPACE_THREADS\n"
		"and EVSPACE_QUOTA. Without a flag there are EVSPACE_DIR, the folder of all runs, "
		"for\n"
		"agents and all commands the same (default /dev/shm/evspace-UID, or where that is "
		"another\n"
		"user's, /run/user/UID/evspace), and EVSPACE_LIB, the collector library.\n");
}
