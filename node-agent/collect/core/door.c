/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out which MPI the process has, loads its collector, and routes calls. */
#include "node-agent/collect/core/door.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "node-agent/collect/core/member.h"
#include "node-agent/collect/core/settings.h"

/* The rank by the launcher's variables: an unknown MPI cannot be asked. */
static int rank_guess(void)
{
	static const char *const names[] = {"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
	const char *value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		value = getenv(names[i]);
		if (value && *value)
			return atoi(value);
	}
	return 0;
}

/* Make a file "rankR.PID.refused-REASON" in the run's folder, if possible: it tells `evspace
 * status` why, as segment_create() does when it cannot make a segment. */
static void door_refuse(const char *reason)
{
	struct settings settings;
	struct error e;
	char path[sizeof(settings.dir) + 80];
	int fd, saved = errno;

	settings_read(&settings);
	if (!settings_folder(&settings, &e)) {
		snprintf(path, sizeof(path), "%s/rank%d.%d.refused-%s", settings.dir, rank_guess(),
			 (int)getpid(), reason);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
	}
	errno = saved;
}

/* In the door because libraries that are loaded later get hardly any such memory (ld.so's
 * rtld.optional_static_tls). */
__thread struct collect_thread collect_self;
__thread uint64_t door_types[DOOR_TYPES_ROOM / 8] __asm__("evspace_door_types")
	__attribute__((visibility("default")));
__thread uint64_t door_comm[DOOR_COMM_ROOM / 8] __asm__("evspace_door_comm")
	__attribute__((visibility("default")));

static const _Atomic uint8_t all_quiet[CHANNEL_MAX] = {[0 ... CHANNEL_MAX - 1] = 1};
const _Atomic uint8_t *_Atomic door_quiet = all_quiet;

void evspace_door_watch(const _Atomic uint8_t *quiet)
{
	atomic_store_explicit(&door_quiet, quiet, memory_order_release);
}

/* Here, because programs look it up before the collector that fills it in is loaded. */
struct evspace_calls evspace_calls_1;
struct evspace_told evspace_told_1;

/* ---- the MPI library ---- */

/* A symbol of the library itself: no tool wraps it. */
#define LIBRARY_MARK "PMPI_Get_library_version"

static void *library_look(void *object, const char *path, void *arg)
{
	(void)path;
	(void)arg;
	return dlsym(object, LIBRARY_MARK) ? object : NULL;
}

/* The library's own handle, since it may have been loaded with RTLD_LOCAL, as by mpi4py. */
static void *library_find(void)
{
	static void *_Atomic library;

	if (!library)
		library = objects_search(library_look, NULL);
	return library;
}

static void *symbol_look(void *object, const char *path, void *arg)
{
	return strstr(path, "/libevspace-") ? NULL : dlsym(object, arg);
}

/* A symbol of a library loaded with RTLD_LOCAL. Fortran's functions are in a separate library. */
static void *library_symbol(const char *name)
{
	void *library = library_find(), *symbol;

	if (!library)
		return NULL;
	symbol = dlsym(library, name);
	if (!symbol && name[0] == 'p')
		symbol = objects_search(symbol_look, (void *)(uintptr_t)name);
	return symbol;
}

void *evspace_door_own(const char *symbol)
{
	/* data: a program that is not position independent may hold the copy in use */
	void *own = dlsym(strncasecmp(symbol, "PMPI", 4) ? RTLD_DEFAULT : RTLD_NEXT, symbol);

	return own ? own : library_symbol(symbol);
}

/* ---- the collector ---- */

/* The MPIs that have a collector, each with a symbol that only it has. */
static const struct {
	const char *symbol, *collector, *without; /* `without` it this is the reason */
} mpis[] = {
	{"ompi_mpi_comm_world", "libevspace-openmpi.so", "no-openmpi"},
	{"MPII_Version_string", "libevspace-mpich.so", "no-mpich"},
};
#define MPIS (sizeof(mpis) / sizeof(mpis[0]))

/* The folder that this library was loaded from. */
static int beside(char *buf, size_t n, const char *name)
{
	Dl_info here;
	const char *slash;

	if (!dladdr(&mpis, &here) || !here.dli_fname)
		return -1;
	slash = strrchr(here.dli_fname, '/');
	if (!slash)
		return -1;
	return (size_t)snprintf(buf, n, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname,
				name) < n
		       ? 0
		       : -1;
}

