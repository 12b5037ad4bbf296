/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files that read application.map, and views that consumers define. */
#ifndef EVSPACE_APPLICATION_READ_H
#define EVSPACE_APPLICATION_READ_H

#include "pathmap/grammar/directive.h"
#include "pathmap/model/application.h"

/** The blocks of an application map. */
enum application_context {
	IN_MAP,
	IN_APPLICATION,
	IN_COLLECT,
	IN_ELEMENTS,
	IN_MADE,
	IN_VIEW,
	IN_VIEWS
};

/** What all rows of the table work on, besides their block: reader->map. */
struct application_map {
	struct application *application;     /* NULL: a view is read by itself */
	pathmap_stage_check *check;	     /* NULL: stages are not checked */
	const struct definable *definable;   /* what may be in a consumer's view; NULL: anything */
	const struct stage_aliases *aliases; /* NULL: those of a map that is elsewhere */
	bool has_ranks;
};

/** Prepare @reader for @source, by the table of an application map. */
void application_reader(struct reader *reader, struct application_map *map,
			const struct mapfile *source, struct diagnostics *diagnostics);

/** `select PATTERN ...;`, `read READING;`, `use VIEW ...;` and `LEVEL STAGE ARGUMENTS;` into the
 * view
 * @target. */
void select_apply(struct reader *reader, void *target, const struct statement *statement);
void read_apply(struct reader *reader, void *target, const struct statement *statement);
void use_apply(struct reader *reader, void *target, const struct statement *statement);
void stage_apply(struct reader *reader, void *target, const struct statement *statement);

/** Is the word a stage in a view, without its level? Then it is complained of. */
bool stage_alone(struct reader *reader, unsigned context, const struct word *word);

/** `collect rank[0-7] t[0-1];`, if that is what the statement says: true, and it is applied. */
bool only_apply(struct reader *reader, struct application *application,
		const struct statement *statement);

/** `elements PATTERN ... { ... }` into the application @target. */
void elements_apply(struct reader *reader, void *target, const struct statement *statement);

/** `element NAME { ... }` into the application @target, and what is in the block into the
 * made_element
 * @target. */
void made_apply(struct reader *reader, void *target, const struct statement *statement);
void made_field_apply(struct reader *reader, void *target, const struct statement *statement);
void made_capacity_apply(struct reader *reader, void *target, const struct statement *statement);
void made_patience_apply(struct reader *reader, void *target, const struct statement *statement);
void made_run_apply(struct reader *reader, void *target, const struct statement *statement);
void made_on_apply(struct reader *reader, void *target, const struct statement *statement);

/** `defined by ROLE;`, `stages at most N;`, `open at most N;`, `cost at most TIME;`,
 * `kinds STAGE ...;`, `trees SHAPE ...;` and `concurrency at most N;` into the definable @target.
 */
void definable_by_apply(struct reader *reader, void *target, const struct statement *statement);
void definable_stages_apply(struct reader *reader, void *target, const struct statement *statement);
void definable_open_apply(struct reader *reader, void *target, const struct statement *statement);
void definable_window_apply(struct reader *reader, void *target, const struct statement *statement);
void definable_cost_apply(struct reader *reader, void *target, const struct statement *statement);
void definable_kinds_apply(struct reader *reader, void *target, const struct statement *statement);
void definable_trees_apply(struct reader *reader, void *target, const struct statement *statement);
void definable_concurrency_apply(struct reader *reader, void *target,
				 const struct statement *statement);

/** `stage NAME from "FILE.so";` into the application @target. */
void stage_alias_apply(struct reader *reader, void *target, const struct statement *statement);

#endif
