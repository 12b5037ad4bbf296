/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the hosts and tasks of a virtual machine of PVM, by evspace-pvm, which is linked with
 * PVM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/deploy/discover.h"
#include "consumers/cli/module.h"
#include "consumers/cli/subprocess.h"
#include "consumers/deploy/target.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

#define WITHIN_S 20

/* The file in which pvmd has its address (PVM 3.4, pvmd.c). */
static char *pvmd_file(void)
{
	const char *folder = getenv("PVM_TMP"), *machine = getenv("PVM_VMID");

	return memory_format("%s/pvmd.%u%s%s", folder ? folder : "/tmp", (unsigned)getuid(),
			     machine ? "." : "", machine ? machine : "");
}

bool discover_pvm_is_there(void)
{
	char *file = pvmd_file();
	bool there = access(file, F_OK) == 0;

	free(file);
	return there;
}

/* "host TID NAME", "task TID HOST-TID PROGRAM": numbers in hexadecimal, as PVM writes them. */
static void line_take(struct finding *f, const char *line, unsigned *hosts)
{
	char name[256];
	unsigned tid, host;
	size_t i;

	if (sscanf(line, "host %x %255s", &tid, name) == 2) {
		i = finding_node(f, name);
		hosts[i] = tid;
	} else if (f->n_nodes && sscanf(line, "task %x %x %255s", &tid, &host, name) == 3) {
		struct finding_process p = {
			.number = (int32_t)tid,
			.name = memory_format("t%x", tid),
			.program = memory_copy(strcmp(name, "-") == 0 ? "" : name),
			.cpus = memory_copy(""),
			.sure = true,
		};

		for (i = 0; i < f->n_nodes && hosts[i] != host; i++)
			;
		p.node = i < f->n_nodes ? i : 0; /* a host that has just been added is not
						  * listed yet */
		finding_process(f, &p);
	}
}

static int machine_list(char **list, struct error *e)
{
	char *starter = module_program("pvm"), *file = pvmd_file(), word[] = "list";
	char *argv[] = {starter, word, NULL};
	int code = EXIT_FINE;
	struct error why;

	if (!discover_pvm_is_there()) {
		errorf(e,
		       "you have no virtual machine of PVM on this host: there is no %s; start one "
		       "(pvm, or pvmd HOSTFILE), or set PVM_TMP and PVM_VMID as it has them",
		       file);
		code = EXIT_BAD_NEWS;
	} else if ((*list = subprocess_run(argv, WITHIN_S, &why)) == NULL) {
		errorf(e, "%s; what is in %s may be left of a pvmd that was killed: then remove it",
		       why.text, file);
		code = EXIT_BAD_NEWS;
	}
	free(starter);
	free(file);
	return code;
}

int discover_pvm(struct finding *f, struct error *e)
{
	char *list = NULL, *rest, *line;
	int code = machine_list(&list, e);
	unsigned *hosts;
	size_t lines = 1;

	if (code != EXIT_FINE)
		return code;
	for (const char *p = list; (p = strchr(p, '\n')) != NULL; p++)
		lines++;
	hosts = memory_new(lines, sizeof(*hosts));
	for (rest = list; (line = strsep(&rest, "\n")) != NULL;)
		line_take(f, line, hosts);
	f->what =
		memory_format("the virtual machine of PVM, %zu host%s, %zu task%s", f->n_nodes,
			      plural(f->n_nodes, "s"), f->n_processes, plural(f->n_processes, "s"));
	f->application = memory_copy("pvm");
	f->cluster = memory_copy("pvm");
	f->engine = ENGINE_PVM;
	free(hosts);
	free(list);
	if (f->n_nodes == 0) {
		errorf(e, "the virtual machine of PVM has no host");
		return EXIT_BAD_NEWS;
	}
	return finding_order(f, e) < 0 ? EXIT_BAD_NEWS : EXIT_FINE;
}
