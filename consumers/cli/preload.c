/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the collector library, and sets the environment of a monitored program. */
#include "consumers/cli/preload.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/map/active-map.h"
#include "node-agent/collect/core/settings.h"
#include "pathmap/base/folder-base.h"
#include "node-agent/store/store.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/rules.h"
#include "pathmap/plan/steer.h"

#define LIBRARY "libevspace-mpi.so"
/* With a smaller quota, no process has room for anything. */
#define QUOTA_LEAST (64u << 10)

#define LIBRARY_PVM "libevspace-pvm.so"

/* ---- settings ---- */

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
	[FLAG_PROPERTIES] = "EVSPACE_PROPERTIES",
	[FLAG_RANKS] = "EVSPACE_RANKS",
	[FLAG_STEER] = "EVSPACE_STEER",
	[FLAG_THREADS_ONLY] = "EVSPACE_THREADS_ONLY",
	[FLAG_RESERVE] = "EVSPACE_RESERVE",
	[FLAG_THREADS] = "EVSPACE_THREADS",
	[FLAG_QUOTA] = "EVSPACE_QUOTA",
};

/* those without a name can only be set by their variable */
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
	[FLAG_MODES] = {"--modes", "trace, time, count, sample, off, or 1/2 to 1/65536, or one of "
				   "these by channel, as "
				   "p2p=trace,wait=count or all=count,p2p=trace " CHANNELS},
	[FLAG_PROPERTIES] = {"", "what `elements` of an application map is made into"},
	[FLAG_RANKS] = {"--ranks", "a list of ranks, as 0-7,12"},
	[FLAG_STEER] = {"", "what `steer` of a mapping is made into"},
	[FLAG_THREADS_ONLY] = {"", "a number from 1 to 4096"},
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
	 .help = "what is recorded at first: trace (default), time, count, sample, off, or 1/8 "
		 "(one "
		 "event in eight); or "
		 "by channel, as all=count,p2p=trace (see evspace collect --help)"},
	{"ranks", "LIST", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_RANKS]),
	 .help = "only these ranks are collected, as 0-7,12 (default: all); the others cost "
		 "nothing"},
	{"reserve", "N", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_RESERVE]),
	 .help = "elements that each channel may be split into by --elements (default 256)"},
	{"threads", "N", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_THREADS]),
	 .help = "threads of a process that get elements of their own (default 8)"},
	{"quota", "SIZE", OPTION_TEXT, .at = offsetof(struct flags, said[FLAG_QUOTA]),
	 .help = "shared memory that all your runs on a host may take, as 500M or 2G "
		 "(default: a quarter of it). When it is used up, the oldest ended runs are "
		 "removed"},
	{.help = "Channels are groups of operations: p2p, collective, wait, completion, comm, env, "
		 "rma, io, user, pack, or all. The variables are EVSPACE_RUN, EVSPACE_CAPACITY, "
		 "EVSPACE_ELEMENTS, EVSPACE_LIFETIMES, EVSPACE_MODES, EVSPACE_RANKS, "
		 "EVSPACE_RESERVE, "
		 "EVSPACE_THREADS and EVSPACE_QUOTA. Without a flag there are EVSPACE_DIR, the "
		 "folder of all runs, for agents and all commands the same (default "
		 "/dev/shm/evspace-UID, or where that is another user's, /run/user/UID/evspace), "
		 "and EVSPACE_LIB, the collector library."},
	{0},
};

/* ---- the library ---- */

/* Does DIR/libevspace-mpi.so exist? Sets @buf to its path. */
static int library_in(char *buf, size_t n, const char *dir, const char *below)
{
	int length = snprintf(buf, n, "%s%s/" LIBRARY, dir, below);

	return length >= 0 && (size_t)length < n && !access(buf, R_OK);
}

/* In a build tree: in its top, or below libtool's .libs. */
static int library_built(char *buf, size_t n)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0)
		return 0;
	self[length] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	slash = strrchr(self, '/');
	if (slash && !strcmp(slash, "/.libs"))
		*slash = '\0';
	return library_in(buf, n, self, "/.libs");
}

/* ld.so separates paths by blanks and colons (ld.so(8)) */
static int check_path(const char *path, struct error *e)
{
	if (!strpbrk(path, ": \t"))
		return 0;
	errno = EINVAL;
	return errorf(e,
		      "%s: LD_PRELOAD takes no path with a blank or a colon; put the library "
		      "elsewhere and name it in EVSPACE_LIB",
		      path);
}

