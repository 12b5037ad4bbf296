# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/deploy-status.c %D%/deploy.c %D%/deploy.h %D%/discover-pvm.c %D%/discover-run.c \
	%D%/discover-slurm.c %D%/discover-ssh.c %D%/discover.c %D%/discover.h \
	%D%/parallel-words.c %D%/parallel-words.h %D%/parallel.c %D%/parallel.h \
	%D%/finding-place.c %D%/finding-words.c \
	%D%/finding.c %D%/finding.h %D%/bundle.c %D%/bundle.h %D%/target.c %D%/target.h
EXTRA_DIST += %D%/README.md
