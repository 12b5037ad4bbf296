/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the EVSPACE_ variables with libc alone and prepares the folder for the segment. */
#include "node-agent/collect/core/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/base/folder-base.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/interval.h"
#include "pathmap/base/quantity.h"
#include "tree/data/op.h"
#include "tree/data/span.h"

/* Sets @value for @channel. False: it is not valid. */
typedef bool value_set(struct settings *s, int channel, const char *value);

static bool capacity_set(struct settings *s, int channel, const char *value)
{
	unsigned n;

	if (quantity_count(value, 0, SETTINGS_CAPACITY_MAX, &n, NULL) < 0)
		return false;
	if (n == 0)
		s->modes[channel] = MODE_OFF;
	else
		s->capacity[channel] = n;
	/* capacity - 1 tuples are readable, so 1 would hold none */
	return n != 1;
}

static bool mode_set(struct settings *s, int channel, const char *value)
{
	int mode = segment_mode_find(value);

	s->modes[channel] = (uint8_t)mode;
	return mode >= 0;
}

static bool split_set(struct settings *s, int channel, const char *value)
{
	int split = segment_split_find(value);

	s->split[channel] = (uint8_t)split;
	return split >= 0;
}

static bool lifetime_set(struct settings *s, int channel, const char *value)
{
	uint64_t ns;

	if (quantity_duration(value, QUANTITY_SECONDS, &ns, NULL) < 0 || ns > SETTINGS_LIFETIME_MAX)
		return false;
	s->lifetime_ns[channel] = ns;
	return true;
}

/* Reads "CHANNEL=VALUE", or "all=VALUE" for all channels; "VALUE" alone if it is the whole list. */
static bool item_read(struct settings *s, const char *item, size_t n, bool whole, value_set *set)
{
	char text[32], *value;
	int channel;

	if (n >= sizeof(text))
		return false;
	memcpy(text, item, n);
	text[n] = '\0';
	value = strchr(text, '=');
	if (!value && !whole)
		return false;
	if (value)
		*value++ = '\0';
	if (!value || strcmp(text, "all") == 0) {
		for (channel = 0; channel < CHANNEL_PROGRAMS; channel++)
			if (!set(s, channel, value ? value : text))
				return false;
		return true;
	}
	channel = channel_find(text);
	return channel >= 0 && channel < CHANNEL_PROGRAMS && set(s, channel, value);
}

/* Reads the variable's items, separated by commas. @s changes only if all are valid. */
static bool list_read(struct settings *s, const char *text, value_set *set)
{
	struct settings new = *s;
	bool only = !strchr(text, ',');
	size_t n;

	for (;; text += n + 1) {
		n = strcspn(text, ",");
		if (!item_read(&new, text, n, only, set))
			return false;
		if (!text[n])
			break;
	}
	*s = new;
	return true;
}

static bool bytes_read(const char *text, uint64_t *out)
{
	return quantity_bytes(text, out, NULL) == 0 && *out > 0;
}

static bool count_read(const char *text, uint32_t max, uint32_t *out)
{
	return quantity_count(text, 1, max, out, NULL) == 0;
}

/* Is it "0-7,12"? */
static bool ranks_read(const char *text, const char **out)
{
	const char *at = text;
	struct interval next;
	bool good = true;

	while (good && interval_next(&at, &next))
		good = next.from < next.to;
	if (!good || *at || at[-1] == ',')
		return false;
	*out = text;
	return true;
}

bool settings_have_rank(const struct settings *settings, int32_t rank)
{
	const char *at = settings->ranks;
	struct interval next;
	bool have = !at;

	while (!have && interval_next(&at, &next))
		have = rank >= 0 && (uint64_t)rank >= next.from && (uint64_t)rank < next.to;
	return have;
}

/* Reads a run's name; that of the monitors (tree/data/span.h) is not allowed. */
static bool run_read(const char *text, char *out, size_t n)
{
	if (strcmp(text, SPAN_RUN) == 0 || !folder_is_run(text) || strlen(text) >= n)
		return false;
	memcpy(out, text, strlen(text) + 1);
	return true;
}

void settings_job_pvm(char *out, size_t n)
{
	const char *machine = getenv("PVM_VMID");
	bool named = machine && *machine;

	/* a user has one unnamed virtual machine, and any number of named ones */
	snprintf(out, n, "pvm-%u%s%s", (unsigned)geteuid(), named ? "-" : "", named ? machine : "");
}

/* Reads the file PATH/NAME as a string. Returns its length, or -1. */
static ssize_t file_read(const char *path, const char *name, char *out, size_t n)
{
	char file[64];
	ssize_t got;
	int fd;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, out, n - 1);
	close(fd);
	if (got >= 0)
		out[got] = '\0';
	return got;
}

/* Makes "hydra-HOST-PORT" of "hydra_pmi_proxy --control-port HOST:PORT … --pgid 0" (words ended
 * by 0), with ".1" and so on appended for what was spawned later. False: it is no such command. */
static bool hydra_read(const char *words, const char *end, char *out, size_t n)
{
	const char *name = strrchr(words, '/'), *port = NULL, *group = "0", *word;

	if (strcmp(name ? name + 1 : words, "hydra_pmi_proxy") != 0)
		return false;
	for (word = words; word < end; word += strlen(word) + 1) {
		const char *value = word + strlen(word) + 1;

		if (value < end && !strcmp(word, "--control-port"))
			port = value;
		else if (value < end && !strcmp(word, "--pgid"))
			group = value;
	}
	if (!port)
		return false;
	snprintf(out, n, "hydra-%s%s%s", port, strcmp(group, "0") ? "." : "",
		 strcmp(group, "0") ? group : "");
	for (; *out; out++)
		if (*out == ':' || *out == '/')
			*out = '-';
	return true;
}

