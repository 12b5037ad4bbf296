# SPDX-License-Identifier: BSD-3-Clause
# Tests a real program, Debian's hpcc, watched and unmodified: its own checks pass, its results are
# those that it has without collectors, no tuple is unaccounted for; what evspace colop says of it, live and of an archive, is what
# all of its events give.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

input=/usr/share/doc/hpcc/examples/_hpccinf.txt
classes="p2p collective wait completion comm env"

# hpcc reads and writes in its folder, $tap_dir/NAME. The example's problem takes three times as long.
hpcc_start() {
	local name=$1

	shift
	mkdir "$tap_dir/$name" && cd "$tap_dir/$name" &&
		sed 's/^1000\( .*Ns\)/500\1/' "$input" >hpccinf.txt || exit 99
	bed_start "$name" "$@" mpirun -np 4 hpcc
	cd "$OLDPWD" || exit 99
}

begun() {
	[ "$(ls "$EVSPACE_DIR/$1/" | grep -c '\.seg$')" -eq 4 ]
}

# One consumer for each class, so that each says how many tuples of its class were lost.
consumers_start() {
	local class

	for class in $classes; do
		bed_start "$1-$class" evspace events --wait --connect "$bed_entry" --run "$1" --backlog \
			--until-end --rate "$2" --select "/**/$class" --json
	done
}

# watch RUN RATE [OPTION...]: run hpcc with six consumers, until all have come to their ends.
watch() {
	local run=$1 rate=$2 class

	shift 2
	hpcc_start "$run" evspace run --run "$run" "$@" --
	bed_until begun "$run"
	consumers_start "$run" "$rate"
	bed_start "$run-colop" evspace colop --wait --connect "$bed_entry" --run "$run" --backlog --until-end --json
	bed_until test -s "$bed_dir/$run-p2p.out"
	bed_gone "$(bed_pid "$run")" || : >"$tap_dir/$run.during"
	bed_wait "$run"
	for class in $classes colop; do
		bed_wait "$run-$class"
	done
}

# All of the run, in an archive, and what colop says of that.
kept() {
	evspace archive --connect "$bed_entry" --run "$1" "$tap_dir/kept-$1" 2>"$tap_dir/err" &&
		evspace archive check "$tap_dir/kept-$1" && evspace colop --from "$tap_dir/kept-$1" --json >"$tap_dir/$1.kept" 2>"$tap_dir/err" ||
		{ cat "$tap_dir/err"; return 1; }
}

# late_ones_are_right RUN FILE...: what these say, by the test's own count of all events, of an archive if there is one.
late_ones_are_right() {
	local events=$bed_dir/$1-collective.out

	if [ -e "$tap_dir/kept-$1" ]; then
		events=$tap_dir/$1.events
		evspace events --from "$tap_dir/kept-$1" --select '/**/collective' --json >"$events" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	fi
	bed_ended "$1-colop" 0 && python3 "$top_srcdir/tests/lateness.py" "$bed_dir/$1-colop.out" $(ls "$tap_dir/$1.kept" 2>/dev/null) \
		<"$events" >"$tap_dir/late-$1" || { cat "$tap_dir/late-$1" "$bed_dir/$1-colop.err"; return 1; }
}

# kinds RUN: on the world, which operations, how many of them.
kinds() {
	sed -n 's/.*"type":"class".*"pattern":"\([^"]*\)","operations":\([0-9]*\),.*"op":"\([^"]*\)".*/\3 \2 \1/p' "$bed_dir/$1-colop.out" | sort
}

repeated() {
	diff <(kinds small) <(kinds large)
}

checks_pass() {
	local output=$tap_dir/$1/hpccoutf.txt

	bed_ended "$1" 0 && grep -q '^Success=1' "$output" &&
		grep -q 'Found 0 errors .*(passed)' "$output" && grep -q '\.\.\. PASSED' "$output" &&
		! grep -n 'FAILED\|failed)\|[1-9][0-9]* tests completed and failed' "$output"
}

