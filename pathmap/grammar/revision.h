/* SPDX-License-Identifier: BSD-3-Clause */
/* Revisions: the text of a map file with some of its statements replaced, all else as it was. */
#ifndef EVSPACE_REVISION_H
#define EVSPACE_REVISION_H

/**
 * @text, which is right, with its statements `KEYWORD ...;` that stand in @depth blocks replaced:
 * the first by @by, others by nothing; where there is none @by comes at the end (@depth 0) or
 * nowhere. The caller's to free().
 */
char *revision_replace(const char *text, unsigned depth, const char *keyword, const char *by);

/**
 * @text with @head before it, in place of an earlier head: a block of comments that begins with the
 * same 20 characters and ends with an empty line, as @head has to. The caller's to free().
 */
char *revision_head(const char *text, const char *head);

#endif
