/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrears: hosts that were not there when a map was applied are told what it says of elements as
 * soon as they are (docs/decisions/0063-who-comes-back-is-told.md). */
#ifndef EVSPACE_ARREARS_H
#define EVSPACE_ARREARS_H

#include <stddef.h>

#include "pathmap/plan/plan.h"
#include "tree/wire/wire.h"

struct arrears;
struct session_host;

/** Those of the entry agent @host, which its active map remembers. Aborts when memory is out. */
struct arrears *arrears_new(struct session_host *host);

/** Agents that have received the command go on with it. NULL is fine. */
void arrears_free(struct arrears *arrears);

/** The active map is another one: nothing older is said to anybody any more. If the hosts of @plan
 * (NULL: none) are told now what it says of elements, all of them are behind until arrears_add(),
 * so that an entry that ends meanwhile still knows it. */
void arrears_begin(struct arrears *arrears, const struct plan *plan);

/** These @n have answered to that, or have not and are in arrears from now on. */
void arrears_add(struct arrears *arrears, Evspace__Host *const *hosts, size_t n);

/** Then: go on. */
void arrears_renew(struct arrears *arrears);

#endif
