/* SPDX-License-Identifier: BSD-3-Clause */
/* OTF2 (score-p.org), by its own library: locations for threads, regions for operations, MPI
 * records with their communicators. An object of its own, as nothing else needs that library. */
#include <errno.h>
#include <otf2/otf2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "consumers/keep/export.h"

__attribute__((visibility("default"))) export_otf2_function export_otf2;

#define OPS 65536u
/* Bytes of the longest name of a process. */
#define NAME_MOST 512
/* Bytes that the library gathers for a location, and for definitions, before it writes. */
#define CHUNK_EVENTS ((uint64_t)1 << 20)
#define CHUNK_DEFS   ((uint64_t)4 << 20)

struct writing {
	struct trace_run *trace;
	trace_name_function *name;
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_EvtWriter *events; /* of the present thread */
	int32_t rank;		/* its */
	uint64_t *counts;	/* events by thread */
	uint32_t n_strings;
	uint32_t region[OPS]; /* of an operation, from 1; 0: none */
	uint32_t n_regions;
	uint32_t world; /* the communicator of all ranks, by place */
	int32_t ranks;	/* world ranks: 0 to this less 1 */
	OTF2_ErrorCode failed;
	struct error walked; /* what is wrong with what was to be written */
};

static void check(struct writing *w, OTF2_ErrorCode code)
{
	if (w->failed == OTF2_SUCCESS)
		w->failed = code;
}

/* ---- what the library asks for ---- */

static OTF2_FlushType on_flush(void *data, OTF2_FileType type, OTF2_LocationRef location,
			       void *caller, bool final)
{
	(void)data;
	(void)type;
	(void)location;
	(void)caller;
	(void) final;
	return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
	(void)type;
	(void)location;
	return (OTF2_TimeStamp)((const struct writing *)data)->trace->to_ns;
}

/* What went wrong first, of which those that have asked for it say less. */
static OTF2_ErrorCode first_error;

static OTF2_ErrorCode on_error(void *data, const char *file, uint64_t line, const char *function,
			       OTF2_ErrorCode code, const char *format, va_list args)
{
	(void)data;
	(void)file;
	(void)line;
	(void)function;
	(void)format;
	(void)args;
	if (first_error == OTF2_SUCCESS)
		first_error = code;
	return code;
}

/* ---- communicators ---- */

/* Are all its members of this world? */
static bool is_known(const struct trace_comm *comm)
{
	size_t i = 0;

	while (i < comm->n && comm->members[i] >= 0)
		i++;
	return i == comm->n;
}

/* The place of the communicator, w->world if its members are not known. */
static uint32_t comm_of(const struct writing *w, uint32_t id, const struct trace_comm **found)
{
	uint32_t place = 0;

	for (*found = w->trace->comms; *found; *found = (*found)->hh.next, place++) {
		if ((*found)->id == id && is_known(*found))
			return place;
	}
	return w->world;
}

/* And that of the world rank @rank in it. */
static uint32_t peer_of(const struct writing *w, uint32_t id, int32_t rank, uint32_t *in)
{
	const struct trace_comm *comm;
	uint32_t place = comm_of(w, id, &comm);

	for (size_t i = 0; comm && i < comm->n; i++) {
		*in = (uint32_t)i;
		if (comm->members[i] == rank)
			return place;
	}
	*in = rank < 0 ? 0 : (uint32_t)rank;
	return w->world;
}

/* ---- events ---- */

static uint32_t collective_of(uint16_t op)
{
	static const unsigned char kinds[] = {OTF2_COLLECTIVE_OP_BARRIER,
					      OTF2_COLLECTIVE_OP_BCAST,
					      OTF2_COLLECTIVE_OP_GATHER,
					      OTF2_COLLECTIVE_OP_GATHERV,
					      OTF2_COLLECTIVE_OP_SCATTER,
					      OTF2_COLLECTIVE_OP_SCATTERV,
					      OTF2_COLLECTIVE_OP_ALLGATHER,
					      OTF2_COLLECTIVE_OP_ALLGATHERV,
					      OTF2_COLLECTIVE_OP_ALLTOALL,
					      OTF2_COLLECTIVE_OP_ALLTOALLV,
					      OTF2_COLLECTIVE_OP_ALLTOALLW,
					      OTF2_COLLECTIVE_OP_REDUCE,
					      OTF2_COLLECTIVE_OP_ALLREDUCE,
					      OTF2_COLLECTIVE_OP_REDUCE_SCATTER,
					      OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
					      OTF2_COLLECTIVE_OP_SCAN,
					      OTF2_COLLECTIVE_OP_EXSCAN};

	/* MPI_Barrier to MPI_Exscan of tree/data/ops.tab, whose numbers never change */
	return op >= 200 && op < 200 + sizeof(kinds) ? kinds[op - 200] : UINT32_MAX;
}

