/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies labels out of segments, guarded: what is in the file may change, or be cut off. */
#include "node-agent/source/row-label.h"

#include <string.h>

#include "node-agent/segment/segment-label.h"

struct row_label_copy {
	const struct segment *segment;
	uint32_t i, id;
	char text[SEGMENT_LABEL_TEXT];
};

static int copy_count(void *arg)
{
	struct row_label_copy *c = arg;

	c->id = segment_labels(c->segment);
	return 0;
}

static int copy_label(void *arg)
{
	struct row_label_copy *c = arg;
	const struct segment_label *label = segment_label(c->segment, c->i);

	c->id = label ? label->id : 0;
	if (label)
		memcpy(c->text, label->text, sizeof(c->text));
	c->text[sizeof(c->text) - 1] = '\0';
	return 0;
}

int row_labels_take(const struct segment *s, struct names *names, uint32_t *seen)
{
	struct row_label_copy c = {.segment = s};
	uint32_t count;

	if (segment_guarded(copy_count, &c) < 0)
		return -1;
	count = c.id;
	if (count == *seen)
		return 0;
	for (c.i = 0; c.i < s->layout.labels_max; c.i++) {
		if (segment_guarded(copy_label, &c) < 0)
			return -1;
		/* what is no text, or too many, is not shown by its name */
		if (c.id)
			names_label_learn(names, c.id, c.text);
	}
	*seen = count;
	return 0;
}
