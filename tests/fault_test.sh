# SPDX-License-Identifier: BSD-3-Clause
# Tests faults: no room, too many threads, foreign segments, clocks that step, who hangs; program and others go on.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

apps=$top_builddir/tests/apps
leap=$top_builddir/tests/preload/.libs/leap.so

# has FILE TEXT...: what was printed has all of them.
has() {
	local file=$1 text

	shift
	for text; do
		grep -qF -e "$text" "$file" || { echo "no '$text' in:"; cat "$file"; return 1; }
	done
}

segments() {
	ls "$EVSPACE_DIR/$1" | grep -c '\.seg$'
}

begun() {
	[ "$(segments "$1")" -eq 4 ]
}

status_of() {
	evspace status --connect "unix:$EVSPACE_DIR/agent-$1.sock"
}

# lines NAME LEAF: how many tuples of a leaf the consumer has got so far.
lines() {
	cat "$bed_dir/$1.out" 2>/dev/null | grep -c "/$2/"
}

more_than() {
	[ "$(lines "$1" "$2")" -gt "$3" ]
}

goes_on() {
	local name=$1 leaf

	shift
	for leaf; do
		bed_until more_than "$name" "$leaf" "$(lines "$name" "$leaf")" || return
	done
}

follow() {
	local name=$1

	shift
	bed_start "$name" evspace events --wait --connect "$bed_entry" --json "$@"
}

bed_begin

# --- no room: on a tmpfs of its own, in a mount namespace that ends with the test ---

# full NAME SIZE QUOTA: the wind tunnel where there is no room for its elements.
full() {
	EVSPACE_QUOTA=$3 unshare -m bash -c '
		export EVSPACE_DIR=$1.space
		mkdir "$EVSPACE_DIR" && mount -t tmpfs -o "size=$2,mode=700" none "$EVSPACE_DIR" || exit
		evspace agent 2>"$1.agent" &
		agent=$!
		evspace run --run full -- mpirun -np 2 "$top_builddir/tests/apps/windtunnel" --steps 20 \
			>"$1.out" 2>"$1.err"
		echo $? >"$1.code"
		evspace runs >"$1.runs"
		evspace status >"$1.status"
		kill "$agent" && wait "$agent"
		evspace purge --all >/dev/null 2>&1
		ls -A "$EVSPACE_DIR" >"$1.left"' full "$tap_dir/$1" "$2"
}

runs_on() {
	[ "$(cat "$tap_dir/$1.code")" -eq 0 ] && has "$tap_dir/$1.out" "mass and momentum conserved" || {
		cat "$tap_dir/$1.out" "$tap_dir/$1.err"
		return 1
	}
}

# All say why, and what to do; at the end nothing is left.
full_is_told() {
	local name=$1 file

	shift
	for file in err runs status; do
		has "$tap_dir/$name.$file" "$@" || return
	done
	[ ! -s "$tap_dir/$name.left" ] || { cat "$tap_dir/$name.left"; return 1; }
}

export top_srcdir
if unshare -m mount -t tmpfs none "$tap_dir" 2>/dev/null; then
	full none 64k 1G
	tap_case "no room at all: the program runs on undisturbed" runs_on none
	tap_case "run, runs and status say why, nothing is left" full_is_told none \
		"rank 0 (pid" "rank 1 (pid" "no room left in" "free some (evspace purge)"
	full quota 100M 100K
	tap_case "the quota is used up: the program runs on undisturbed" runs_on quota
	tap_case "run, runs and status say why, nothing is left" full_is_told quota "quota of" "raise --quota"
else
	tap_skip "no room in shared memory" "mounting a tmpfs is not permitted"
fi

# --- too many threads ---

LD_PRELOAD=$leap LEAP_FILE=$tap_dir/leap bed_agents front ga a0 a1 b0 b1 || exit 99
bed_start many evspace run --threads 1 --run many -- mpirun -np 2 "$apps/threads" --threads 4
bed_wait many
follow many-events --run many --backlog --until-end
bed_wait many-events
tap_case "more threads than fit: the program is right" has "$bed_dir/many.out" "all messages are right"
tap_case "its summary says what to do" has "$bed_dir/many.err" \
	"more threads than the reserve (run --threads)" "events for which no element had room: raise --threads"
tap_case "status says so" eval 'status_of a0 >"$tap_dir/status"; has "$tap_dir/status" \
	"events went to no element and are counted as lost" "more threads than the reserve (run --threads)"'
tap_case "what had no room is counted as lost" bed_accounted many-events many all

# --- what is no segment of ours; a file that is cut short ---

bed_start main evspace run --run main -- mpirun -np 4 "$apps/windtunnel" --seconds 600
bed_until begun main
follow steady --run main --backlog --until-end --rate 20 --select '/**/wait'
bed_until test -s "$bed_dir/steady.out"

