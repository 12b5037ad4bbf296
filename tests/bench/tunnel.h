/* SPDX-License-Identifier: BSD-3-Clause */
/* The tunnel: the wind tunnel of tests/apps, collected from, whose progress is read off its
 * elements, so that measuring it costs it nothing. */
#ifndef EVSPACE_BENCH_TUNNEL_H
#define EVSPACE_BENCH_TUNNEL_H

#include <stddef.h>

#include "pathmap/base/error.h"

struct bed;
struct tunnel;

#define TUNNEL_RUN   "windtunnel"
#define TUNNEL_RANKS 4

/** Start it, size small, with agents of @bed there; returns when all ranks are past their first
 * steps. @more: words for it, ended by NULL; NULL: none. Returns NULL with @e. */
struct tunnel *tunnel_new(const struct bed *bed, const char *const *more, struct error *e);

/** End it. NULL is fine. */
void tunnel_free(struct tunnel *t);

/**
 * Events a second over @seconds: so many in each step of the program, all steps alike. Longer where
 * others leave the program so little of the machine that hardly a step is done. Returns 0, or -1
 * with @e.
 */
int tunnel_pace(struct tunnel *t, double seconds, double *pace, struct error *e);

#endif