/* The collector for PVM is next to that for MPI; programs without PVM do not notice it. */
static void add_pvm(char *buf, size_t n)
{
	size_t used = strlen(buf), directory = (size_t)(strrchr(buf, '/') - buf) + 1;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s" LIBRARY_PVM, (int)directory, buf) >= PATH_MAX ||
	    used + strlen(path) + 2 > n || !strcmp(path, buf) || access(path, R_OK))
		return;
	buf[used] = ':';
	memcpy(buf + used + 1, path, strlen(path) + 1);
}

static int library_find(char *buf, size_t n, struct error *e)
{
	const char *named = getenv("EVSPACE_LIB");
	char *absolute;

	if (named && *named) {
		absolute = realpath(named, NULL);
		if (!absolute || strlen(absolute) >= n) {
			free(absolute);
			return errorf(e, "EVSPACE_LIB=%s: %s", named, strerror(errno));
		}
		memcpy(buf, absolute, strlen(absolute) + 1);
		free(absolute);
		return check_path(buf, e);
	}
	if (library_built(buf, n) || library_in(buf, n, PKGLIBDIR, ""))
		return check_path(buf, e);
	errno = ENOENT;
	return errorf(e,
		      "the collector " LIBRARY
		      " is neither in the build tree of this evspace nor in "
		      "%s: install EventSpace, or name the library in EVSPACE_LIB",
		      PKGLIBDIR);
}

int preload_library(char *buf, size_t n, struct error *e)
{
	if (library_find(buf, n, e))
		return -1;
	add_pvm(buf, n);
	return 0;
}

char *preload_value(const char *library, const char *before)
{
	size_t n = strlen(library);
	const char *at;

	if (!before || !*before)
		return memory_copy(library);
	for (at = strstr(before, library); at; at = strstr(at + 1, library))
		if ((at == before || strchr(": ", at[-1])) && (!at[n] || strchr(": ", at[n])))
			return memory_copy(before);
	return memory_format("%s:%s", library, before);
}

/* Is @name in @list, whose names are separated by colons? */
static int is_listed(const char *list, const char *name)
{
	size_t n = strlen(name), length;

	for (;; list += length + 1) {
		length = strcspn(list, ":");
		if (length == n && !memcmp(list, name, n))
			return 1;
		if (!list[length])
			return 0;
	}
}

static char *list_longer(char *list, const char *name)
{
	char *longer;

	if (!getenv(name) || is_listed(list, name))
		return list;
	longer = memory_format("%s%s%s", list, *list ? ":" : "", name);
	free(list);
	return longer;
}

void preload_export(void)
{
	const char *before = getenv("PVM_EXPORT");
	char *list = list_longer(memory_copy(before ? before : ""), "LD_PRELOAD");

	for (const char *const *variable = flag_variables; *variable; variable++)
		list = list_longer(list, *variable);
	setenv("PVM_EXPORT", list, 1);
	free(list);
}

/* ---- the variables ---- */

/* Absolute, since programs change their folder, and launchers start them in another one on other
 * hosts. */
static char *absolute_base(const char *base)
{
	char *here, *path;

	if (!base || base[0] == '/')
		return memory_copy(base);
	here = getcwd(NULL, 0);
	if (!here)
		return memory_copy(base);
	path = memory_format("%s/%s", here, base);
	free(here);
	return path;
}

/* The application map's value for a variable, for the caller to free(); NULL: none. */
static char *map_value(const struct recording *recording, enum flag flag)
{
	switch (flag) {
	case FLAG_CAPACITY:
		if (recording->collected && recording->capacity == 0)
			return NULL;
		return memory_format("%u", recording->collected ? recording->capacity : 0);
	case FLAG_ELEMENTS:
		return memory_copy(recording->element);
	case FLAG_LIFETIMES:
		return memory_format("%" PRIu64 "ns", recording->lifetime_ns);
	default:
		return memory_copy(recording->collected ? recording->mode : "off");
	}
}

/* "p2p=1000,collective=500,…", from the application map */
static char *map_values(const struct pathmap *map, enum flag flag)
{
	char *text = memory_copy(""), *longer, *value;
	const char *const *names;
	size_t n = pathmap_channels(&names);

	for (size_t i = 0; i < n; i++) {
		value = map_value(pathmap_recording(map, names[i]), flag);
		if (!value)
			continue;
		longer = memory_format("%s%s%s=%s", text, *text ? "," : "", names[i], value);
		free(value);
		free(text);
		text = longer;
	}
	return text;
}

