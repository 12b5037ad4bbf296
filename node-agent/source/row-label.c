/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies labels out of segments, guarded: what is in the file may change, or be cut off. */
#include "node-agent/source/row-label.h"

#include <string.h>

#include "node-agent/segment/segment-label.h"
#include "node-agent/segment/segment-read.h"
#include "tree/data/names-comm.h"

/* Slots that are copied at a time: all that a program has. */
#define COPY 256u

struct row_label_copy {
	const struct segment *segment;
	struct row_labels *taken;
	uint32_t count; /* of labels that are in the slots copied */
	uint32_t ids[COPY];
	char texts[COPY][SEGMENT_LABEL_TEXT];
};

bool row_labels_changed(const struct segment *s, const struct row_labels *taken)
{
	return taken->at > 0 || segment_labels(s) != taken->seen;
}

/* The slots that are next, if there is anything new. */
static int copy_labels(void *arg)
{
	struct row_label_copy *c = arg;
	const uint32_t from = c->taken->at;

	c->count = 0;
	if (!row_labels_changed(c->segment, c->taken))
		return 0;
	if (from == 0)
		c->taken->goal = segment_labels(c->segment);
	for (uint32_t i = from; i - from < COPY && i < c->segment->layout.labels_max; i++) {
		const struct segment_label *label = segment_label(c->segment, i);

		if (!label)
			continue;
		c->ids[c->count] = label->id;
		memcpy(c->texts[c->count], label->text, SEGMENT_LABEL_TEXT);
		c->texts[c->count++][SEGMENT_LABEL_TEXT - 1] = '\0';
	}
	return 1;
}

int row_labels_take(const struct segment *s, struct names *names, struct row_labels *taken)
{
	struct row_label_copy c = {.segment = s, .taken = taken};
	int rc = segment_guarded(copy_labels, &c);

	if (rc <= 0)
		return rc;
	/* what is no text, or too many, is not shown by its name */
	for (uint32_t i = 0; i < c.count; i++)
		names_label_learn(names, c.ids[i], c.texts[i]);
	taken->at += COPY;
	if (taken->at < s->layout.labels_max)
		return 1;
	taken->at = 0;
	taken->seen = taken->goal;
	return 0;
}
