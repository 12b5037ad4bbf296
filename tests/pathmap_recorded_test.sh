# SPDX-License-Identifier: BSD-3-Clause
# Tests what `evspace map` says of the recorded pathmaps, word by word, and of the shipped ones.
#
# Each folder of tests/recorded/pathmap is a pathmap, and `expected` in it what is said of it. After a
# change that is wanted, "RECORD=1 bash tests/pathmap_recorded_test.sh" writes what is said now.

top_srcdir=${top_srcdir:-.}
. "$top_srcdir/tests/tap.sh"

recorded=$top_srcdir/tests/recorded/pathmap

# What is predicted must not depend on what somebody measured here.
export XDG_CONFIG_HOME=$tap_dir

# Everything that is said: of faults, or else of what is generated. Predictions are cost_test's.
said() {
	(cd "$1" && evspace map check . && evspace map show . | sed '/^predicted: /,/^$/d') 2>&1
}

as_recorded() {
	said "$1" >"$tap_dir/said"
	[ -z "${RECORD-}" ] || cp "$tap_dir/said" "$1/expected"
	diff -u "$1/expected" "$tap_dir/said"
}

exit_code() {
	local wanted=$1

	shift
	evspace map "$@" >"$tap_dir/out" 2>"$tap_dir/err"
	[ $? -eq "$wanted" ] || { cat "$tap_dir/out" "$tap_dir/err"; return 1; }
}

one_line_of_usage() {
	exit_code 2 "$@" && [ "$(wc -l <"$tap_dir/err")" -le 2 ] && grep -q -- '--help' "$tap_dir/err"
}

# Each line is an object of schema 1; the last one of `check` is the summary.
json_lines() {
	exit_code "$1" "${@:2}" && ! grep -vq '^{"schema":1,.*}$' "$tap_dir/out"
}

json_errors() {
	json_lines 1 check --json "$recorded/error-ranks" &&
		grep -q '"line":2,"column":42' "$tap_dir/out" &&
		tail -n 1 "$tap_dir/out" | grep -q '"fine":false,"errors":1'
}

graph_accepted() {
	exit_code 0 show --dot "$1" && dot -Tsvg "$tap_dir/out" >/dev/null
}

predicted() {
	exit_code 0 show --window 4 "$recorded/two-clusters" &&
		[ "$(grep -c '^predicted: [0-9]* waves/s, [0-9]* with 4 under way; .*built-in costs' \
			"$tap_dir/out")" -eq 2 ] &&
		grep -q '^  front-ga [0-9]* B, .* a wave$' "$tap_dir/out"
}

# figure NAME FILE: the first number of that name in lines of JSON.
figure() {
	sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$2" | head -n 1
}

# What is suggested can be written, and is predicted the same then.
suggested() {
	local lines

	cp -r "$recorded/tree-flat" "$tap_dir/better" && chmod -R u+w "$tap_dir/better" &&
		exit_code 0 suggest --view heartbeat "$tap_dir/better" &&
		grep -q '  as it is$' "$tap_dir/out" &&
		json_lines 0 suggest --view heartbeat --json "$tap_dir/better" &&
		grep '"lines":"t' "$tap_dir/out" | tail -n 1 >"$tap_dir/suggested" &&
		lines=$(sed 's/.*"lines":"\([^"]*\)".*/\1/' "$tap_dir/suggested") &&
		echo "view heartbeat { $lines }" >>"$tap_dir/better/mapping.map" &&
		exit_code 0 show --json --view heartbeat "$tap_dir/better" &&
		sed 's/.*"predicted"://' "$tap_dir/out" >"$tap_dir/now" &&
		[ "$(figure waves_per_s "$tap_dir/now")" = "$(figure waves_per_s "$tap_dir/suggested")" ]
}

