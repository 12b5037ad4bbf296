/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace deploy: starts and ends the agents of a pathmap on their hosts, and shows their state. */
#include "consumers/deploy/deploy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/profile.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/stage/stage.h"

static const char deploy_help[] =
	"usage: evspace deploy up|restart PATHMAP [options]\n"
	"       evspace deploy down PATHMAP [options]\n"
	"       evspace deploy status PATHMAP [options]\n"
	"\n"
	"up starts the agents of all nodes, down ends them and leaves nothing there,\n"
	"status shows how they are, one line each; restart starts those that run anew.\n"
	"\n"
	"cluster.map says what starts the agents of each cluster; without a word it is\n"
	"ssh:\n"
	"\n"
	"  cluster w { nodes w[0-7]; address w[0-7].example.org:7440; gateway gw;\n"
	"              deploy ssh { user alice; port 2222; } }\n"
	"  node front { address front.example.org:7440; deploy local; }\n"
	"\n"
	"  ssh    OpenSSH, to the host of each node's address (or `host w[0-7].mgmt;`),\n"
	"         through the cluster's gateway; keys, agents and ~/.ssh/config are used\n"
	"         as ssh does\n"
	"  local  this machine\n"
	"  mpi    mpirun of Open MPI, on the gateway or here, one agent on each host\n"
	"  slurm  srun --overlap in a job, the same way\n"
	"  pvm    as tasks of your virtual machine, which is started when it is not there\n"
	"\n"
	"  binary PATH;   evspace as it is installed on the hosts; without, this one is\n"
	"                 copied\n"
	"  folder PATH;   where evspace-agents-UID with all files is (/var/tmp); for mpi,\n"
	"                 slurm and pvm one that all hosts of the cluster share\n"
	"  stages PATH;   the hosts' folder of stages of others (evspace agent --stages)\n"
	"\n"
	"up copies the maps, each host its own certificate (0600, never on a command\n"
	"line) and evspace, verifies their checksums and starts the agent. What runs\n"
	"already with the same files, or with other certificates only (which it takes),\n"
	"is left alone. Hosts that fail are named with the reason, the exit code is then\n"
	"1, and up can be repeated. down ends agents, and removes sockets and copied\n"
	"files.\n";

/* after its options */
static const char deploy_examples[] =
	"examples:\n"
	"  evspace deploy up maps --tls certs\n"
	"  evspace deploy up maps --tls certs --only w3     # when w3 is back\n"
	"  evspace deploy status maps\n"
	"  evspace deploy down maps\n";

static int only_take(void *into, const char *value, struct error *e)
{
	struct deploy_options *o = into;
	size_t at;

	return hostlist_add(&o->only, value, &at, e);
}

static int job_take(void *into, const char *value, struct error *e)
{
	struct deploy_options *o = into;

	o->job = value;
	if (!*value || value[strspn(value, "0123456789")])
		return errorf(e, "'%s' is not the number of a job", value);
	return 0;
}

static const struct option_row deploy_rows[] = {
	{"only", "NAMES", .take = only_take,
	 .help = "these nodes or clusters only, as w[0-3]; may be repeated"},
	{"tls", "DIR", OPTION_TEXT, .at = offsetof(struct deploy_options, tls),
	 .help = "certificates made by evspace-certs: ca.pem and each node's (default: "
		 "$EVSPACE_TLS, else ~/.config/evspace/tls)"},
	{"parallel", "N", OPTION_COUNT, .at = offsetof(struct deploy_options, at_once), .most = 256,
	 .help = "hosts under way at once, 1 to 256 (default 8)"},
	{"timeout", "S", OPTION_COUNT, .at = offsetof(struct deploy_options, timeout_s),
	 .most = 600, .help = "seconds until a host counts as unreachable, 1 to 600 (default 10)"},
	{"ssh-config", "FILE", OPTION_TEXT, .at = offsetof(struct deploy_options, ssh_config),
	 .help = "instead of ~/.ssh/config ($EVSPACE_SSH_CONFIG)"},
	{"job", "ID", .take = job_take,
	 .help = "slurm: the job (default: $SLURM_JOB_ID, the one that you are in)"},
	{"connect", "ADDR", OPTION_TEXT, .at = offsetof(struct deploy_options, connect),
	 .help = "status: where the map's entry is asked (default: its address there)"},
	{"profile", "NAME", OPTION_TEXT, .at = offsetof(struct deploy_options, common.profile),
	 .help = "certificates of `evspace profile save NAME`, unless given here or in "
		 "$EVSPACE_TLS (default: $EVSPACE_PROFILE)"},
	{"identity", "NAME", OPTION_TEXT, .at = offsetof(struct deploy_options, identity),
	 .help = "status: NAME.pem and NAME.key in the folder of certificates"},
	{0},
};

static const struct usage deploy_usage = {.help = deploy_help,
					  .after = deploy_examples,
					  .own = deploy_rows,
					  .takes = OPTIONS_JSON,
					  .words_max = 2};

/* Take the action and the pathmap. */
static int words_take(const char *command, struct deploy_options *o)
{
	static const char *const actions[] = {"up", "down", "restart", "status"};

	o->action = o->common.words[0];
	if (!o->action)
		fprintf(stderr, "%s: say up, down, restart or status; try '%s --help'\n", command,
			command);
	if (!o->action || options_word(command, o->action, actions, 4) < 0)
		return -1;
	o->maps = o->common.words[1];
	if (!o->maps)
		fprintf(stderr, "%s: which pathmap? evspace deploy %s DIR\n", command, o->action);
	return o->maps ? 0 : -1;
}

/* ---- progress ---- */

struct progress {
	const struct deploy_options *o;
	size_t n, ended, failed;
};