static void on_enter(void *arg, int64_t ns, const struct trace_event *ev)
{
	struct writing *w = arg;

	check(w, OTF2_EvtWriter_Enter(w->events, NULL, (uint64_t)ns, w->region[ev->op] - 1));
	if (collective_of(ev->op) != UINT32_MAX)
		check(w, OTF2_EvtWriter_MpiCollectiveBegin(w->events, NULL, (uint64_t)ns));
}

/* Whether it is at the root's end. Of two sides it is the one that knows no root. */
static bool is_at_root(const struct writing *w, const struct trace_event *ev, bool apart)
{
	uint32_t place;

	if (apart)
		return ev->root < 0;
	(void)peer_of(w, ev->comm, w->rank, &place);
	return place == (uint32_t)ev->root;
}

/* What it has sent and received of its bytes: where there is a root, that is at one end alone. */
struct volume {
	uint64_t sent, received;
};

static struct volume volume_of(const struct writing *w, const struct trace_event *ev, uint32_t kind,
			       bool apart)
{
	struct volume v = {ev->bytes, ev->bytes};
	const bool down = kind == OTF2_COLLECTIVE_OP_BCAST || kind == OTF2_COLLECTIVE_OP_SCATTER ||
			  kind == OTF2_COLLECTIVE_OP_SCATTERV;
	const bool up = kind == OTF2_COLLECTIVE_OP_REDUCE || kind == OTF2_COLLECTIVE_OP_GATHER ||
			kind == OTF2_COLLECTIVE_OP_GATHERV;

	if ((!down && !up) || (ev->root < 0 && !apart))
		return v;
	*(is_at_root(w, ev, apart) == down ? &v.received : &v.sent) = 0;
	return v;
}

static void on_leave(void *arg, int64_t ns, const struct trace_event *ev)
{
	struct writing *w = arg;
	const struct trace_comm *found;
	uint32_t kind = collective_of(ev->op), comm = comm_of(w, ev->comm, &found);
	/* of two sides a root is none of the places among all members */
	const bool apart = found && found->apart;
	struct volume v = volume_of(w, ev, kind, apart);

	if (kind != UINT32_MAX)
		check(w, OTF2_EvtWriter_MpiCollectiveEnd(
				 w->events, NULL, (uint64_t)ns, (OTF2_CollectiveOp)kind, comm,
				 ev->root < 0 || apart ? OTF2_COLLECTIVE_ROOT_NONE
						       : (uint32_t)ev->root,
				 v.sent, v.received));
	check(w, OTF2_EvtWriter_Leave(w->events, NULL, (uint64_t)ns, w->region[ev->op] - 1));
}

static void on_message(void *arg, int64_t ns, const struct trace_event *ev)
{
	struct writing *w = arg;
	uint32_t peer, comm = peer_of(w, ev->comm, ev->peer, &peer);

	if (ev->message == MESSAGE_SENT)
		check(w, OTF2_EvtWriter_MpiSend(w->events, NULL, (uint64_t)ns, peer, comm,
						ev->seq_or_tag, ev->bytes));
	else
		check(w, OTF2_EvtWriter_MpiRecv(w->events, NULL, (uint64_t)ns, peer, comm,
						ev->seq_or_tag, ev->bytes));
}

/* They are numbered in order of their definitions. */
static void regions_number(struct writing *w)
{
	for (uint32_t op = 0; op < OPS; op++) {
		if (w->trace->ops[op])
			w->region[op] = ++w->n_regions;
	}
}

/* What is wrong is in w->failed. */
static int on_begin(void *arg, const struct trace_thread *thread, struct error *e)
{
	struct writing *w = arg;

	(void)e;
	w->rank = thread->rank;
	w->events = OTF2_Archive_GetEvtWriter(w->archive, thread->place);
	if (!w->events)
		check(w, OTF2_ERROR_MEM_FAULT);
	return w->failed == OTF2_SUCCESS ? 0 : -1;
}

static int on_end(void *arg, const struct trace_thread *thread, struct error *e)
{
	struct writing *w = arg;

	(void)e;
	check(w, OTF2_EvtWriter_GetNumberOfEvents(w->events, &w->counts[thread->place]));
	check(w, OTF2_Archive_CloseEvtWriter(w->archive, w->events));
	return w->failed == OTF2_SUCCESS ? 0 : -1;
}

