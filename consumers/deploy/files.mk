# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/deploy-status.c %D%/deploy.c %D%/deploy.h %D%/discover-pvm.c %D%/discover-run.c \
	%D%/discover-slurm.c %D%/discover-ssh.c %D%/discover.c %D%/discover.h \
	%D%/parallel.c %D%/finding-words.c %D%/finding.c %D%/finding.h %D%/bundle.c %D%/target.c %D%/target.h
EXTRA_DIST += %D%/README.md