# foreign NAME COMMAND: a copy of a segment that the command changes ($1) comes into a run.
foreign() {
	local file=$tap_dir/$1

	cp -p "$(ls "$EVSPACE_DIR"/many/rank0.*.seg)" "$file"
	shift
	"$@" "$file"
	cp -p "$file" "$EVSPACE_DIR/main/.coming" && mv "$EVSPACE_DIR/main/.coming" "$EVSPACE_DIR/main/${file##*/}"
}

other_version() {
	printf '\011' | dd of="$1" bs=1 seek=8 conv=notrunc status=none
}

no_segment() {
	head -c 20000 /dev/urandom >"$1"
}

foreign rank17.1.seg other_version
foreign rank18.1.seg truncate -s 10000
foreign rank19.1.seg no_segment
refused_segments() {
	status_of front >"$tap_dir/status" &&
		has "$tap_dir/status" "rank17.1.seg is of segment version 9" "use the same release" \
			"rank18.1.seg" "rank19.1.seg"
}
tap_case "a segment of another version, a short one, and none at all are named" bed_until refused_segments
tap_case "the consumer goes on" goes_on steady a0 a1 b0 b1
rm "$EVSPACE_DIR"/main/rank1[789].1.seg
truncate -s 9000 "$EVSPACE_DIR"/many/rank*.seg
follow cut --run many --backlog --count 3
bed_wait cut
tap_case "segments that were cut short under the agents harm nobody" eval \
	'bed_ended cut 0 && goes_on steady a0 a1 b0 b1'

# --- a clock that steps ---

# The newest start of a leaf's last tuples, in s.
newest() {
	tail -n 1000 "$bed_dir/$1.out" | grep "/$2/" | sed -n 's/.*"start_ns":\([0-9]*\)[0-9]\{9\},.*/\1/p' | sort -n | tail -n 1
}

# Within ten minutes of the true time, though the agents' clocks are an hour ahead.
times_hold() {
	local name=$1 leaf at

	shift
	goes_on "$name" "$@" || return
	for leaf; do
		at=$(newest "$name" "$leaf")
		[ "$((at - $(date +%s)))" -lt 600 ] || { echo "$leaf: $at, it is $(date +%s)"; return 1; }
	done
}

: >"$tap_dir/leap"
[ "$(LD_PRELOAD=$leap LEAP_FILE=$tap_dir/leap date +%s)" -gt $(($(date +%s) + 3000)) ] || exit 99
tap_case "the agents' clock leaps: times of events do not" times_hold steady a0 a1 b0 b1
bed_kill KILL a0
bed_kill KILL ga
LD_PRELOAD=$leap LEAP_FILE=$tap_dir/leap bed_agents ga
LD_PRELOAD=$leap LEAP_FILE=$tap_dir/leap bed_agents a0
tap_case "nor when agents are started with the new time" times_hold steady a0 a1 b0 b1

# --- who hangs ---

follow hung --run main --backlog --until-end --rate max --window 32
bed_until test -s "$bed_dir/hung.out"
kill -STOP "$(bed_pid hung)"

memory_kb() {
	awk '$1 == "Pss:" { print $2 }' "/proc/$(bed_pid "$1")/smaps_rollup"
}

tap_case "a consumer stops reading: the others go on" goes_on steady a0 a1 b0 b1


look() {
	evspace heartbeat --connect "$bed_entry" --run main --once "$@" >"$tap_dir/look"
}

names_the_late() {
	look --deadline 300 && grep -qE "missing: /A/a1, (late|unreachable)" "$tap_dir/look" &&
		has "$tap_dir/look" "/A/a0/rank0" "/B/b0/rank2" "/B/b1/rank3"
}
kill -STOP "$(bed_pid a1)"
tap_case "an agent hangs: it is named as late, later as one that is not reached, all others answer" bed_until names_the_late
tap_case "the other hosts' events come" goes_on steady a0 b0 b1
kill -CONT "$(bed_pid a1)"
tap_case "it goes on: so do its events" goes_on steady a0 a1 b0 b1

small_enough() {
	local node kb

	for node in front ga a0 a1 b0 b1; do
		kb=$(memory_kb "$node")
		echo "$node: $kb kB"
		[ "$kb" -lt 65536 ] || return
	done
}
tap_memory "no agent has grown for the one that does not read" small_enough
kill -TERM "$(bed_pid main)"
bed_wait main
bed_wait steady
tap_case "the program ends, and the steady consumer has all" bed_accounted steady main wait
kill -CONT "$(bed_pid hung)"
bed_wait hung
tap_case "the one that stopped reads on, and knows what it has lost" bed_accounted hung main all
sed 's/^/# stopped: /' "$bed_dir/hung.err"
sed 's/^/# steady: /' "$bed_dir/steady.err"
tap_done
