# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libagent_la_SOURCES += \
	%D%/arrears.c %D%/arrears.h %D%/uncollected.c %D%/uncollected.h %D%/audit.c %D%/audit.h %D%/commanded.c %D%/bucket.c %D%/bucket.h \
	%D%/costs.c %D%/costs.h %D%/defined.c %D%/defined.h %D%/element-report.c %D%/element-report.h %D%/functions.c %D%/functions.h %D%/hardware.c %D%/hardware.h %D%/judgement.c %D%/judgement.h %D%/lasting.c %D%/lasting.h %D%/made.c %D%/made.h %D%/opened.c %D%/opened.h \
	%D%/remap-check.c %D%/remap-check.h %D%/remap.c %D%/remap.h \
	%D%/remap-elements.c %D%/remap-elements.h %D%/remap-notes.c %D%/remap-notes.h %D%/remap-probe.c %D%/remap-probe.h \
	%D%/properties.c %D%/properties.h \
	%D%/report.c %D%/process-table.c %D%/process-table.h %D%/rights.c %D%/rights.h \
	%D%/search.c %D%/session.c %D%/session.h %D%/stacks.c %D%/stacks.h %D%/shares.c %D%/shares.h \
	%D%/survey.c %D%/survey.h %D%/switch.c %D%/switch.h %D%/steering.c %D%/steering.h \
	%D%/telling.c %D%/telling.h \
	%D%/trials.c %D%/trials.h %D%/underway.c %D%/underway.h %D%/usage.c %D%/usage.h %D%/waits.c %D%/waits.h
EXTRA_DIST += %D%/README.md
