/* SPDX-License-Identifier: BSD-3-Clause */
/* One question to an agent, for commands that open no view. */
#ifndef EVSPACE_CLIENT_ASK_H
#define EVSPACE_CLIENT_ASK_H

#include <stddef.h>

#include "consumers/client/evspace-client.h"
#include "tree/wire/wire.h"

/**
 * Ask an agent @question without opening a scope. Returns its answer of the kind @answer (free it
 * with evspace__frame__free_unpacked()), or NULL with *@failure and @why (@n bytes) as
 * evspace_open().
 */
Evspace__Frame *client_ask(const struct evspace_options *options, const Evspace__Frame *question,
			   Evspace__Frame__KindCase answer, enum evspace_failure *failure,
			   char *why, size_t n);

#endif
