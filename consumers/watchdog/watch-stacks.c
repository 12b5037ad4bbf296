/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the stacks of the ranks on this host with elfutils (libdwfl), by ptrace(2). */
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/watchdog/watch.h"
#include "node-agent/store/store.h"
#include "pathmap/base/folder-base.h"

/* Frames of a thread that are written. */
#define FRAMES_MOST 64u

/* What is being written. */
struct stacks {
	Dwfl *dwfl;
	FILE *out;
	unsigned frames;
};

static int write_frame(Dwfl_Frame *frame, void *arg)
{
	struct stacks *s = arg;
	Dwfl_Module *module;
	Dwarf_Addr pc;
	Dwfl_Line *line;
	const char *name, *file;
	bool exact;
	int number = 0;

	if (!dwfl_frame_pc(frame, &pc, &exact) || s->frames++ >= FRAMES_MOST)
		return DWARF_CB_ABORT;
	/* a return address may be of the next line */
	pc -= !exact;
	module = dwfl_addrmodule(s->dwfl, pc);
	name = module ? dwfl_module_addrname(module, pc) : NULL;
	line = module ? dwfl_module_getsrc(module, pc) : NULL;
	file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	fprintf(s->out, "    %s", name ? name : "?");
	if (file)
		fprintf(s->out, " at %s:%d", file, number);
	else if (module)
		fprintf(s->out, " in %s",
			dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	putc('\n', s->out);
	return DWARF_CB_OK;
}

static int write_thread(Dwfl_Thread *thread, void *arg)
{
	struct stacks *s = arg;

	fprintf(s->out, "  thread %d\n", (int)dwfl_thread_tid(thread));
	s->frames = 0;
	/* what cannot be unwound ends the thread, not the file */
	(void)dwfl_thread_getframes(thread, write_frame, s);
	return DWARF_CB_OK;
}

/* Each thread is stopped while its frames are written. */
static void write_process(pid_t pid, FILE *out)
{
	/* search only on this host: elfutils' standard search may ask servers on the network */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_build_id_find_debuginfo,
	};
	struct stacks s = {.dwfl = dwfl_begin(&callbacks), .out = out};

	if (!s.dwfl || dwfl_linux_proc_report(s.dwfl, pid) != 0 ||
	    dwfl_report_end(s.dwfl, NULL, NULL) != 0 ||
	    dwfl_linux_proc_attach(s.dwfl, pid, false) != 0 ||
	    dwfl_getthreads(s.dwfl, write_thread, &s) != DWARF_CB_OK)
		fprintf(out, "  not to be had: %s\n", dwfl_errmsg(-1));
	if (s.dwfl)
		dwfl_end(s.dwfl);
}

void watch_stacks(const struct watch *w, FILE *out)
{
	const struct store_segment *s;
	char base[FOLDER_BASE];
	struct store store;
	struct error e;
	size_t n = 0;

	if (folder_base(base, sizeof(base), &e) < 0 || store_init(&store, base, false, &e) < 0) {
		fprintf(out, "no processes can be seen on this host: %s\n", e.text);
		return;
	}
	TAILQ_FOREACH (s, &store.segments, link) {
		if (!s->alive || strcmp(s->run, w->name) != 0)
			continue;
		fprintf(out, "%s, process %d\n", s->name, (int)s->pid);
		write_process(s->pid, out);
		n++;
	}
	if (n < evspace_wave(w->heartbeat.client)->processes)
		fprintf(out, "%zu more on other hosts\n",
			evspace_wave(w->heartbeat.client)->processes - n);
	store_fini(&store);
}
