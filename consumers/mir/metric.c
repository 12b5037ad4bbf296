/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue of metrics, as one table. */
#include "consumers/mir/metric.h"

#include <string.h>

#define ALL {{NULL, false}}, 1

#define SENDS                                                                                \
	"MPI_Send|MPI_Bsend|MPI_Ssend|MPI_Rsend|MPI_Isend|MPI_Ibsend|MPI_Issend|MPI_Irsend|" \
	"MPI_Sendrecv|MPI_Sendrecv_replace|MPI_Isendrecv|MPI_Isendrecv_replace|pvm_send|"    \
	"pvm_psend|pvm_mcast|pvm_bcast"
#define LATER_SENDS "MPI_Send_init|MPI_Bsend_init|MPI_Ssend_init|MPI_Rsend_init|MPI_Psend_init"
#define WAITED	    "MPI_Recv|MPI_Mrecv|pvm_recv|pvm_trecv|pvm_precv|pvm_nrecv"
#define LATER_RECEIVES                                                                         \
	"MPI_Irecv|MPI_Imrecv|MPI_Recv_init|MPI_Precv_init|MPI_Sendrecv|MPI_Sendrecv_replace|" \
	"MPI_Isendrecv|MPI_Isendrecv_replace"

#define TOTALS "five waves a second while active, of totals; of all calls for single executions"
#define ACCOUNTS                                                                                 \
	"when it is asked for, four files in /proc for each process and three for each thread, " \
	"256 of a process at most"
#define COUNTERS                                                                              \
	"while active, a counter of the kernel for each of at most 64 threads of a process, " \
	"which is set at each switch of threads; where the machine and the kernel allow it"
#define JAVA "of Java's virtual machine: EventSpace watches MPI and PVM"

