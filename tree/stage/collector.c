/* SPDX-License-Identifier: BSD-3-Clause */
/* Collector: passes everything on; that it was there, and when, is recorded for the monitors' run,
 * as it is of all stages (the paper's event collectors on a path). */
#include "tree/stage/stage.h"

#include <errno.h>

static int collector_init(struct stage *s, const char *args, struct error *e)
{
	(void)s;
	if (!*args)
		return 0;
	errno = EINVAL;
	return errorf(e, "collector \"%.60s\" is not understood; it takes no arguments", args);
}

static int collector_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	(void)s;
	(void)ask;
	(void)b;
	return 0;
}

const struct stage_ops collector_ops = {
	.name = "collector",
	.op = OP_EVSPACE_COLLECTOR,
	.traits = {.keeps = true, .passes = true},
	.init = collector_init,
	.apply = collector_apply,
};
