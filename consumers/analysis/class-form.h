/* SPDX-License-Identifier: BSD-3-Clause */
/* Class forms: how many classes there are that have had few operations, of those that are alike but
 * for their communicator. Pure. */
#ifndef EVSPACE_CLASS_FORM_H
#define EVSPACE_CLASS_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/hash.h"

/** A class has so many operations at least when it is not young any more. */
#define CLASS_FORM_TIMES 8u

/** What classes of one form have in common. */
struct class_form_key {
	uint32_t site, members;
	uint16_t op, magnitude;
};

struct class_form {
	struct class_form_key key;
	unsigned young;
	UT_hash_handle hh;
};

/** That with @key, new if there is none, in the table @forms, which is NULL at first. */
struct class_form *class_form_of(struct class_form **forms, const struct class_form_key *key);

/** Are there so many young ones that more should not be told apart? Communicators come and go. */
bool class_form_is_full(const struct class_form *form);

void class_forms_free(struct class_form **forms);

#endif
