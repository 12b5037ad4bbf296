/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the targets of a pathmap: command lines of ssh, and the input of deploy/host on each. */
#include "config.h"
#include "consumers/deploy/target.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/cli/module.h"
#include "consumers/deploy/deploy-scripts.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pathmap.h"

/* ---- texts ---- */

/* Append @more to *@text, with @between unless it is the first. */
static void text_append(char **text, const char *between, const char *more)
{
	char *longer = memory_format("%s%s%s", *text, **text ? between : "", more);

	free(*text);
	*text = longer;
}

static void words_append(char ***words, size_t *n, char *word)
{
	*words = memory_room(*words, *n, sizeof(**words));
	(*words)[(*n)++] = word;
}

/* ---- reaching a host ---- */

/* One host for ssh -J: USER@HOST:PORT. */
static char *jump_text(const struct target_plan *plan, const char *node)
{
	const struct deployment *d = pathmap_deployment(plan->map, node);
	char *host = pathmap_host(plan->map, node), *text;
	bool six = strchr(host, ':') != NULL;
	char port[16] = "";

	if (d->port)
		snprintf(port, sizeof(port), ":%u", d->port);
	text = memory_format("%s%s%s%s%s%s", d->user ? d->user : "", d->user ? "@" : "",
			     six ? "[" : "", host, six ? "]" : "", port);
	free(host);
	return text;
}

/* The gateways on the way to @node, the outermost first; "" if there are none. */
static char *jumps_text(const struct target_plan *plan, const char *node)
{
	const char *gateway = pathmap_gateway(plan->map, node);
	char *list = memory_copy(""), *jump, *longer;

	while (gateway && pathmap_deployment(plan->map, gateway)->engine != ENGINE_LOCAL) {
		jump = jump_text(plan, gateway);
		longer = memory_format("%s%s%s", jump, *list ? "," : "", list);
		free(jump);
		free(list);
		list = longer;
		gateway = pathmap_gateway(plan->map, gateway);
	}
	return list;
}

/* The script comes first on standard input, so that no login shell interprets it. */
static char *remote_command(void)
{
	return memory_format("exec /bin/sh -c 'eval \"$(head -c %zu)\"'", strlen(deploy_host));
}

static char **ssh_words(const struct target_plan *plan, const char *node)
{
	const struct deployment *d = pathmap_deployment(plan->map, node);
	static const char *const options[] = {"-T",
					      "-oBatchMode=yes",
					      "-oLogLevel=ERROR",
					      "-oServerAliveInterval=5",
					      "-oServerAliveCountMax=6",
					      "-oForwardAgent=no",
					      "-oForwardX11=no",
					      "-oClearAllForwardings=yes",
					      NULL};
	char **words = NULL, *jumps = jumps_text(plan, node);
	size_t n = 0;

	words_append(&words, &n, memory_copy("ssh"));
	for (size_t i = 0; options[i]; i++)
		words_append(&words, &n, memory_copy(options[i]));
	words_append(&words, &n, memory_format("-oConnectTimeout=%u", plan->timeout_s));
	if (plan->ssh_config)
		words_append(&words, &n, memory_format("-F%s", plan->ssh_config));
	if (d->user)
		words_append(&words, &n, memory_format("-l%s", d->user));
	if (d->port)
		words_append(&words, &n, memory_format("-p%u", d->port));
	if (*jumps)
		words_append(&words, &n, memory_format("-J%s", jumps));
	free(jumps);
	words_append(&words, &n, memory_copy("--"));
	words_append(&words, &n, pathmap_host(plan->map, node));
	words_append(&words, &n, remote_command());
	words_append(&words, &n, NULL);
	return words;
}

static char **local_words(void)
{
	char **words = NULL;
	size_t n = 0;

	words_append(&words, &n, memory_copy("/bin/sh"));
	words_append(&words, &n, memory_copy("-c"));
	words_append(&words, &n, remote_command());
	words_append(&words, &n, NULL);
	return words;
}

/* ---- files ---- */

static int own_add(struct target *post, const struct target_plan *plan, const char *file,
		   const char *node, struct error *e)
{
	char *path = memory_format("%s/%s", plan->tls, file), *name = memory_format("tls/%s", file);
	int rc = bundle_add(&post->own, name, path, e);

	if (rc < 0)
		error_prefix(e,
			     "the certificate of node %s is needed; make one: evspace-certs agent "
			     "%s %s",
			     node, plan->tls, node);
	free(path);
	free(name);
	return rc;
}