# Results that do not depend on time: its summary but for times and rates, and the errors that each
# of its parts has found. (The matrices of DGEMM are others each time, and with them its residual.)
results() {
	local output=$tap_dir/$1/hpccoutf.txt

	sed -n '/Begin of Summary/,/End of Summary/p' "$output" |
		grep -Ev '_(time[0-9]*|CheckTime|ExeUpdates|GUPs|[GT]flops|GBs|GBytes|usec)=|STREAM_(Copy|Scale|Add|Triad)='
	grep -E 'errors in|Node\(s\) with error|\|\|Ax-b\|\||tests completed|Solution Validates' "$output"
	sed -nE 's/^((WALL|CPU)( +[0-9]+){6}) .*(PASSED|FAILED).*/\1 \4/p' "$output"
}

results_agree() {
	diff <(results plain) <(results "$1") && [ "$(results "$1" | wc -l)" -gt 100 ] &&
		results "$1" | grep '^HPL_RnormI='
}

consumers_are_fine() {
	local class

	for class in $classes; do
		bed_ended "$1-$class" 0 || return
		grep -L 'lost' "$bed_dir/$1-$class.err" | grep . && return 1
	done
	! grep -i 'unaccounted' "$bed_dir/$1"-*.err
}

# losses RUN: class=lost of each class, as its consumer says.
losses() {
	local class

	for class in $classes; do
		sed -n "s/.*delivered.* \([0-9,]*\) lost.*/$class=\1/p" "$bed_dir/$1-$class.err" | tr -d ,
	done
}

account() {
	local class losses

	mapfile -t losses < <(losses "$1")
	for class in $classes; do
		cat "$bed_dir/$1-$class.out"
	done | "$top_builddir/tests/account" "$EVSPACE_DIR/$1" "${losses[@]}"
}

accounted() {
	account "$1" >"$tap_dir/account-$1" || { cat "$tap_dir/account-$1"; return 1; }
	# All six classes, and the program did communicate.
	[ "$(wc -l <"$tap_dir/account-$1")" -eq 6 ] && grep 'p2p: [0-9]\{5\}' "$tap_dir/account-$1"
}

some_lost() {
	losses "$1" | grep '=[1-9]'
}

none_lost() {
	[ "$(losses "$1" | grep -c '=0$')" -eq 6 ] || { losses "$1"; return 1; }
}

if ! command -v hpcc >/dev/null || ! [ -e "$input" ]; then
	tap_skip "hpcc runs monitored" "hpcc is missing (Debian package hpcc)"
	tap_done
fi
bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99

hpcc_start plain env
bed_wait plain
tap_case "without collectors: hpcc's own checks pass" checks_pass plain

watch small 1 --capacity p2p=20,wait=20,completion=20,comm=20,env=20,collective=40000
tap_case "small elements: hpcc's own checks pass" checks_pass small
tap_case "its results are the same" results_agree small
tap_case "six consumers come to the end" consumers_are_fine small
tap_case "tuples came while it ran" test -e "$tap_dir/small.during"
tap_case "tuples were overwritten" some_lost small
tap_case "delivered + lost = written in each class" accounted small
sed 's/^/# /' "$tap_dir/account-small"

watch large 20 --threads 1 --capacity 40000
tap_case "large elements: hpcc's own checks pass" checks_pass large
tap_case "its results are the same" results_agree large
tap_case "six consumers come to the end" consumers_are_fine large
tap_case "tuples came while it ran" test -e "$tap_dir/large.during"
tap_case "no tuple was overwritten" none_lost large
tap_case "delivered = written in each class" accounted large
sed 's/^/# /' "$tap_dir/account-large"
if command -v python3 >/dev/null; then
	tap_case "an archive has all of it" kept large
	tap_case "who is late, live and of the archive, is who is late by all events" late_ones_are_right large
	sed 's/^/# /' "$tap_dir/late-large"
	tap_case "... and once more, in the other run" late_ones_are_right small
	sed 's/^/# /' "$tap_dir/late-small"
	tap_case "what is found is found in both runs" repeated
else
	tap_skip "who is late is who is late by all events" "python3 is missing"
fi
tap_done