/* The same of all that a map may say. What of elements by name @values say of all is left out. */
static char *map_said(const struct preload_options *options, enum flag flag,
		      char *const values[FLAGS])
{
	const struct pathmap *map = options->map;
	unsigned threads = pathmap_only_threads(map);
	char *text = NULL;

	switch (flag) {
	case FLAG_PROPERTIES:
		return rules_text(map, (values[FLAG_CAPACITY] ? 0 : RULES_CAPACITY) |
					       (values[FLAG_LIFETIMES] ? 0 : RULES_LIFETIME) |
					       (values[FLAG_MODES] ? 0 : RULES_MODE));
	case FLAG_RANKS:
		return pathmap_only_ranks(map);
	case FLAG_STEER:
		/* it can be made: pathmap_load() has tried */
		if (options->whole)
			(void)steer_text(map, &text, NULL);
		return text;
	case FLAG_THREADS_ONLY:
		return threads ? memory_format("%u", threads) : NULL;
	default:
		return map_values(map, flag);
	}
}

static void put(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static bool is_understood(enum flag flag, const char *value, struct settings *settings)
{
	put(flag_variables[flag], value);
	settings_read(settings);
	return !(settings->note & SEGMENT_NOTE_SETTINGS) &&
	       (flag != FLAG_QUOTA || !settings->quota || settings->quota >= QUOTA_LEAST);
}

/* "p2p=fast" of "wait=off,p2p=fast": the part that is wrong by itself, for the caller to free(), or
 * NULL. */
static char *wrong_part(enum flag flag, const char *value)
{
	struct settings settings;
	char *list = memory_copy(value), *rest = list, *part, *wrong = NULL;

	while (!wrong && strchr(value, ',') && (part = strsep(&rest, ",")))
		if (!*part || !is_understood(flag, part, &settings))
			wrong = memory_format("'%s' is ", part);
	free(list);
	return wrong;
}

/* Try each alone, to find out which one is wrong. */
static int check_each(char *const values[FLAGS], const char *const flags[FLAGS],
		      struct settings *settings, struct error *e)
{
	char *wrong;
	int i;

	for (i = 0; i < FLAGS; i++)
		unsetenv(flag_variables[i]);
	for (i = 0; i < FLAGS; i++) {
		if (is_understood((enum flag)i, values[i], settings))
			continue;
		wrong = wrong_part((enum flag)i, values[i]);
		errno = EINVAL;
		errorf(e, "%s%s%s: %snot understood; it must be %s",
		       flags[i] ? flags_table[i].name : flag_variables[i], flags[i] ? " " : "=",
		       values[i], wrong ? wrong : "", flags_table[i].right);
		free(wrong);
		return -1;
	}
	return 0;
}

int preload_settings(const struct preload_options *options, struct settings *settings,
		     struct error *e)
{
	const char *const *flags = options->flags.said;
	char *values[FLAGS];
	const char *set;
	int i, rc;

	for (i = 0; i < FLAGS; i++) {
		set = flags[i] ? flags[i] : getenv(flag_variables[i]);
		values[i] = i == FLAG_DIR ? absolute_base(set && *set ? set : NULL)
					  : memory_copy(set && *set ? set : NULL);
	}
	for (i = FLAG_THREADS_ONLY; options->map && i >= FLAG_CAPACITY; i--)
		if (!values[i])
			values[i] = map_said(options, (enum flag)i, values);
	rc = check_each(values, flags, settings, e);
	for (i = 0; i < FLAGS; i++)
		free(values[i]);
	return rc;
}

void preload_folder_tell(const char *command)
{
	struct error why;
	char base[256];

	if (folder_base(base, sizeof(base), &why) == 1)
		fprintf(stderr, "evspace %s: %s\n", command, why.text);
}

struct pathmap *preload_pathmap(const char *command, const char *dir, struct error *e)
{
	char base[200], *note = NULL;
	struct pathmap *map;

	if (!folder_base_path(base, sizeof(base), e))
		return NULL;
	map = active_map_pathmap(base, dir, stderr, &note, e);
	if (note)
		fprintf(stderr, "evspace %s: %s\n", command, note);
	free(note);
	return map;
}