static int target_certificates(struct target *post, const struct target_plan *plan,
			       const char *node, struct error *e)
{
	char *pem = memory_format("%s.pem", node), *key = memory_format("%s.key", node);
	char *crl = memory_format("%s/ca.crl", plan->tls);
	int rc = 0;

	if (!bundle_find(&post->own, "tls/ca.pem"))
		rc = own_add(post, plan, "ca.pem", node, e);
	/* the list of revoked certificates, if there is one */
	if (rc == 0 && access(crl, F_OK) == 0 && !bundle_find(&post->own, "tls/ca.crl"))
		rc = own_add(post, plan, "ca.crl", node, e);
	if (rc == 0)
		rc = own_add(post, plan, pem, node, e);
	if (rc == 0)
		rc = own_add(post, plan, key, node, e);
	free(pem);
	free(key);
	free(crl);
	return rc;
}

/* Does nobody listen off their host? Unix sockets need no certificates. */
static bool is_private(const struct pathmap *map)
{
	const char *const *nodes;
	size_t n = pathmap_nodes(map, &nodes);

	for (size_t i = 0; i < n; i++) {
		const char *address = pathmap_address(map, nodes[i]);

		if (address && address[0] && strncmp(address, "unix:", 5) != 0)
			return false;
	}
	return true;
}

static int common_init(struct targets *posts, const struct target_plan *plan, struct error *e)
{
	static const char *const maps[] = {"application.map", "cluster.map", "mapping.map"};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < 3; i++) {
		char *path = memory_format("%s/%s", plan->maps, maps[i]);
		char *name = memory_format("maps/%s", maps[i]);

		rc = bundle_add(&posts->common, name, path, e);
		free(path);
		free(name);
	}
	return rc;
}

static int starter_init(struct targets *posts, struct error *e)
{
	char *path = module_program("pvm");
	int rc = bundle_add(&posts->starter, "evspace-pvm", path, e);
	free(path);
	return rc;
}

/* ---- targets ---- */

static bool is_launched(enum engine engine)
{
	return engine == ENGINE_MPI || engine == ENGINE_PVM || engine == ENGINE_SLURM;
}

/* The target that the nodes of the deployment share, or NULL. */
static struct target *target_shared(struct targets *posts, const struct target_plan *plan,
				    const char *node)
{
	const char *cluster = pathmap_cluster(plan->map, node);

	for (size_t i = 0; i < posts->n; i++)
		if (posts->posts[i].name[0] == '@' &&
		    strcmp(posts->posts[i].name + 1, cluster) == 0)
			return &posts->posts[i];
	return NULL;
}

static struct target *target_new(struct targets *posts, const struct target_plan *plan,
				 const char *node)
{
	const struct deployment *d = pathmap_deployment(plan->map, node);
	const char *cluster = pathmap_cluster(plan->map, node), *head = node;
	struct target *post;

	posts->posts = memory_room(posts->posts, posts->n, sizeof(*posts->posts));
	post = &posts->posts[posts->n++];
	*post = (struct target){.engine = d->engine, .nodes = memory_copy("")};
	if (is_launched(d->engine)) {
		post->name = memory_format("@%s", cluster[0] ? cluster : node);
		head = pathmap_gateway(plan->map, node);
	} else {
		post->name = memory_copy(node);
	}
	if (head && pathmap_deployment(plan->map, head)->engine != ENGINE_LOCAL) {
		post->host = pathmap_host(plan->map, head);
		post->argv = ssh_words(plan, head);
	} else {
		post->host = memory_copy("here");
		post->argv = local_words();
	}
	return post;
}

/* The input that deploy/host reads before it answers. */
static void target_header(struct target *post, const struct target_plan *plan, const char *hosts,
			  const struct deployment *d)
{
	const struct bundle *all[TARGET_PARCELS];
	char *wants = memory_copy("");

	target_parcels(post, all);
	for (size_t i = 0; i < TARGET_PARCELS; i++) {
		for (size_t k = 0; all[i] && k < all[i]->n; k++) {
			const struct bundle_file *f = &all[i]->files[k];
			char *want = memory_format("want %s %zu %s\n", f->sum, f->size, f->name);

			text_append(&wants, "", want);
			free(want);
		}
	}
	post->header = memory_format(
		"%s%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%send\n", deploy_host, plan->action,
		post->name, d->folder ? d->folder : "", d->binary ? d->binary : "", PACKAGE_VERSION,
		engine_names[d->engine], post->nodes, hosts, plan->job ? plan->job : "", wants);
	free(wants);
}

/* A launcher starts all nodes of a cluster, so naming one of them means all. */
static bool is_meant(const struct target_plan *plan, const char *only, const char *node)
{
	const char *cluster = pathmap_cluster(plan->map, node);
	const char *other = pathmap_cluster(plan->map, only);

	return strcmp(only, node) == 0 || strcmp(only, cluster) == 0 ||
	       (is_launched(pathmap_deployment(plan->map, node)->engine) && other && cluster[0] &&
		strcmp(other, cluster) == 0);
}

