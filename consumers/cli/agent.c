/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace agent: starts this node's agent and serves until it is told to stop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "consumers/cli/preload.h"
#include "node-agent/agent.h"
#include "node-agent/store/store.h"
#include "pathmap/base/config.h"
#include "pathmap/model/pattern.h"
#include "tree/data/schedule.h"
#include "tree/link/address.h"
#include "tree/link/listener.h"
#include "tree/link/notify.h"
#include "tree/stage/stage-object.h"

static const char agent_help[] =
	"usage: evspace agent [options]\n"
	"\n"
	"Hold this node's trace elements and serve views of them, until SIGTERM or\n"
	"Ctrl-C. Without options: this host alone, through a Unix socket that the other\n"
	"commands find.\n";

/* after its options */
static const char agent_more[] =
	"The elements are files below $EVSPACE_DIR (default /dev/shm/evspace-UID). They\n"
	"outlive the agent: a new one goes on where the old one was. \"%n\" in EVSPACE_DIR\n"
	"is the node's name: for nodes on one machine that do not see each other's\n"
	"programs. Where somebody else has made /dev/shm/evspace-UID, all is in\n"
	"/run/user/UID/evspace ($XDG_RUNTIME_DIR).\n"
	"\n"
	"On SIGHUP, and when files in the folder of --tls change, certificates and the\n"
	"list of revoked ones are loaded again.\n"
	"\n"
	"examples:\n"
	"  evspace agent &                                        # this host\n"
	"  evspace agent --pathmap maps --node w3 --tls ~/certs   # a node of a cluster\n"
	"  evspace agent --stages /usr/local/lib/evspace/stages   # with stages of others\n";

/* Add names of nodes. */
static int nodes_parse(const char *text, struct hostlist *nodes, struct error *e)
{
	size_t at;

	if (hostlist_add(nodes, text, &at, e) < 0)
		return -1;
	for (size_t i = 0; i < nodes->n; i++)
		if (name_part_check(nodes->names[i], e) < 0)
			return -1;
	return 0;
}

static int nodes_check(const struct agent_options *o, const struct hostlist *nodes)
{
	if (nodes->n < 2 || (o->pathmap && !o->listen))
		return 0;
	fprintf(stderr, "evspace agent: several nodes %s\n",
		o->pathmap ? "cannot --listen on one address: the map says theirs"
			   : "are those of a map: say --pathmap DIR");
	return -1;
}

/* The command line, and the lists that its options point to. */
struct said {
	struct common common;
	struct agent_options options;
	struct hostlist nodes, above;
	struct allow allow;
};

static int node_take(void *into, const char *value, struct error *e)
{
	struct said *said = into;

	hostlist_fini(&said->nodes);
	if (nodes_parse(value, &said->nodes, e) < 0)
		return -1;
	said->options.node = said->nodes.names[0];
	return 0;
}

static int listen_take(void *into, const char *value, struct error *e)
{
	struct said *said = into;

	said->options.listen = value;
	return address_check(value, true, e);
}

static int above_take(void *into, const char *value, struct error *e)
{
	struct said *said = into;

	said->options.above = &said->above;
	return nodes_parse(value, &said->above, e);
}

static int allow_take(void *into, const char *value, struct error *e)
{
	struct said *said = into;

	said->options.allow = &said->allow;
	return allow_parse(&said->allow, value, e);
}

static int stages_take(void *into, const char *value, struct error *e)
{
	(void)into;
	return stage_objects_load(value, stderr, e);
}

/* Agents of other nodes that are started here inherit it. */
static int urgency_take(void *into, const char *value, struct error *e)
{
	enum urgency urgency;

	(void)into;
	return urgency_parse(value, &urgency, e) < 0 ? -1 : schedule_class_set(urgency, e);
}

#define AT(member) .at = offsetof(struct said, options.member)

