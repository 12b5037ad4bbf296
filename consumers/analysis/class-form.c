/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps forms of classes in a table. */
#include "consumers/analysis/class-form.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"

#define YOUNG_MOST 16u

struct class_form *class_form_of(struct class_form **forms, const struct class_form_key *key)
{
	struct class_form *f;

	HASH_FIND(hh, *forms, key, sizeof(*key), f);
	if (f)
		return f;
	f = memory_new(1, sizeof(*f));
	f->key = *key;
	HASH_ADD(hh, *forms, key, sizeof(f->key), f);
	return f;
}

bool class_form_is_full(const struct class_form *form)
{
	return form->young >= YOUNG_MOST;
}

void class_forms_free(struct class_form **forms)
{
	struct class_form *f, *next;

	HASH_ITER(hh, *forms, f, next)
	{
		HASH_DEL(*forms, f);
		free(f);
	}
}