# What a person who reads the paper would count: one line for each of its 140 threads.
paper_paths() {
	local examples=$top_srcdir/pathmap/examples

	exit_code 0 show --view heartbeat "$examples/paper" &&
		[ "$(grep -c '^/[48]W/[we][0-7]/rank' "$tap_dir/out")" -eq 140 ] &&
		[ "$(grep -c '^/8W/e2/rank' "$tap_dir/out")" -eq 19 ]
}

# A copy of a pathmap that can be changed, also where the source cannot.
copy() {
	cp -r "$recorded/two-clusters" "$tap_dir/$1" && chmod -R u+w "$tap_dir/$1"
}

unreadable() {
	copy unreadable &&
		rm "$tap_dir/unreadable/cluster.map" "$tap_dir/unreadable/mapping.map" &&
		mkdir "$tap_dir/unreadable/cluster.map" && mkfifo "$tap_dir/unreadable/mapping.map" &&
		exit_code 1 check "$tap_dir/unreadable" &&
		grep -q 'cluster.map: cannot be read: Is a directory; ' "$tap_dir/err" &&
		grep -q 'mapping.map: cannot be read: ' "$tap_dir/err"
}

too_large() {
	copy large &&
		head -c 1048577 /dev/zero | tr '\0' ' ' >"$tap_dir/large/mapping.map" &&
		exit_code 1 check "$tap_dir/large" &&
		grep -q 'mapping.map: larger than 1048576 bytes' "$tap_dir/err"
}

# Hostile maps are answered at once, with a bounded number of complaints.
bounded() {
	local i

	copy flood &&
		for ((i = 0; i < 20000; i++)); do
			echo "place rank[0-65535] on a[0-65535];"
		done >"$tap_dir/flood/mapping.map" &&
		exit_code 1 check "$tap_dir/flood" &&
		[ "$(wc -l <"$tap_dir/err")" -lt 400 ] &&
		grep -q 'more than these 100' "$tap_dir/err"
}

disk_full() {
	evspace map show "$recorded/two-clusters" >/dev/full 2>"$tap_dir/err"
	[ $? -eq 1 ] && grep -q 'No space left' "$tap_dir/err"
}

for case in "$recorded"/*/; do
	tap_case "said of $(basename "$case")" as_recorded "${case%/}"
done
for example in local paper; do
	tap_case "the example $example is fine" exit_code 0 check "$top_srcdir/pathmap/examples/$example"
done
tap_case "the paper's threads all have a path" paper_paths
tap_case "check --json: an object for each error, and a summary" json_errors
tap_case "check --json: fine" json_lines 0 check --json "$recorded/two-clusters"
tap_case "show --json: an object for each view" json_lines 0 show --json "$recorded/two-clusters"
tap_case "show: each view is followed by what is predicted" predicted
tap_case "suggest: what it says can be written" suggested
tap_case "suggest --view of a view that is not there" exit_code 2 suggest "$recorded/two-clusters" --view x
tap_case "suggest without --view" one_line_of_usage suggest a
tap_case "show --view of a view that is not there" exit_code 2 show "$recorded/two-clusters" --view x
tap_case "no action" one_line_of_usage
tap_case "an unknown action" one_line_of_usage paint "$recorded/two-clusters"
tap_case "no directory" one_line_of_usage check
tap_case "two directories" one_line_of_usage check a b
tap_case "an unknown option" one_line_of_usage check a --sharp
tap_case "--dot and --json" one_line_of_usage show a --dot --json
tap_case "show --window of none" eval 'exit_code 2 show a --window 0 && grep -q "^evspace map: --window: .*from 1 to 64$" "$tap_dir/err"'
tap_case "check --view" one_line_of_usage check a --view b
tap_case "--help" exit_code 0 --help
tap_case "a directory and a fifo instead of maps" unreadable
tap_case "a map that is too large" too_large
tap_case "a map with thousands of faults" bounded
tap_case "the answer cannot be written" disk_full
if command -v dot >/dev/null; then
	tap_case "dot accepts the graph" graph_accepted "$top_srcdir/pathmap/examples/paper"
else
	tap_skip "dot accepts the graph" "dot is missing (Debian package graphviz)"
fi
tap_done
