/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective operation, looked at closely: when each rank came and left. */
#ifndef EVSPACE_INSTANCE_H
#define EVSPACE_INSTANCE_H

#include <stdbool.h>

#include "consumers/analysis/meeting.h"
#include "consumers/colop/attendance.h"
#include "consumers/client/evspace-client.h"
#include "consumers/draw/picture.h"
#include "pathmap/base/error.h"

/** Room for the name of a communicator. */
#define INSTANCE_COMM 48

/** Which one is wanted, and what came of it. Plain data; zeroed: none is wanted. */
struct instance {
	char comm[INSTANCE_COMM]; /* as it is shown: "world", "5db6e2d0"; "": none is wanted */
	bool found;
	bool passed;		/* a later one on its communicator has come */
	struct meeting meeting; /* a copy */
};

/** Read "world#1200". Returns 0, or -1 with @e. */
int instance_parse(struct instance *instance, const char *text, struct error *e);

/** Keep @meeting if it is the one that is wanted. */
void instance_take(struct instance *instance, const struct evspace_client *client,
		   const struct meeting *meeting);

/** A line for each rank, in the order of coming, with a bar from when it came to when it left; or
 * JSON: an object "instance", and an object "arrival" for each rank. It is found. */
void instance_show(const struct instance *instance, const struct evspace_client *client,
		   const struct attendance *attendance);
void instance_json(const struct instance *instance, const struct attendance *attendance);

/** Put it onto the empty @picture. It is found. (instance-picture.c) */
void instance_draw(const struct instance *instance, const struct evspace_client *client,
		   const struct attendance *attendance, struct picture *picture);

void instance_fini(struct instance *instance);

#endif
