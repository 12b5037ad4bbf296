# SPDX-License-Identifier: BSD-3-Clause
# Tests clocks of hosts that are seconds apart, drift, and step: what status --clocks says of them, and times of events.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

skew=$top_builddir/tests/preload/.libs/skew.so
ranks=4
slack_ns=2000000 # what the agents' start and the scripts take to read clocks

# How far clocks of hosts lead (tests/preload/skew.c); the others have this machine's clock.
a1="0 3000000000 200"
b0="0 -1500000000 -150"

# skew_set NODE TEXT
skew_set() {
	printf '%-256s' "$2" 1<>"$tap_dir/skew.$1"
}

# on NODE COMMAND...: with that host's clock.
on() {
	local clock=$tap_dir/skew.$1

	shift
	if [ -e "$clock" ]; then
		LD_PRELOAD=$skew SKEW=$clock "$@"
	else
		"$@"
	fi
}

stamps_start() {
	local rank=0 node

	mkdir -m 700 "$EVSPACE_DIR/run" || return
	for node in a0 a1 b0 b1; do
		on $node bed_start "stamper$rank" "$top_builddir/tests/stamper" "$EVSPACE_DIR/run" $rank $ranks 100 300
		rank=$((rank + 1))
	done
}

kernel_ns() {
	"$top_builddir/tests/stamper" now
}

clocks() {
	evspace status --connect "$bed_entry" --clocks "$@"
}

# figure NODE FIELD: of the last clocks --json.
figure() {
	sed -n "s/.*\"node\":\"$1\".*\"$2\":\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p" "$tap_dir/clocks"
}

# is_ahead NODE FROM AHEAD PPM: the offset is within its bound of what the host's clock leads by.
is_ahead() {
	awk -v now="$(kernel_ns)" -v offset="$(figure "$1" offset_ns)" -v error="$(figure "$1" error_ns)" \
		-v drift="$(figure "$1" drift_ppm)" -v drift_error="$(figure "$1" drift_error_ppm)" \
		-v from="$2" -v ahead="$3" -v ppm="$4" -v slack=$slack_ns '
		function distance(a, b) { return a < b ? b - a : a - b }
		BEGIN {
			truth = ahead + (now - from) * ppm * 1e-6
			exit !(error > 0 && distance(offset, truth) <= error + slack && distance(drift, ppm) <= drift_error)
		}' && return
	echo "$1 should be ahead by $3 ns + $4 ppm since $2, now is $(kernel_ns)"
	cat "$tap_dir/clocks"
	return 1
}

status_tells() {
	clocks --json >"$tap_dir/clocks" && [ "$(figure front same) $(figure a0 same) $(figure a1 same)" = "true true false" ] &&
		[ "$(figure a1 clock) $(figure b0 clock)" = "monotonic monotonic" ] &&
		[ "$(figure a0 offset_ns)" = 0 ] && is_ahead a1 $a1 && is_ahead b0 $b0 && return
	cat "$tap_dir/clocks"
	return 1
}

table_tells() {
	clocks >"$tap_dir/table" && tap_printed "$tap_dir/table" -- "^front +.*the entry's clock" '^a0 +.*the same clock' \
		'^a1 +monotonic +[+][0-9.]* s [+]- .*ppm'
}

# Times of hosts seconds apart are those of the entry, within bounds of some milliseconds, even here.
times_are_within() {
	"$top_builddir/tests/stamper" check "$bed_entry" 4 >"$tap_dir/stamps" && awk '
		$2 < 50 || $3 < 0.99 * $2 || $4 > 5000 { bad = 1 }
		END { exit bad || NR != 4 }' "$tap_dir/stamps" && return
	cat "$tap_dir/stamps"
	return 1
}

has_stepped() {
	clocks --json >"$tap_dir/clocks" && [ "$(figure b0 steps)" -ge 1 ]
}

# The clock of b0 steps while somebody looks.
step_is_found() {
	local step

	step=$(($(kernel_ns) + 500000000))
	skew_set b0 "$b0, $step -900000000 -150"
	bed_until has_stepped && clocks --json >"$tap_dir/clocks" && is_ahead b0 "$step" -900000000 -150
}

bed_begin
skew_set a1 "$a1"
skew_set b0 "$b0"
for node in front ga a0 a1 b0 b1; do
	on $node bed_agents $node || exit 99
done
stamps_start
bed_start looker evspace events --connect "$bed_entry" --run run --rate 5 --json
bed_until test -s "$bed_dir/looker.out"
tap_case "status --clocks says how far hosts are ahead, and how fast they are" status_tells
tap_case "so does its table" table_tells
tap_case "times of events are within their bounds" times_are_within
tap_case "a step is found, and what was known is forgotten" step_is_found
tap_done
