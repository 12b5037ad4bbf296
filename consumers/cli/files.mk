# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

evspace_SOURCES += \
	%D%/agent.c %D%/clocks.c %D%/clocks.h %D%/command.h %D%/element.c %D%/element-elsewhere.c %D%/element-elsewhere.h %D%/element-into.c %D%/element-into.h %D%/element-show.c %D%/element-show.h %D%/field-words.c %D%/field-words.h %D%/json.c %D%/json.h %D%/module.c %D%/module.h %D%/options-open.c %D%/options-shared.c \
	%D%/options.c %D%/options.h %D%/profile.c %D%/profile.h %D%/profiles.c %D%/status.c %D%/status-line.c %D%/status-line.h \
	%D%/subprocess.c %D%/subprocess.h %D%/tally.c %D%/tally.h %D%/toll.c %D%/toll.h %D%/words.c %D%/words.h

run_sources += \
	%D%/preload.c %D%/preload.h %D%/purge.c %D%/runs.c
EXTRA_DIST += %D%/README.md %D%/text.awk
