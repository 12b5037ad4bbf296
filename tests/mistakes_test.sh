# SPDX-License-Identifier: BSD-3-Clause
# Tests that in each of twenty programs with a mistake the rank that makes it is named, and why, and nobody where there is none.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
unset EVSPACE_TLS EVSPACE_ENTRY
bed_start agent evspace agent
bed_until evspace status

# What each mistake is found by: what calls differ in, else what rank 2 is for those that wait for it.
mistakes="operation operation root root odd datatype datatype reduction size operation
	operation dead odd odd operation odd odd operation operation awaited"

started() {
	local run=$1

	shift
	bed_start "$run" evspace run --run "$run" -- mpirun --oversubscribe -np 4 "$top_builddir/tests/apps/mistakes" --seconds 1000 "$@"
}

look() {
	timeout 100 evspace heartbeat --wait --run "$1" --view heartbeat@element --rate 20 --json "${@:2}" >"$tap_dir/$1.json" 2>"$tap_dir/$1.err"
}

# watched NUMBER...: one after the other, each ended as soon as something is found.
watched() {
	local i

	for i; do
		started "mistake$i" --mistake "$i"
		look "mistake$i" --check --duration 60
		bed_kill TERM "mistake$i"
	done
}

# named NUMBER: rows of what was found and whom it names, without those that say nothing.
named() {
	sed -n -e 's/.*"type":"disagreement".*"differs":"\([a-z]*\)","odd":\[\([0-9,]*\)\].*/\1 \2/p' \
		-e 's/.*"rank":\([0-9]*\),.*"stuck":true.*"odd":true.*/odd \1/p' \
		-e 's/.*"rank":\([0-9]*\),.*"culprit":true.*"dead":false.*/awaited \1/p' \
		-e 's/.*"rank":\([0-9]*\),.*"culprit":true.*"dead":true.*/dead \1/p' "$tap_dir/$1.json" | sort -u
}

# How long after rank 2 has begun it that was known, by the event space's own clock, in ms; how often was looked.
delay() {
	sed -n 's/.*"type":"wave".*"time_ns":\([0-9]*\),.*/\1/p; s/.*"rank":2,.*"start_ns":\([0-9]*\),"end_ns":\([a-z0-9]*\),.*/\1 \2/p' "$tap_dir/$1.json" |
		awk 'NR == 1 { time = $1 } NR == 2 { print int((time - ($2 == "null" ? $1 : $2)) / 1e6) }'
}

# is_named NUMBER WHY: rank 2 and nobody else, within two seconds and, on a slow machine, three looks.
is_named() {
	local ms rate

	[ "$(named "mistake$1")" = "$2 2" ] || { named "mistake$1"; cat "$tap_dir/mistake$1".{json,err}; return 1; }
	ms=$(delay "mistake$1")
	rate=$(sed -n 's/.*looks (\([0-9]*\).*/\1/p' "$tap_dir/mistake$1.err")
	echo "$ms" >>"$tap_dir/delays"
	[ "$ms" -le $((2000 + (${rate:-1} < 10 ? 3000 / (${rate:-1} + 1) : 0))) ] || { echo "only after $ms ms"; return 1; }
}

# The call site of who waits, in a program with line numbers.
sites_are_said() {
	grep -q '"rank":2,.*"stuck":true.*"site":"mistakes.c:[0-9]*"' "$tap_dir/mistake5.json" &&
		grep -q '"rank":0,.*"stuck":true.*"site":"mistakes.c:[0-9]*"' "$tap_dir/mistake17.json" || { cat "$tap_dir/mistake5.json"; return 1; }
}

all_watched() {
	watched 1 4 7 10 13 16 19 & watched 2 5 8 11 14 17 20 & watched 3 6 9 12 15 18 & wait
}

nobody_is_named() {
	started right --right
	look right
	bed_wait right && bed_ended right 0 && [ "$(grep -c '"type":"wave"' "$tap_dir/right.json")" -gt 10 ] &&
		[ -z "$(named right)" ] || { named right; tail -n 20 "$tap_dir/right.json"; return 1; }
}

tap_case "twenty programs with a mistake run and are watched" all_watched
number=0
for why in $mistakes; do
	number=$((number + 1))
	tap_case "mistake $number: rank 2 is named: $why" is_named $number "$why"
done
tap_case "where they have called what they wait in" sites_are_said
echo "# known after at most $(sort -n "$tap_dir/delays" | tail -n 1) ms"
tap_case "the same without mistakes: nobody is named" nobody_is_named
tap_done
