# SPDX-License-Identifier: BSD-3-Clause
# Tests a real program, Debian's hpcc, watched and unmodified: its own checks pass, its results are
# those that it has without collectors, no tuple is unaccounted for.

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
	bed_until test -s "$bed_dir/$run-p2p.out"
	bed_gone "$(bed_pid "$run")" || : >"$tap_dir/$run.during"
	bed_wait "$run"
	for class in $classes; do
		bed_wait "$run-$class"
	done
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

watch small 1 --capacity 20
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
tap_done