static const char *result_name(const struct target *post)
{
	static const char *const names[] = {
		[TARGET_NONE] = "not asked",	[TARGET_UP] = "up",
		[TARGET_SAME] = "already up",	[TARGET_DOWN] = "down",
		[TARGET_ABSENT] = "was not up", [TARGET_FAILED] = "FAILED",
	};

	return names[post->result];
}

static void progress_json(const struct target *post)
{
	json_t *o =
		json_pack("{s:o,s:o,s:s,s:o,s:b,s:s,s:o,s:I,s:f}", "name", json_text(post->name),
			  "nodes", json_text(post->nodes), "engine", engine_names[post->engine],
			  "host", json_text(post->host), "fine", target_is_fine(post), "result",
			  result_name(post), "text", json_text(post->text), "copied",
			  (json_int_t)post->bytes, "seconds", post->seconds);

	json_print(o, stdout);
	fflush(stdout);
}

/* Print a line for each host when it ends. */
static void progress_done(void *arg, const struct target *post)
{
	struct progress *p = arg;
	char copied[UNIT_TEXT];

	p->ended++;
	p->failed += !target_is_fine(post);
	if (p->o->common.json)
		progress_json(post);
	fprintf(stderr, "[%zu/%zu] %s", p->ended, p->n, post->name);
	if (strcmp(post->host, post->name) != 0)
		fprintf(stderr, " (%s, %s)", engine_names[post->engine], post->host);
	fprintf(stderr, ": %s%s%s", result_name(post), post->text[0] ? ", " : "", post->text);
	if (post->bytes && target_is_fine(post))
		fprintf(stderr, ", copied %s", unit_bytes(copied, post->bytes));
	fprintf(stderr, ", %.2f s\n", post->seconds);
}

/* ---- up, down, restart ---- */

static void summary_print(const struct deploy_options *o, const struct targets *posts,
			  double seconds)
{
	size_t n[TARGET_FAILED + 1] = {0};

	for (size_t i = 0; i < posts->n; i++)
		n[posts->posts[i].result]++;
	fprintf(stderr, "%s:", o->action);
	if (strcmp(o->action, "down") == 0)
		fprintf(stderr, " %zu ended, %zu were not up", n[TARGET_DOWN], n[TARGET_ABSENT]);
	else
		fprintf(stderr, " %zu started, %zu already up", n[TARGET_UP], n[TARGET_SAME]);
	fprintf(stderr, ", %zu failed, in %.1f s", n[TARGET_FAILED] + n[TARGET_NONE], seconds);
	for (size_t i = 0, shown = 0; i < posts->n; i++)
		if (!target_is_fine(&posts->posts[i]))
			fprintf(stderr, "%s%s", shown++ ? " " : "; failed: ", posts->posts[i].name);
	fprintf(stderr, "%s\n",
		n[TARGET_FAILED] + n[TARGET_NONE] ? "; the same command tries these again" : "");
}

static int deploy_change(const struct deploy_options *o, const struct pathmap *map)
{
	struct progress progress = {.o = o};
	const struct target_plan plan = {
		.action = o->action,
		.maps = o->maps,
		.tls = o->tls,
		.ssh_config = o->ssh_config,
		.job = o->job,
		.timeout_s = o->timeout_s,
		.map = map,
		.only = (const char *const *)o->only.names,
		.n_only = o->only.n,
	};
	const struct parallel_way way = {
		.at_once = o->at_once,
		.timeout_s = o->timeout_s,
		.done = progress_done,
		.arg = &progress,
	};
	uint64_t begun = clock_mono_ns();
	struct targets posts;
	struct error e;
	int rc, code = EXIT_BAD_NEWS;

	if (targets_init(&posts, &plan, &e) < 0) {
		fprintf(stderr, "evspace deploy: %s\n", e.text);
	} else {
		progress.n = posts.n;
		rc = parallel_run(&posts, &way);
		summary_print(o, &posts, (double)(clock_mono_ns() - begun) / 1e9);
		code = rc < 0 || progress.failed ? EXIT_BAD_NEWS : EXIT_FINE;
	}
	targets_fini(&posts);
	return code;
}

/* Take the identity from the profile if it is not given; the map names the entry. */
static int profile_apply(struct deploy_options *o, struct error *e)
{
	const struct profile *profile = profile_chosen(o->common.profile, e);

	if (!profile)
		return -1;
	if (!o->tls || !*o->tls)
		o->tls = profile->tls;
	if (!o->identity)
		o->identity = profile->identity;
	return 0;
}

int deploy_main(int argc, char **argv)
{
	char *tls = config_tls_folder();
	struct deploy_options o = {
		.tls = config_variable("EVSPACE_TLS"),
		.ssh_config = config_variable("EVSPACE_SSH_CONFIG"),
		.job = getenv("SLURM_JOB_ID"),
		.at_once = 8,
		.timeout_s = 10,
	};
	int code = options_parse(argc, argv, &deploy_usage, &o, &o.common);
	struct pathmap *map;
	struct error e;

	if (code < 0 && words_take(argv[0], &o) < 0)
		code = EXIT_USAGE;
	if (code < 0 && profile_apply(&o, &e) < 0) {
		fprintf(stderr, "evspace deploy: --profile: %s\n", e.text);
		code = EXIT_USAGE;
	}
	if (!o.tls || !*o.tls)
		o.tls = tls;
	if (code < 0) {
		map = pathmap_load(o.maps, stage_check, stderr, &e);
		if (!map) {
			fprintf(stderr, "evspace deploy: %s\n", e.text);
			code = EXIT_BAD_NEWS;
		} else {
			code = strcmp(o.action, "status") == 0 ? deploy_status(&o, map)
							       : deploy_change(&o, map);
		}
		pathmap_free(map);
	}
	hostlist_fini(&o.only);
	free(tls);
	return code;
}