static const struct metric metrics[] = {
	{"WC_TIME", "ms", METRIC_DURATION, ALL, true,
	 "wall-clock time in the calls of the region, from the collector's two time stamps",
	 TOTALS},
	{"CALLS", "1", METRIC_CALLS, ALL, false, "calls of MPI and PVM, or of the region", TOTALS},
	{"NET_SEND",
	 "ms",
	 METRIC_DURATION,
	 {{SENDS, false}},
	 1,
	 false,
	 "time in the calls that send or begin to",
	 TOTALS},
	{"NET_BYTES_SEND",
	 "byte",
	 METRIC_BYTES,
	 {{SENDS, false}, {LATER_SENDS, true}},
	 2,
	 false,
	 "bytes of messages sent, persistent ones when they are complete",
	 TOTALS},
	{"NET_RECV",
	 "ms",
	 METRIC_DURATION,
	 {{"MPI_Irecv|MPI_Imrecv|MPI_Iprobe|MPI_Improbe|pvm_nrecv|pvm_probe", false}},
	 1,
	 false,
	 "time in the receiving calls that do not wait",
	 TOTALS},
	{"NET_BYTES_RECV",
	 "byte",
	 METRIC_BYTES,
	 {{WAITED, false}, {LATER_RECEIVES, true}},
	 2,
	 false,
	 "bytes of messages received, when the call or request is complete",
	 TOTALS},
	{"NET_BLOCKED_RECV",
	 "ms",
	 METRIC_DURATION,
	 {{"MPI_Recv|MPI_Mrecv|MPI_Probe|MPI_Mprobe|pvm_recv|pvm_trecv|pvm_precv", false}},
	 1,
	 false,
	 "time in the receiving calls that wait, until they return",
	 TOTALS},
	{"NET_INIT",
	 "ms",
	 METRIC_DURATION,
	 {{"MPI_Init|MPI_Init_thread", false}},
	 1,
	 false,
	 "time in MPI_Init and MPI_Init_thread, if they return while the probe is active",
	 TOTALS},
	{"NET_END",
	 "ms",
	 METRIC_DURATION,
	 {{"MPI_Finalize|pvm_exit", false}},
	 1,
	 false,
	 "time in MPI_Finalize and pvm_exit",
	 TOTALS},
	{"THREAD_COUNT",
	 "1",
	 METRIC_THREADS,
	 {{"", false}},
	 0,
	 false,
	 "threads that have called MPI or PVM",
	 "a wave when it is asked for"},
	{"CPU_TIME",
	 "ms",
	 METRIC_RAN,
	 {{NULL, false}},
	 0,
	 false,
	 "time on processors, by the kernel's accounts of threads",
	 ACCOUNTS},
	{"BLOCKED_COUNT",
	 "1",
	 METRIC_BLOCKS,
	 {{NULL, false}},
	 0,
	 false,
	 "how often threads have left a processor to wait: for locks and critical sections, "
	 "messages, "
	 "files, or time",
	 ACCOUNTS},
	{"BLOCKED_TIME",
	 "ms",
	 METRIC_BLOCKED,
	 {{NULL, false}},
	 0,
	 false,
	 "time of threads neither on a processor nor ready for one, to 10 ms",
	 ACCOUNTS},
	{"CONTEXT_SWITCHES",
	 "1",
	 METRIC_SWITCHES,
	 {{NULL, false}},
	 0,
	 false,
	 "how often threads have left a processor, to wait or for another one",
	 ACCOUNTS},
	{"PAGE_FAULTS",
	 "1",
	 METRIC_FAULTS,
	 {{NULL, false}},
	 0,
	 false,
	 "pages that threads have touched and the kernel had to provide, with and without a disk",
	 ACCOUNTS},
	{"HEAP_MEM_USAGE",
	 "byte",
	 METRIC_ANONYMOUS,
	 {{NULL, false}},
	 0,
	 false,
	 "resident memory of a process's own: heap, stacks, data that was written",
	 ACCOUNTS},
	{"NON_HEAP_MEM_USAGE",
	 "byte",
	 METRIC_FILES,
	 {{NULL, false}},
	 0,
	 false,
	 "resident memory of code, files and what is shared",
	 ACCOUNTS},
	{"CYCLES",
	 "1",
	 METRIC_CYCLES,
	 {{NULL, false}},
	 0,
	 false,
	 "cycles of processors in the code of processes, by perf_event_open(2)",
	 COUNTERS},
	{"INSTRUCTIONS",
	 "1",
	 METRIC_INSTRUCTIONS,
	 {{NULL, false}},
	 0,
	 false,
	 "instructions of that code",
	 COUNTERS},
	{"CACHE_MISSES",
	 "1",
	 METRIC_CACHE_MISSES,
	 {{NULL, false}},
	 0,
	 false,
	 "its misses of the last cache",
	 COUNTERS},
	{"MIGRATIONS",
	 "1",
	 METRIC_MIGRATIONS,
	 {{NULL, false}},
	 0,
	 false,
	 "how often threads have moved to another processor",
	 COUNTERS},
	{"NET_BLOCKED_SEND",
	 "ms",
	 METRIC_NONE,
	 {{"", false}},
	 0,
	 false,
	 "when a call sends its first byte cannot be seen around it; NET_SEND has all of it",
	 NULL},
	{"LOADED_CL_TOTAL", "1", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"LOADED_CL_CURR", "1", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"UNLOADED_CL", "1", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"COMP_TIME", "ms", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"GC_COUNT", "1", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"GC_TIME", "ms", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"NON_FINALIZED_OBJECTS", "1", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"DAEMON_THREAD_COUNT", "1", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"THREAD_WAITED_COUNT", "1", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
	{"THREAD_WAITED_TIME", "ms", METRIC_NONE, {{"", false}}, 0, false, JAVA, NULL},
};

#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

bool metric_is_of_processes(const struct metric *m)
{
	return m->what >= METRIC_ANONYMOUS && m->what <= METRIC_MIGRATIONS;
}

bool metric_is_used(const struct metric *m)
{
	return m->what >= METRIC_RAN && m->what <= METRIC_MIGRATIONS;
}

bool metric_is_counted(const struct metric *m)
{
	return m->what >= METRIC_CYCLES && m->what <= METRIC_MIGRATIONS;
}

bool metric_grows(const struct metric *m)
{
	return m->what != METRIC_THREADS && m->what != METRIC_ANONYMOUS && m->what != METRIC_FILES;
}

const struct metric *metric_find(const char *name)
{
	for (size_t i = 0; i < METRICS; i++)
		if (strcmp(metrics[i].name, name) == 0)
			return &metrics[i];
	return NULL;
}

const char *metric_names(void)
{
	static char text[512];
	size_t n = 0;

	for (size_t i = 0; i < METRICS && metrics[i].what != METRIC_NONE; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", " : "",
				      metrics[i].name);
	return text;
}

/* What it can be asked of. */
static const char *where(const struct metric *m)
{
	if (metric_is_of_processes(m))
		return "sites, nodes, processes, also when a region is executed";
	if (metric_is_used(m))
		return "sites, nodes, processes, threads, also when a region is executed";
	if (m->what == METRIC_THREADS)
		return "all entities, without a region";
	if (m->parts[0].ops)
		return "all entities, also in one of these operations";
	return m->regions ? "all entities, in a region of any kind"
			  : "all entities, also in a region of any kind";
}

void metric_catalogue(FILE *out)
{
	for (size_t i = 0; i < METRICS; i++) {
		const struct metric *m = &metrics[i];
		bool measured = m->what != METRIC_NONE;

		if (measured)
			fprintf(out, "%-22s %-5s %s; of %s; cost: %s\n", m->name, m->unit, m->about,
				where(m), m->cost);
		else
			fprintf(out, "%-22s -     not measured: %s\n", m->name, m->about);
	}
}
