# SPDX-License-Identifier: BSD-3-Clause
# For scripts that compare what a program counted itself with what is on record; they define
# `collected RANKS PROGRAM...`, which runs it, and `dumped WHAT`, which says what is on record.

# The collectors count polls per thread, not per operation.
true_counts() {
	grep '^{' "$tap_dir/out" | sed 's/,"polls":[0-9]*//' | grep -v '"calls":0,"bytes":0}' | sort
}

true_polls() {
	sed -n "s/^{\"rank\":$1,.*\"polls\":\([0-9]*\).*/\1/p" "$tap_dir/out" |
		awk '{ n += $1 } END { print n + 0 }'
}

counts_are_right() {
	local ranks=$1 rank

	collected "$@" --json >"$tap_dir/out" || return
	diff <(true_counts) <(dumped counts | sort) || return
	for ((rank = 0; rank < ranks; rank++)); do
		[ "$(true_polls "$rank")" = "$(dumped headers | sed -n "s/^{\"rank\":$rank,.*\"polls\":\([0-9]*\).*/\1/p")" ] ||
			{ echo "rank $rank: polls"; return 1; }
	done
}
