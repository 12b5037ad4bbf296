/* SPDX-License-Identifier: BSD-3-Clause */
/* Macros of Fortran's sources, by which a preprocessor chooses the parts of `#if`. */
#ifndef EVSPACE_FORTRAN_MACROS_H
#define EVSPACE_FORTRAN_MACROS_H

struct fortran_macros;

/** Those of a compiler with these flags (-DNAME=VALUE, -UNAME, -fopenmp). NULL: nothing is known of
 * them, and of each `#if` the first part is compiled, or the second of `#if 0`. */
struct fortran_macros *fortran_macros_new(const char *flags);
void fortran_macros_free(struct fortran_macros *macros);

/** Take "define NAME VALUE", or "undef NAME"; all else is nothing. */
void fortran_macros_take(struct fortran_macros *macros, const char *line);

/** Is the word that @text begins with a macro that stands for a type, as "integer*2"? */
int fortran_macros_type(const struct fortran_macros *macros, const char *text);

/** Does "if A > 3", "ifdef A", "ifndef A" or "elif A" hold? So does what is not understood. */
int fortran_macros_hold(const struct fortran_macros *macros, const char *line);

#endif
