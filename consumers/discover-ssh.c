/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes hosts that a person names, to be reached by ssh: the map to begin with. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/discover.h"
#include "pathmap/hostlist.h"
#include "pathmap/memory.h"

/* "w0.example.org" is the node w0 at that address. */
static void host_add(struct finding *f, const char *host)
{
	size_t label = isalpha((unsigned char)host[0]) ? strcspn(host, ".") : strlen(host);
	char *name = memory_format("%.*s", (int)label, host);
	size_t i = finding_node(f, name);

	if (!f->nodes[i].address) {
		f->nodes[i].address = memory_copy(host);
		f->nodes[i].host = memory_copy(host);
	}
	free(name);
}

int discover_ssh(struct finding *f, const char *const *hosts, size_t n, struct error *e)
{
	struct hostlist list = {0};
	struct error why;
	size_t at;

	for (size_t i = 0; i < n; i++) {
		if (hostlist_add(&list, hosts[i], &at, &why) == 0)
			continue;
		errorf(e, "'%.100s' is no list of hosts: %s", hosts[i], why.text);
		hostlist_fini(&list);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < list.n; i++)
		host_add(f, list.names[i]);
	hostlist_fini(&list);
	f->what =
		memory_format("%zu host%s reached by ssh", f->n_nodes, f->n_nodes == 1 ? "" : "s");
	f->application = memory_copy("any");
	f->cluster = memory_copy("hosts");
	f->engine = ENGINE_SSH;
	return EXIT_FINE;
}
