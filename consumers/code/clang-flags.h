/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags that say how a source in C or C++ is to be read. */
#ifndef EVSPACE_CLANG_FLAGS_H
#define EVSPACE_CLANG_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

struct clang_flags {
	char **words;
	size_t n;
	bool openmp;
};

/**
 * Take the flags of @path: of @said (words between blanks; NULL: none), else, unless it is @apart
 * (code-read.h), of the nearest compile_commands.json, in a folder above it or in `build` there;
 * and those that its headers may need in any case. Only what says which text is read is taken,
 * nothing that makes libclang load or write anything.
 */
void clang_flags_take(struct clang_flags *flags, const char *path, const char *said, bool apart);

void clang_flags_add(struct clang_flags *flags, const char *word);

/** The folder for headers that word @i names, or the header that it includes (*@file then), for the
 * caller to free; NULL: it names none. */
char *clang_flags_place(const struct clang_flags *flags, size_t i, bool *file);

/** Is the file in the folder @folder, in one that the flags have for headers, in /usr, or one that
 * the flags include, or beside that in its folder? */
bool clang_flags_have(const struct clang_flags *flags, const char *folder, const char *file);

void clang_flags_fini(struct clang_flags *flags);

#endif
