/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of the bench of collective operations. */
#ifndef EVSPACE_BENCH_COLOP_H
#define EVSPACE_BENCH_COLOP_H

#include "pathmap/base/error.h"
#include "tests/bench/bench.h"

/** Prints one line, or a few. Returns 0, or -1 with @e. */
typedef int colop_case(const struct bench_options *o, struct error *e);

/** Are late ranks found that were planted, and no others (tests/bench/planted.sh)? */
colop_case colop_planted;

/** Are times of events on hosts whose clocks are seconds apart, drift, are slewed and step within
 * their bound; and how small is that? */
colop_case colop_clock;

/** How much longer does the small wind tunnel take, collected and looked at by evspace colop? */
colop_case colop_price;

/** How long does an allreduce over two clusters take, along the pathmap's tree and by the MPI's own
 * algorithms (tests/bench/steer.sh)? */
colop_case colop_allreduce;

/** What does a write to an element of a program take (tests/bench/element)? */
colop_case colop_element;

#endif