static const struct option_row agent_rows[] = {
	{"pathmap", "DIR", OPTION_TEXT, AT(pathmap),
	 .help = "application.map, cluster.map and mapping.map; makes gather trees"},
	{"node", "NAME", .take = node_take,
	 .help = "which node of the pathmap this is (default: the host's name); several on this "
		 "machine, such as w[0-3]: an agent each"},
	{"listen", "ADDR", .take = listen_take,
	 .help = "HOST:PORT for other agents and for consumers outside, by TLS (default: the "
		 "node's address in the pathmap)"},
	{"tls", "DIR", OPTION_TEXT, AT(tls),
	 .help = "certificates made by evspace-certs: ca.pem, NAME.pem, NAME.key (default: "
		 "$EVSPACE_TLS)"},
	{"above", "NAMES", .take = above_take,
	 .help = "agents that may ask this one for its part of a tree, such as front,ga, besides "
		 "those of its map; without a map only these"},
	{"retention", "TIME", OPTION_TIME, AT(retention_ns),
	 .help = "how long elements of ended processes are kept, such as 90s, 1h, 2d (default 1h)"},
	{"monitored", NULL, OPTION_FLAG, AT(monitored),
	 .help = "record what it does itself from now on, for --of evspace (default: while "
		 "somebody looks)"},
	{"urgency", "CLASS", .take = urgency_take,
	 .help = "how it may compete with programs for processors at most, whatever consumers ask "
		 "for (their --urgency): idle, batch or normal (sched(7); default: as it was "
		 "started)"},
	{"stages", "DIR", .take = stages_take,
	 .help = "stages that others have written, NAME.so: a folder that only root and you can "
		 "change, as those above it (default: none)"},
	{"allow", "WHO", .take = allow_take,
	 .help = "other users of this host that may observe (not control) through the Unix "
		 "socket: USER,@GROUP,... (default: only you and root)"},
	{0},
};

static const struct usage agent_usage = {
	.help = agent_help, .after = agent_more, .own = agent_rows};

static int agent_serve(const struct agent_options *o)
{
	struct error e;
	struct agent *agent = agent_new(o, &e);

	if (!agent) {
		fprintf(stderr, "evspace agent: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	fprintf(stderr, "evspace agent: ready on %s%s%s\n", agent_socket(agent),
		agent_address(agent)[0] ? " and " : "", agent_address(agent));
	notify_ready();
	agent_run(agent);
	agent_free(agent);
	return EXIT_FINE;
}

/* The folder of the node's elements, or of several nodes' elements. */
static const char *agent_base(const struct agent_options *o, const struct hostlist *nodes,
			      char *buf, size_t n, struct error *e)
{
	char base[200];

	if (!folder_base_path(base, sizeof(base), e))
		return NULL;
	preload_folder_tell("agent");
	if (nodes->n != 1) {
		snprintf(buf, n, "%s", base);
		return buf;
	}
	return prefork_base(base, o->node, buf, n, e);
}

int agent_main(int argc, char **argv)
{
	struct said said = {
		.options = {.tls = config_variable("EVSPACE_TLS"), .retention_ns = 3600000000000u}};
	struct agent_options *o = &said.options;
	char base[200];
	struct error e;
	int code;

	code = options_parse(argc, argv, &agent_usage, &said, &said.common);
	if (code < 0 && nodes_check(o, &said.nodes) < 0)
		code = EXIT_USAGE;
	if (code >= 0) {
		; /* --help, or a fault */
	} else if (!(o->base = agent_base(o, &said.nodes, base, sizeof(base), &e))) {
		fprintf(stderr, "evspace agent: %s\n", e.text);
		code = EXIT_BAD_NEWS;
	} else if (said.nodes.n > 1) {
		code = prefork_run(o, &said.nodes, &e) < 0 ? EXIT_BAD_NEWS : EXIT_FINE;
		if (code != EXIT_FINE)
			fprintf(stderr, "evspace agent: %s\n", e.text);
	} else {
		code = agent_serve(o);
	}
	hostlist_fini(&said.nodes);
	hostlist_fini(&said.above);
	allow_fini(&said.allow);
	return code;
}