static void events_write(struct writing *w, trace_walk_function *walk)
{
	const struct trace_visitor visitor = {on_begin, on_end, on_enter, on_leave, on_message, w};

	check(w, OTF2_Archive_OpenEvtFiles(w->archive));
	if (walk(w->trace, &visitor, &w->walked) < 0)
		check(w, OTF2_ERROR_EIO);
	check(w, OTF2_Archive_CloseEvtFiles(w->archive));
}

/* ---- definitions ---- */

static uint32_t string(struct writing *w, const char *text)
{
	check(w, OTF2_GlobalDefWriter_WriteString(w->definitions, w->n_strings, text));
	return w->n_strings++;
}

static void regions_write(struct writing *w)
{
	uint32_t none = string(w, ""), name;

	for (uint32_t number = 1; number <= w->n_regions; number++) {
		unsigned op = 0;

		while (w->region[op] != number)
			op++;
		name = string(w, w->name(w->trace, (uint16_t)op));
		check(w, OTF2_GlobalDefWriter_WriteRegion(w->definitions, number - 1, name, name,
							  none, OTF2_REGION_ROLE_FUNCTION,
							  op < 1000 ? OTF2_PARADIGM_MPI
								    : OTF2_PARADIGM_USER,
							  OTF2_REGION_FLAG_NONE, none, 0, 0));
	}
}

/* How much of a thread's name is its process's: all but the last part. */
static int process_bytes(const struct trace_thread *t)
{
	const char *end = strrchr(t->name, '/');

	return end ? (int)(end - t->name) : (int)strlen(t->name);
}

/* Has the thread the process of @other, which is before it? */
static bool same_process(const struct trace_thread *t, const struct trace_thread *other)
{
	int n = process_bytes(t);

	return other && n == process_bytes(other) && strncmp(t->name, other->name, (size_t)n) == 0;
}

static void process_write(struct writing *w, uint32_t group, const struct trace_thread *t)
{
	char name[NAME_MOST];

	snprintf(name, sizeof(name), "%.*s", process_bytes(t), t->name);
	check(w, OTF2_GlobalDefWriter_WriteLocationGroup(w->definitions, group, string(w, name),
							 OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
							 OTF2_UNDEFINED_LOCATION_GROUP));
}

