/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of flags that say what is collected: their variables, what is right, their help. */
#include "consumers/cli/flag.h"

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

/* Those without a name are variables alone. */
static const struct {
	const char *name;
	const char *right;
} flags_table[FLAGS] = {
	[FLAG_DIR] = {"", "a path of less than 190 characters"},
	[FLAG_RUN] = {"--run", "a name of at most 63 characters without '/' that does not start "
			       "with '.', but not evspace, which is EventSpace's own"},
	[FLAG_CAPACITY] = {"--capacity",
			   "a number of tuples from 2 to 16777216, or such numbers by channel, as "
			   "p2p=1000,wait=0, 0 being none " CHANNELS},
	[FLAG_ELEMENTS] = {"--elements", "thread, comm, op or site, or one of these by channel, as "
					 "p2p=site,wait=op " CHANNELS},
	[FLAG_LIFETIMES] = {"--lifetimes",
			    "a time such as 90s, 5 (seconds), 500ms or 10m, or times by channel, "
			    "as p2p=10s,wait=500ms, at most a year " CHANNELS},
	[FLAG_MODES] = {"--modes",
			"trace, time, count, sample or off, or one of these by channel, as "
			"p2p=trace,wait=count or all=count,p2p=trace " CHANNELS},
	[FLAG_RESERVE] = {"--reserve", "a number of elements from 1 to 1048576"},
	[FLAG_THREADS] = {"--threads", "a number from 1 to 4096"},
	[FLAG_QUOTA] =
		{"--quota",
		 "a size of at least 64kB, such as 500M, 2G or 64MiB; a number alone is one of "
		 "bytes"},
};

const struct option_row flag_rows[] = {
	{.help = "\nWhat is collected; what no flag says, its variable does, else the map:"},
	{"capacity", "N", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_CAPACITY]),
	 .help = "tuples that each element holds; or by channel, as p2p=1000,wait=0 (0: not "
		 "collected). Default: by the memory that there is, 8000 where most happens, "
		 "200 at least"},
	{"elements", "KIND", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_ELEMENTS]),
	 .help = "what one element is: of a thread (default: thread), or of its communicators "
		 "(comm), operations (op), call sites (site); or by channel, as "
		 "p2p=site,wait=op"},
	{"lifetimes", "TIME", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_LIFETIMES]),
	 .help = "for how long events stay, as 10s (default: until they are overwritten); or "
		 "by channel, as p2p=10s,wait=500ms"},
	{"modes", "MODES", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_MODES]),
	 .help = "what is recorded at first: trace (default), time, count, sample or off; or "
		 "by channel, as all=count,p2p=trace (see evspace collect --help)"},
	{"reserve", "N", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_RESERVE]),
	 .help = "elements that each channel may be split into by --elements (default 256)"},
	{"threads", "N", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_THREADS]),
	 .help = "threads of a process that get elements of their own (default 8)"},
	{"quota", "SIZE", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_QUOTA]),
	 .help = "shared memory that all your runs on a host may take, as 500M or 2G "
		 "(default: a quarter of it). Where it is used up, the oldest runs that have "
		 "ended make way"},
	{.help = "Channels are groups of operations: p2p, collective, wait, completion, comm, env, "
		 "rma, io, user, pack, or all. The variables are EVSPACE_RUN, EVSPACE_CAPACITY, "
		 "EVSPACE_ELEMENTS, EVSPACE_LIFETIMES, EVSPACE_MODES, EVSPACE_RESERVE, "
		 "EVSPACE_THREADS and EVSPACE_QUOTA. Without a flag there are EVSPACE_DIR, the "
		 "folder of all runs, for agents and all commands the same (default "
		 "/dev/shm/evspace-UID, or where that is another user's, /run/user/UID/evspace), "
		 "and EVSPACE_LIB, the collector library."},
	{0},
};

const char *flag_name(enum flag flag)
{
	return flags_table[flag].name;
}

const char *flag_right(enum flag flag)
{
	return flags_table[flag].right;
}
