/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace agent: starts this node's agent and serves until it is told to stop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/command.h"
#include "consumers/help.h"
#include "consumers/options.h"
#include "consumers/preload.h"
#include "pathmap/quantity.h"
#include "node-agent/agent.h"
#include "node-agent/nursery.h"
#include "node-agent/store.h"
#include "pathmap/config.h"
#include "pathmap/pattern.h"
#include "tree/address.h"
#include "tree/allow.h"
#include "tree/manager.h"

static const char agent_help[] =
	"usage: evspace agent [options]\n"
	"\n"
	"Hold this node's trace elements and serve views of them, until SIGTERM or Ctrl-C.\n"
	"Without options: this host alone, through a Unix socket that the other commands find.\n"
	"\n"
	"  --pathmap DIR     application.map, cluster.map and mapping.map; makes gather trees\n"
	"  --node NAME       which node of the pathmap this is (default: the host's name); "
	"several\n"
	"                    on this machine, such as w[0-3]: an agent each\n"
	"  --listen ADDR     HOST:PORT for other agents and for consumers outside, by TLS\n"
	"                    (default: the node's address in the pathmap)\n"
	"  --tls DIR         certificates made by evspace-certs: ca.pem, NAME.pem, NAME.key\n"
	"                    (default: $EVSPACE_TLS)\n"
	"  --above NAMES     agents that may ask this one for its part of a tree, such as\n"
	"                    front,ga: beside those of its map; without a map nobody else may\n"
	"  --retention TIME  how long elements of ended processes are kept, such as 90s, 1h, 2d\n"
	"                    (default 1h)\n"
	"  --monitored       record what it does itself from now on, for --of evspace (default: "
	"while\n"
	"                    somebody looks)\n"
	"  --allow WHO       other users of this host that may observe (not control) through the\n"
	"                    Unix socket: USER,@GROUP,... (default: only you and root)\n"
	"  --help            this text\n"
	"\n"
	"The elements are files below $EVSPACE_DIR (default /dev/shm/evspace-UID). They outlive "
	"the\n"
	"agent: a new one goes on where the old one was. \"%n\" in EVSPACE_DIR is the node's "
	"name:\n"
	"for nodes on one machine that do not see each other's programs. Where somebody else has\n"
	"made /dev/shm/evspace-UID, all is in /run/user/UID/evspace ($XDG_RUNTIME_DIR).\n"
	"\n"
	"On SIGHUP, and when files in the folder of --tls change, certificates and the list of\n"
	"revoked ones are loaded again.\n"
	"\n"
	"examples:\n"
	"  evspace agent &                                        # this host\n"
	"  evspace agent --pathmap maps --node w3 --tls ~/certs   # a node of a cluster\n";

static int wrong(const char *option, const struct error *e)
{
	fprintf(stderr, "evspace agent: %s: %s\n", option, e->text);
	return -1;
}

/* Names of nodes, more of them. */
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

/* It takes options only. */
static int words_check(int argc, char **argv)
{
	if (optind == argc)
		return 0;
	fprintf(stderr, "evspace agent: '%s' is not wanted here; try --help\n", argv[optind]);
	return -1;
}

static int agent_options_parse(int argc, char **argv, struct agent_options *o,
			       struct hostlist *nodes, struct hostlist *above, struct allow *allow)
{
	static const struct option options[] = {
		{"pathmap", required_argument, NULL, 'p'},
		{"node", required_argument, NULL, 'n'},
		{"listen", required_argument, NULL, 'l'},
		{"tls", required_argument, NULL, 't'},
		{"retention", required_argument, NULL, 'r'},
		{"above", required_argument, NULL, 'b'},
		{"monitored", no_argument, NULL, 'm'},
		{"allow", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct error e;
	int c;

	while ((c = options_next(argc, argv, true, options, NULL)) != -1) {
		switch (c) {
		case 'p':
			o->pathmap = optarg;
			break;
		case 'n':
			hostlist_fini(nodes);
			if (nodes_parse(optarg, nodes, &e) < 0)
				return wrong("--node", &e);
			o->node = nodes->names[0];
			break;
		case 'l':
			if (address_check(optarg, true, &e) < 0)
				return wrong("--listen", &e);
			o->listen = optarg;
			break;
		case 't':
			o->tls = optarg;
			break;
		case 'b':
			if (nodes_parse(optarg, above, &e) < 0)
				return wrong("--above", &e);
			o->above = above;
			break;
		case 'r':
			if (quantity_duration(optarg, QUANTITY_SECONDS, &o->retention_ns, &e) < 0)
				return wrong("--retention", &e);
			break;
		case 'm':
			o->monitored = true;
			break;
		case 'a':
			if (allow_parse(allow, optarg, &e) < 0)
				return wrong("--allow", &e);
			o->allow = allow;
			break;
		case 'h':
			help_print(agent_help);
			exit(EXIT_FINE);
		default:
			return -1;
		}
	}
	return words_check(argc, argv) < 0 ? -1 : nodes_check(o, nodes);
}

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
	manager_ready();
	agent_run(agent);
	agent_free(agent);
	return EXIT_FINE;
}

/* Where the node's elements are, or those of several nodes. */
static const char *agent_base(const struct agent_options *o, const struct hostlist *nodes,
			      char *buf, size_t n, struct error *e)
{
	char base[200];

	if (!store_base(base, sizeof(base), e))
		return NULL;
	preload_folder_tell("agent");
	if (nodes->n != 1) {
		snprintf(buf, n, "%s", base);
		return buf;
	}
	return nursery_base(base, o->node, buf, n, e);
}

int agent_main(int argc, char **argv)
{
	struct agent_options o = {.tls = config_variable("EVSPACE_TLS"),
				  .retention_ns = 3600000000000u};
	struct hostlist nodes = {0}, above = {0};
	struct allow allow = {0};
	char base[200];
	struct error e;
	int code;

	if (agent_options_parse(argc, argv, &o, &nodes, &above, &allow) < 0) {
		code = EXIT_USAGE;
	} else if (!(o.base = agent_base(&o, &nodes, base, sizeof(base), &e))) {
		fprintf(stderr, "evspace agent: %s\n", e.text);
		code = EXIT_BAD_NEWS;
	} else if (nodes.n > 1) {
		code = nursery_run(&o, &nodes, &e) < 0 ? EXIT_BAD_NEWS : EXIT_FINE;
		if (code != EXIT_FINE)
			fprintf(stderr, "evspace agent: %s\n", e.text);
	} else {
		code = agent_serve(&o);
	}
	hostlist_fini(&nodes);
	hostlist_fini(&above);
	allow_fini(&allow);
	return code;
}