/* The thread of each rank that communicates: its first. */
static void locations_write(struct writing *w, uint64_t *location)
{
	uint32_t machine = string(w, "machine"), groups = 0;
	const struct trace_thread *before = NULL;
	int32_t last = -1;

	check(w, OTF2_GlobalDefWriter_WriteSystemTreeNode(w->definitions, 0, machine, machine,
							  OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (const struct trace_thread *t = w->trace->threads; t; t = t->hh.next) {
		uint32_t place = t->place;

		if (!same_process(t, before))
			process_write(w, groups++, t);
		before = t;
		if (t->rank >= 0 && t->rank != last && t->rank < w->ranks)
			location[t->rank] = place;
		last = t->rank;
		check(w, OTF2_GlobalDefWriter_WriteLocation(
				 w->definitions, place, string(w, t->name),
				 OTF2_LOCATION_TYPE_CPU_THREAD, w->counts[place], groups - 1));
	}
}

static void comm_write(struct writing *w, uint32_t place, uint32_t parent, const char *name,
		       uint64_t *members, size_t n)
{
	uint32_t text = string(w, name);

	check(w, OTF2_GlobalDefWriter_WriteGroup(w->definitions, place + 1, text,
						 OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
						 OTF2_GROUP_FLAG_NONE, (uint32_t)n, members));
	check(w, OTF2_GlobalDefWriter_WriteComm(w->definitions, place, text, place + 1, parent,
						OTF2_COMM_FLAG_NONE));
}

static void comms_write(struct writing *w, const uint64_t *location)
{
	size_t most = (size_t)w->ranks, n;
	const struct trace_comm *of;
	uint64_t *members;
	uint32_t place = 0, parent;
	char name[32];

	for (const struct trace_comm *c = w->trace->comms; c; c = c->hh.next)
		most = c->n > most ? c->n : most;
	members = calloc(most + 1, sizeof(*members));
	if (!members)
		abort();
	check(w, OTF2_GlobalDefWriter_WriteGroup(
			 w->definitions, 0, string(w, "ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
			 OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t)w->ranks, location));
	for (const struct trace_comm *c = w->trace->comms; c; c = c->hh.next, place++) {
		for (n = 0; n < c->n; n++)
			members[n] = c->members[n] >= 0 && c->members[n] < w->ranks
					     ? (uint64_t)c->members[n]
					     : 0;
		snprintf(name, sizeof(name), c->world ? "MPI_COMM_WORLD" : "comm %08x", c->id);
		parent = comm_of(w, c->parent, &of);
		comm_write(w, place, of ? parent : OTF2_UNDEFINED_COMM, name, members, n);
	}
	for (n = 0; n < (size_t)w->ranks; n++)
		members[n] = n;
	comm_write(w, w->world, OTF2_UNDEFINED_COMM, "all ranks", members, n);
	free(members);
}

static void definitions_write(struct writing *w)
{
	const struct trace_run *t = w->trace;
	uint64_t *location = calloc((size_t)w->ranks + 1, sizeof(*location));
	uint32_t text;

	w->definitions = OTF2_Archive_GetGlobalDefWriter(w->archive);
	if (!location)
		abort();
	if (w->definitions) {
		check(w, OTF2_GlobalDefWriter_WriteClockProperties(
				 w->definitions, 1000000000, (uint64_t)t->from_ns,
				 (uint64_t)(t->to_ns - t->from_ns + 1), (uint64_t)t->from_ns));
		text = string(w, "MPI");
		check(w, OTF2_GlobalDefWriter_WriteParadigm(w->definitions, OTF2_PARADIGM_MPI, text,
							    OTF2_PARADIGM_CLASS_PROCESS));
		regions_write(w);
		locations_write(w, location);
		comms_write(w, location);
	} else {
		check(w, OTF2_ERROR_MEM_FAULT);
	}
	free(location);
}

/* Those of each location are empty, and readers want them. */
static void local_definitions_write(struct writing *w)
{
	check(w, OTF2_Archive_OpenDefFiles(w->archive));
	for (uint64_t place = 0; place < w->trace->n_threads; place++) {
		OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(w->archive, place);

		if (writer)
			check(w, OTF2_Archive_CloseDefWriter(w->archive, writer));
	}
	check(w, OTF2_Archive_CloseDefFiles(w->archive));
}

/* Is the file as large as one may be? */
static bool has_limit(const char *out, const char *name)
{
	struct rlimit most;
	struct stat s;
	char path[4096];

	snprintf(path, sizeof(path), "%s/traces%s", out, name);
	return getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
	       stat(path, &s) == 0 && (rlim_t)s.st_size >= most.rlim_cur;
}

/* Its library takes a write that a full disk, or a limit, has cut short for a whole one, or says
 * little of it. Returns NULL: neither is there. */
static const char *disk_is_full(const char *out, size_t threads)
{
	bool limit = has_limit(out, ".def") || has_limit(out, ".otf2");
	struct statvfs s;
	char name[32];

	for (size_t place = 0; place < threads && !limit; place++) {
		snprintf(name, sizeof(name), "/%zu.evt", place);
		limit = has_limit(out, name);
	}
	if (limit)
		return strerror(EFBIG);
	return statvfs(out, &s) == 0 && (geteuid() ? s.f_bavail : s.f_bfree) == 0 ? strerror(ENOSPC)
										  : NULL;
}

const char *export_otf2(struct trace_run *t, const char *out, trace_name_function *name,
			trace_walk_function *walk)
{
	static const OTF2_FlushCallbacks flush = {on_flush, after_flush};
	struct writing *w = calloc(1, sizeof(*w));
	static struct error walked;
	OTF2_ErrorCode failed;
	const char *full;

	if (!w)
		abort();
	w->trace = t;
	w->name = name;
	w->world = (uint32_t)t->n_comms;
	for (const struct trace_thread *thread = t->threads; thread; thread = thread->hh.next)
		w->ranks = thread->rank >= w->ranks ? thread->rank + 1 : w->ranks;
	w->counts = calloc(t->n_threads + 1, sizeof(*w->counts));
	if (!w->counts)
		abort();
	OTF2_Error_RegisterCallback(on_error, NULL);
	first_error = OTF2_SUCCESS;
	w->archive = OTF2_Archive_Open(out, "traces", OTF2_FILEMODE_WRITE, CHUNK_EVENTS, CHUNK_DEFS,
				       OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	t->begun = w->archive != NULL;
	if (w->archive) {
		check(w, OTF2_Archive_SetFlushCallbacks(w->archive, &flush, w));
		check(w, OTF2_Archive_SetSerialCollectiveCallbacks(w->archive));
		regions_number(w);
		events_write(w, walk);
		local_definitions_write(w);
		definitions_write(w);
		check(w, OTF2_Archive_Close(w->archive));
	} else {
		w->failed = OTF2_ERROR_FILE_CAN_NOT_OPEN;
	}
	failed = w->failed;
	walked = w->walked;
	free(w->counts);
	free(w);
	if (walked.text[0])
		return walked.text;
	full = disk_is_full(out, t->n_threads);
	if (failed == OTF2_SUCCESS || full)
		return full;
	return OTF2_Error_GetDescription(first_error == OTF2_SUCCESS ? failed : first_error);
}