/** The state of the door, by the MPI in this process. */
enum door_state {
	DOOR_CLOSED,  /* there is none yet */
	DOOR_OPEN,    /* its collector is here */
	DOOR_REFUSED, /* there is none for it: calls pass */
};

static enum door_state door_open(void **collector)
{
	static void *_Atomic handle;
	static _Atomic bool refused;
	char path[PATH_MAX];
	size_t i;

	*collector = handle;
	if (handle || refused)
		return handle ? DOOR_OPEN : DOOR_REFUSED;
	if (!evspace_door_own(LIBRARY_MARK))
		return DOOR_CLOSED;
	for (i = 0; i < MPIS; i++)
		if (evspace_door_own(mpis[i].symbol))
			break;
	/* two threads may do this at once: both get the same handle */
	if (i < MPIS && !beside(path, sizeof(path), mpis[i].collector))
		*collector = handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		return DOOR_OPEN;
	if (!atomic_exchange(&refused, true))
		door_refuse(i < MPIS ? mpis[i].without : "other-mpi");
	return DOOR_REFUSED;
}

/* ---- the ways ---- */

/* Called if there is no MPI. What it returns is no MPI's MPI_SUCCESS. */
static intptr_t closed(void)
{
	return 16;
}

/* Start and end of this library (ld(1)). */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const char *function)
{
	return function >= __ehdr_start && function < _end;
}

/* Does the program's MPI_X come from a tool in front of us? */
static bool is_wrapped_in_front(const char *name)
{
	const char *first = dlsym(RTLD_DEFAULT, name + 1);

	return first && !is_ours(first);
}

/* The collector's MPI_X; NULL: it has none. (dlsym(3) also searches the libraries that it is
 * linked with.) */
static void *wrapper_find(void *collector, const char *name)
{
	void *wrapper = dlsym(collector, name + 1);

	return is_ours(wrapper) ? NULL : wrapper;
}

static struct door_way *way_find(const char *name)
{
	unsigned from = 0, to = door_ways_n;

	while (from < to) {
		unsigned middle = (from + to) / 2;
		int order = strcmp(name, door_ways[middle].name);

		if (!order)
			return &door_ways[middle];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

void evspace_door_take(const char *name, void *function)
{
	struct door_way *way = way_find(name);

	if (way)
		way->taken = function;
}

/* The library's function, or what goes before it. */
static void *library_way(const char *name)
{
	struct door_way *way = way_find(name);
	void *taken = way ? way->taken : NULL;

	return taken ? taken : evspace_door_own(name);
}

/* Tools behind us go before what is taken. */
static void *behind(const char *name)
{
	struct door_way *way = way_find(name);
	void *next = dlsym(RTLD_NEXT, name + 1);

	if (way && way->taken && (!next || next == library_symbol(name + 1)))
		return way->taken;
	return next ? next : evspace_door_own(name);
}

void *evspace_door_next(const char *name)
{
	struct door_way *way = way_find(name);
	void *next = behind(name);

	if (!way || !next)
		return next;
	if (is_wrapped_in_front(name)) {
		way->next = next;
		way->real = library_way(name);
		next = way->onward;
	}
	way->quiet = next;
	return next;
}

void *door_find(unsigned i)
{
	struct door_way *way = &door_ways[i];
	void *find = way->enter, *collector, *to = NULL;

	if (door_open(&collector) == DOOR_OPEN)
		to = wrapper_find(collector, way->name);
	if (!to)
		to = behind(way->name);
	if (to) {
		way->enter = to;
		/* the collector, if it wraps this function, has asked for the next one already */
		atomic_compare_exchange_strong(&way->quiet, &find, to);
	}
	return to ? to : (void *)closed;
}

void *door_find_profiling(unsigned i)
{
	struct door_way *way = &door_ways[i];
	void *collector, *to;
	enum door_state state = door_open(&collector);

	/* only then it is known what the collector has taken */
	to = library_way(way->name);
	if (!to)
		return (void *)closed;
	if (state == DOOR_OPEN && is_wrapped_in_front(way->name)) {
		way->real = to;
		way->wrapper = wrapper_find(collector, way->name);
		if (way->wrapper)
			to = way->inner;
	}
	way->profiling = to;
	return to;
}
