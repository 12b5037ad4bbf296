/* SPDX-License-Identifier: BSD-3-Clause */
/* Predefined reductions and datatypes, in the order of their numbers in signatures
 * (tree/data/signature.h): never change it, but add to its end. */
#ifndef EVSPACE_SIGNATURE_TABLE_H
#define EVSPACE_SIGNATURE_TABLE_H

/** Reductions (MPI-3.1 5.9.2), from 1: name, symbol of Open MPI. */
#define SIGNATURE_REDUCTIONS(ROW) \
	ROW(MAX, max)             \
	ROW(MIN, min)             \
	ROW(SUM, sum)             \
	ROW(PROD, prod)           \
	ROW(LAND, land)           \
	ROW(BAND, band)           \
	ROW(LOR, lor)             \
	ROW(BOR, bor)             \
	ROW(LXOR, lxor)           \
	ROW(BXOR, bxor)           \
	ROW(MINLOC, minloc)       \
	ROW(MAXLOC, maxloc)

/** Datatypes (MPI-3.1 3.2.2), from 0: name, symbol of Open MPI, bytes on x86-64 and aarch64; where
 * a library has another size, the type is known by that alone. */
#define SIGNATURE_TYPES(ROW)                                  \
	ROW(CHAR, char, 1)                                    \
	ROW(SIGNED_CHAR, signed_char, 1)                      \
	ROW(UNSIGNED_CHAR, unsigned_char, 1)                  \
	ROW(BYTE, byte, 1)                                    \
	ROW(PACKED, packed, 1)                                \
	ROW(WCHAR, wchar, 4)                                  \
	ROW(SHORT, short, 2)                                  \
	ROW(UNSIGNED_SHORT, unsigned_short, 2)                \
	ROW(INT, int, 4)                                      \
	ROW(UNSIGNED, unsigned, 4)                            \
	ROW(LONG, long, 8)                                    \
	ROW(UNSIGNED_LONG, unsigned_long, 8)                  \
	ROW(LONG_LONG, long_long_int, 8)                      \
	ROW(UNSIGNED_LONG_LONG, unsigned_long_long, 8)        \
	ROW(FLOAT, float, 4)                                  \
	ROW(DOUBLE, double, 8)                                \
	ROW(LONG_DOUBLE, long_double, 16)                     \
	ROW(INT8_T, int8_t, 1)                                \
	ROW(INT16_T, int16_t, 2)                              \
	ROW(INT32_T, int32_t, 4)                              \
	ROW(INT64_T, int64_t, 8)                              \
	ROW(UINT8_T, uint8_t, 1)                              \
	ROW(UINT16_T, uint16_t, 2)                            \
	ROW(UINT32_T, uint32_t, 4)                            \
	ROW(UINT64_T, uint64_t, 8)                            \
	ROW(AINT, aint, 8)                                    \
	ROW(OFFSET, offset, 8)                                \
	ROW(COUNT, count, 8)                                  \
	ROW(C_BOOL, c_bool, 1)                                \
	ROW(C_FLOAT_COMPLEX, c_float_complex, 8)              \
	ROW(C_DOUBLE_COMPLEX, c_double_complex, 16)           \
	ROW(C_LONG_DOUBLE_COMPLEX, c_long_double_complex, 32) \
	ROW(FLOAT_INT, float_int, 8)                          \
	ROW(DOUBLE_INT, double_int, 12)                       \
	ROW(LONG_INT, long_int, 12)                           \
	ROW(2INT, 2int, 8)                                    \
	ROW(SHORT_INT, short_int, 6)                          \
	ROW(LONG_DOUBLE_INT, longdbl_int, 20)                 \
	ROW(CHARACTER, character, 1)                          \
	ROW(LOGICAL, logical, 4)                              \
	ROW(INTEGER, integer, 4)                              \
	ROW(REAL, real, 4)                                    \
	ROW(DOUBLE_PRECISION, dblprec, 8)                     \
	ROW(COMPLEX, cplex, 8)                                \
	ROW(DOUBLE_COMPLEX, dblcplex, 16)                     \
	ROW(2REAL, 2real, 8)                                  \
	ROW(2DOUBLE_PRECISION, 2dblprec, 16)                  \
	ROW(2INTEGER, 2integer, 8)

#endif
