# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/counter.c %D%/accounting.c %D%/accounting.h \
	%D%/reaper.c %D%/reaper.h %D%/label.c %D%/label.h %D%/row-names.c %D%/row-names.h \
	%D%/row-fetch.c %D%/row-gone.c \
	%D%/sampled.c %D%/sampled.h %D%/sampler.c %D%/sampler.h %D%/sieve.c %D%/sieve.h %D%/row-sample.c %D%/row-thread.c %D%/row-thread.h %D%/row-typed.c %D%/row-typed.h %D%/row-tell.c %D%/row-tell.h %D%/row-private.h %D%/row-take.c %D%/row.c %D%/row.h \
	%D%/site.c %D%/site.h %D%/source-host.c %D%/stack.c %D%/stack.h %D%/source.c %D%/source.h
EXTRA_DIST += %D%/README.md
