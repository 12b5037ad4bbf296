/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks lines of JSON: those of one type have the same keys, and a value that is not null is of
 * one kind (docs/consumers.md). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int row_compare(json_t *first, json_t *row, const char *line)
{
	const char *key;
	json_t *value, *known;
	int faults = json_object_size(first) != json_object_size(row);

	if (faults)
		printf("other keys: %s", line);
	json_object_foreach(row, key, value)
	{
		known = json_object_get(first, key);
		if (!known || (json_is_null(known) && !json_is_null(value))) {
			faults += !known;
			if (!known)
				printf("a new key, %s: %s", key, line);
			else
				json_object_set(first, key, value);
			continue;
		}
		if (json_is_null(value) || json_typeof(known) == json_typeof(value) ||
		    (json_is_boolean(known) && json_is_boolean(value)))
			continue;
		printf("%s is of another kind: %s", key, line);
		faults++;
	}
	return faults;
}

int main(void)
{
	json_t *types = json_object();
	char *line = NULL;
	size_t room = 0, rows = 0;
	int faults = 0;

	while (getline(&line, &room, stdin) > 0) {
		json_t *row = json_loads(line, 0, NULL), *first;
		const char *type = json_string_value(json_object_get(row, "type"));

		type = type ? type : "";
		rows++;
		if (!row) {
			printf("no JSON: %s", line);
			faults++;
			continue;
		}
		first = json_object_get(types, type);
		if (first)
			faults += row_compare(first, row, line);
		else
			json_object_set(types, type, row);
		json_decref(row);
	}
	json_decref(types);
	free(line);
	if (rows == 0)
		puts("nothing was said");
	return rows == 0 || faults > 0;
}
