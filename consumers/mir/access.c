/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles and limits of certificates, as agents have them (docs/rights.md), for requests of MIR. */
#include "consumers/mir/access.h"

#include <stdlib.h>
#include <unistd.h>

#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"

static int limits_check(const struct peer *peer, const char *run, struct error *e)
{
	const struct limits *l = peer->limits;

	if (!l)
		return 0;
	if (!limits_own_user(l->users, l->n_users))
		return errorf(e, "the certificate of %s is for runs of other users", peer->name);
	if (l->n_runs > 0 && (!run || !limits_run(l, run)))
		return errorf(e,
			      "the certificate of %s is for other runs; who started evspace mir "
			      "says with --run which this is about",
			      peer->name);
	return 0;
}

int access_check(const struct peer *peer, const struct mir_request *request, const char *run,
		 struct error *e)
{
	if (!(peer->roles & (ROLE_OBSERVE | ROLE_CONTROL)))
		return errorf(e,
			      "the role of %s is that of an agent; take a certificate of observe "
			      "or control",
			      peer->name);
	if (!peer->name[0])
		return errorf(e, "the certificate has no name; make one with evspace-certs");
	if (request && !(peer->roles & ROLE_CONTROL) && request_changes(request))
		return errorf(e,
			      "%s may observe: snapshots, structure, values; probes are changed "
			      "with a certificate of control",
			      peer->name);
	return limits_check(peer, run, e);
}

struct tls *access_identity(const char *folder, const char *name, struct error *e)
{
	char host[256] = "";
	char *dir = folder ? memory_copy(folder) : config_tls_folder();
	struct tls *tls;

	gethostname(host, sizeof(host) - 1);
	tls = tls_new(dir, name ? name : host, e);
	free(dir);
	return tls;
}