/*
 * MPICH's Hydra gives its processes no job name. But a proxy on each host starts them, and its
 * arguments say where mpiexec listens, which is the same on all hosts. Scripts may be in between.
 */
static bool hydra_find(char *out, size_t n)
{
	char path[32] = "/proc/self", text[4096];
	const char *after;
	ssize_t got;
	int parent;

	for (int level = 0; level < 6 && getenv("PMI_FD"); level++) {
		if (file_read(path, "stat", text, sizeof(text)) < 0)
			return false;
		/* proc(5): the name, in brackets, may hold any character */
		after = strrchr(text, ')');
		if (!after || sscanf(after, ") %*c %d", &parent) != 1 || parent <= 1)
			return false;
		snprintf(path, sizeof(path), "/proc/%d", parent);
		got = file_read(path, "cmdline", text, sizeof(text));
		if (got > 0 && hydra_read(text, text + got, out, n))
			return true;
	}
	return false;
}

/* Reads the launcher's name of the job: PVM's if a pvmd has started this process, else PMIx's
 * (Open MPI, Slurm with pmix), MPICH's Hydra's, or Slurm's own numbers. */
static void job_read(char *out, size_t n)
{
	const char *job = getenv("PMIX_NAMESPACE");
	const char *slurm = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");

	if (getenv("PVMEPID"))
		settings_job_pvm(out, n);
	else if (job)
		snprintf(out, n, "%s", job);
	else if (hydra_find(out, n))
		return;
	else if (slurm)
		snprintf(out, n, "slurm-%s.%s", slurm, step ? step : "0");
	else
		out[0] = '\0';
}

static void run_default(struct settings *s)
{
	if (s->job[0])
		snprintf(s->run, sizeof(s->run), "run-%.59s", s->job);
	else
		snprintf(s->run, sizeof(s->run), "run-%d", (int)getppid());
	for (char *p = s->run; *p; p++)
		if (*p == '/')
			*p = '-';
}

/* Reads "1a2b3c4d.run" from the processes that spawned this one. Returns their run, or NULL. */
static const char *parent_read(const char *text, uint32_t *id)
{
	char *end;
	unsigned long n;

	if (!text)
		return NULL;
	n = strtoul(text, &end, 16);
	if (end != text + 8 || *end != '.')
		return NULL;
	*id = (uint32_t)n;
	return end + 1;
}

/* The variable's value, NULL when it is unset or empty. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

void settings_read(struct settings *out)
{
	settings_read_job(out, NULL);
}

void settings_read_job(struct settings *out, const char *job)
{
	struct settings s = {.note = 0};
	const char *text, *parents_run;
	bool good = true;

	if (job)
		snprintf(s.job, sizeof(s.job), "%s", job);
	else
		job_read(s.job, sizeof(s.job));
	if (folder_base(s.base, sizeof(s.base), NULL) < 0) {
		good = false;
		folder_base_of(&(struct folder_wish){NULL, getenv("XDG_RUNTIME_DIR")}, s.base,
			       sizeof(s.base), NULL);
	}
	parents_run = parent_read(getenv(SETTINGS_PARENT), &s.parent);
	text = variable("EVSPACE_RUN");
	if (!text)
		text = parents_run;
	if (!text || !run_read(text, s.run, sizeof(s.run))) {
		good = good && !text;
		run_default(&s);
	}
	text = variable("EVSPACE_CAPACITY");
	good = good && (!text || list_read(&s, text, capacity_set));
	text = variable("EVSPACE_MODES");
	good = good && (!text || list_read(&s, text, mode_set));
	text = variable("EVSPACE_ELEMENTS");
	good = good && (!text || list_read(&s, text, split_set));
	text = variable("EVSPACE_LIFETIMES");
	good = good && (!text || list_read(&s, text, lifetime_set));
	text = variable("EVSPACE_RANKS");
	good = good && (!text || ranks_read(text, &s.ranks));
	text = variable("EVSPACE_THREADS_ONLY");
	good = good && (!text || count_read(text, SETTINGS_THREADS_MAX, &s.only_threads));
	text = variable("EVSPACE_RESERVE");
	good = good && (!text || count_read(text, SETTINGS_RESERVE_MAX, &s.reserve));
	text = variable("EVSPACE_THREADS");
	good = good && (!text || count_read(text, SETTINGS_THREADS_MAX, &s.threads));
	text = variable("EVSPACE_QUOTA");
	if (text && !bytes_read(text, &s.quota)) {
		good = false;
		s.quota = 0;
	}
	snprintf(s.dir, sizeof(s.dir), "%s/%s", s.base, s.run);
	if (!good)
		s.note = SEGMENT_NOTE_SETTINGS;
	*out = s;
}

/* Opens the folder @name below @at, made if it is missing. Returns a descriptor, or -1 with @e. */
static int folder_make(int at, const char *name, const char *path, struct error *e)
{
	struct stat st;
	int fd;

	if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return errorf(e, "cannot make the folder %s: %s; set EVSPACE_DIR", path,
			      strerror(errno));
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errorf(e, "cannot open the folder %s: %s; set EVSPACE_DIR", path,
			      strerror(errno));
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	close(fd);
	errno = EACCES;
	return errorf(e,
		      "the folder %s belongs to another user or can be written by others; set "
		      "EVSPACE_DIR",
		      path);
}

int settings_folder(const struct settings *settings, struct error *e)
{
	int base = folder_make(AT_FDCWD, settings->base, settings->base, e), run, saved;

	if (base < 0)
		return -1;
	run = folder_make(base, settings->run, settings->dir, e);
	saved = errno;
	close(base);
	if (run >= 0)
		close(run);
	errno = saved;
	return run < 0 ? -1 : 0;
}
