/* SPDX-License-Identifier: BSD-3-Clause */
/* Has less of a program recorded while a client looks, under a lease: then all is as before. */
#ifndef EVSPACE_CLIENT_COLLECT_H
#define EVSPACE_CLIENT_COLLECT_H

#include <stdbool.h>

struct evspace_client;
struct client_collect;

/** Hears that it cannot be done, and why. */
typedef void client_collect_failed(void *arg, const char *why);

/** For the client, which must exist for as long. Nothing is changed yet. */
struct client_collect *client_collect_new(struct evspace_client *c, client_collect_failed *failed,
					  void *arg);

/** Modes are as before; NULL is fine. */
void client_collect_free(struct client_collect *collect);

/** Record one event in 2^@halvings of classes of which more is recorded; 0: as before. */
void client_collect_set(struct client_collect *collect, unsigned halvings);

/** What was set last. Unless it is 0 modes are held, and nobody can experiment. */
unsigned client_collect_halvings(const struct client_collect *collect);

/** Was it changed so lately that what it costs is not known yet? */
bool client_collect_unsettled(const struct client_collect *collect);

#endif