static bool is_wanted(const struct target_plan *plan, const char *node)
{
	for (size_t i = 0; i < plan->n_only; i++)
		if (is_meant(plan, plan->only[i], node))
			return true;
	return plan->n_only == 0;
}

/* The hosts for a launcher, in the order of its nodes. */
static char *target_hosts(const struct target *post, const struct target_plan *plan)
{
	char *hosts = memory_copy(""), *nodes = memory_copy(post->nodes), *rest = nodes, *node;

	while ((node = strsep(&rest, " ")) != NULL) {
		char *host = pathmap_host(plan->map, node);

		text_append(&hosts, " ", host ? host : "");
		free(host);
	}
	free(nodes);
	return hosts;
}

/* Check the names of the host and the gateways, as they become words of command lines. */
static int hosts_check(const struct target_plan *plan, const char *node, struct error *e)
{
	char *host;
	bool plain;

	for (; node; node = pathmap_gateway(plan->map, node)) {
		host = pathmap_host(plan->map, node);
		plain = host_is_plain(host);
		free(host);
		if (!plain)
			return errorf(e,
				      "the address of %s is of no host's name; say one in "
				      "cluster.map: deploy ssh { host NAME; }",
				      node);
	}
	return 0;
}

static int target_node(struct targets *posts, const struct target_plan *plan, const char *node,
		       struct error *e)
{
	const struct deployment *d = pathmap_deployment(plan->map, node);
	struct target *post = is_launched(d->engine) ? target_shared(posts, plan, node) : NULL;

	if (hosts_check(plan, node, e) < 0)
		return -1;
	if (!post)
		post = target_new(posts, plan, node);
	text_append(&post->nodes, " ", node);
	post->n_nodes++;
	if (strcmp(plan->action, "down") == 0)
		return 0;
	if (!d->binary)
		post->program = &posts->program;
	if (d->engine == ENGINE_PVM)
		post->starter = &posts->starter;
	if (d->engine == ENGINE_PVM && posts->starter.n == 0 && starter_init(posts, e) < 0)
		return -1;
	post->common = &posts->common;
	return is_private(plan->map) ? 0 : target_certificates(post, plan, node, e);
}

/* The common deployment of a target's nodes. */
static const struct deployment *target_deployment(const struct target *post,
						  const struct target_plan *plan)
{
	char *first = memory_copy_bytes(post->nodes, strcspn(post->nodes, " "));
	const struct deployment *d = pathmap_deployment(plan->map, first);

	free(first);
	return d;
}

int targets_init(struct targets *posts, const struct target_plan *plan, struct error *e)
{
	bool down = strcmp(plan->action, "down") == 0;
	const char *const *nodes;
	size_t n = pathmap_nodes(plan->map, &nodes);

	*posts = (struct targets){0};
	if (!down && (common_init(posts, plan, e) < 0 ||
		      bundle_add(&posts->program, "evspace", "/proc/self/exe", e) < 0))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (is_wanted(plan, nodes[i]) && target_node(posts, plan, nodes[i], e) < 0)
			return -1;
	for (size_t i = 0; i < posts->n; i++) {
		struct target *post = &posts->posts[i];
		const struct deployment *d = target_deployment(post, plan);
		char *hosts = target_hosts(post, plan);

		if (d->stages && !down)
			bundle_add_bytes(&post->own, "stages", d->stages, strlen(d->stages));
		if (is_launched(post->engine) && !down)
			bundle_add_bytes(&post->own, "launch", deploy_launch,
					 strlen(deploy_launch));
		target_header(post, plan, hosts, d);
		free(hosts);
	}
	return posts->n ? 0 : errorf(e, "no node or cluster of the map has such a name");
}

void targets_fini(struct targets *posts)
{
	for (size_t i = 0; i < posts->n; i++) {
		struct target *post = &posts->posts[i];

		for (char **word = post->argv; word && *word; word++)
			free(*word);
		free(post->argv);
		free(post->name);
		free(post->nodes);
		free(post->host);
		free(post->header);
		free(post->text);
		bundle_fini(&post->own);
	}
	free(posts->posts);
	bundle_fini(&posts->common);
	bundle_fini(&posts->program);
	bundle_fini(&posts->starter);
	*posts = (struct targets){0};
}

void target_parcels(const struct target *post, const struct bundle *all[TARGET_PARCELS])
{
	all[0] = post->program;
	all[1] = post->starter;
	all[2] = post->common;
	all[3] = &post->own;
}

bool target_is_fine(const struct target *post)
{
	return post->result != TARGET_NONE && post->result != TARGET_FAILED;
}
