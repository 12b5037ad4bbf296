/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes hosts that the user names, to be reached by ssh, for a first map. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/deploy/discover.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/base/quantity.h"

/* The bytes of "w0" in "w0.example.org": the node w0 at that address. */
static size_t label_bytes(const char *host)
{
	return isalpha((unsigned char)host[0]) ? strcspn(host, ".") : strlen(host);
}

/* By their labels. */
static int label_order(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = label_bytes(x), m = label_bytes(y);
	int rc = memcmp(x, y, n < m ? n : m);

	return rc ? rc : (n > m) - (n < m);
}

/* Do different hosts have the label of @host? In @sorted they are adjacent. */
static bool is_ambiguous(char *const *sorted, size_t n, const char *host)
{
	char *const *at = bsearch(&host, sorted, n, sizeof(*sorted), label_order);

	for (char *const *p = at; p >= sorted && label_order(p, &host) == 0; p--)
		if (strcmp(*p, host) != 0)
			return true;
	for (char *const *p = at; p < sorted + n && label_order(p, &host) == 0; p++)
		if (strcmp(*p, host) != 0)
			return true;
	return false;
}

static void hosts_add(struct finding *f, const struct hostlist *list)
{
	char **sorted = memory_new(list->n + 1, sizeof(*sorted));

	memcpy(sorted, list->names, list->n * sizeof(*sorted));
	qsort(sorted, list->n, sizeof(*sorted), label_order);
	for (size_t i = 0; i < list->n; i++) {
		const char *host = list->names[i];
		size_t bytes =
			is_ambiguous(sorted, list->n, host) ? strlen(host) : label_bytes(host);
		char *name = memory_copy_bytes(host, bytes);
		size_t at = finding_node(f, name);
		struct finding_node *node = &f->nodes[at];

		if (!node->address) {
			node->address = memory_copy(host);
			node->host = memory_copy(host);
		}
		free(name);
	}
	free(sorted);
}

/* Returns 0, or -1 with @e, which says what to write instead. */
static int host_check(const char *host, struct error *e)
{
	const char *colon = strchr(host, ':');
	struct error why;

	if (strchr(host, '@'))
		return errorf(e,
			      "'%.100s': write the host alone, and who you are there as `deploy "
			      "ssh { user NAME; }` in cluster.map, or as User in ssh_config",
			      host);
	if (colon && (host[0] == '[' || strchr(colon + 1, ':')))
		return errorf(e,
			      "'%.100s': addresses of IPv6 are no names of nodes; write a name of "
			      "the host, which DNS, /etc/hosts or HostName in ssh_config resolves",
			      host);
	if (colon)
		return errorf(
			e,
			"'%.100s': write the host alone, and the port of its sshd as `deploy "
			"ssh { port N; }` in cluster.map, or as Port in ssh_config; --port is "
			"that of agents",
			host);
	if (name_part_check(host, &why) < 0)
		return errorf(e, "'%.100s' is not a host: %s", host, why.text);
	return 0;
}

static int hosts_check(const struct hostlist *list, struct error *e)
{
	for (size_t i = 0; i < list->n; i++)
		if (host_check(list->names[i], e) < 0)
			return -1;
	return finding_nodes_check(list->n, e);
}

int discover_ssh(struct finding *f, const char *const *hosts, size_t n, struct error *e)
{
	struct hostlist list = {0};
	struct error why;
	size_t at;

	for (size_t i = 0; i < n; i++) {
		if (hostlist_add(&list, hosts[i], &at, &why) == 0)
			continue;
		errorf(e, "'%.100s' is not a list of hosts: %s", hosts[i], why.text);
		hostlist_fini(&list);
		return EXIT_USAGE;
	}
	if (hosts_check(&list, e) < 0) {
		hostlist_fini(&list);
		return EXIT_USAGE;
	}
	hosts_add(f, &list);
	hostlist_fini(&list);
	f->what = memory_format("%zu host%s reached by ssh", f->n_nodes, plural(f->n_nodes, "s"));
	f->application = memory_copy("any");
	f->cluster = memory_copy("hosts");
	f->engine = ENGINE_SSH;
	return EXIT_FINE;
}
