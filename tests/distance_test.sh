# SPDX-License-Identifier: BSD-3-Clause
# Tests a consumer far away: 100 ms, 1 % loss, 10 Mbit/s; compression, a cut, and who does not read.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"
. "$top_srcdir/tests/cluster/far.sh"

# ratio A B LEAST: A is at least LEAST times B.
ratio() {
	awk -v a="$1" -v b="$2" -v r="$3" 'BEGIN { exit !(b > 0 && a >= r * b) }' && return
	echo "$1 is less than $3 times $2"
	return 1
}

# ---- the cases ----

# A look takes a round trip, and now and then one that is lost.
waves_come() {
	local many

	far_events many past --rate max --window 32 --count 600 &
	many=$!
	far_events one past --rate max --count 30 && wait "$many" &&
		ratio "$(far_rate one waves)" $((1000 / far_round_ms)) 0.5 &&
		ratio "$(far_rate many waves)" $((32 * 1000 / far_round_ms)) 0.3
}

# Of tuples with 40 bytes each: columns take a fifth of that, which is here before the way has shown how fast it is.
stream_is_as_fast_as_a_bare_one() {
	far_events plain past --backlog --until-end --rate max --window 32 --compress never &&
		far_accounted plain past && ratio "$(far_figure plain delivered)" "$(far_figure plain received_bytes)" 0.125 &&
		ratio "$(($(far_rate plain delivered | cut -d. -f1) * 40))" "$far_bare" 0.4
}

# How much faster is up to the cores that other tests leave (tests/bench/distance.sh has it alone); bytes are not.
stream_is_compressed() {
	far_events packed past --backlog --until-end --rate max --window 32 && far_accounted packed past &&
		ratio "$(far_figure packed unpacked_bytes)" "$(far_figure packed received_bytes)" 1.3 &&
		ratio "$(far_figure packed delivered)" "$(far_figure packed received_bytes)" 0.17 &&
		ratio "$(far_rate packed delivered)" "$(far_rate plain delivered)" 0.5 &&
		grep -q 'before compression' "$cluster_dir/packed.err"
}

near_ones_are_not() {
	cluster_on front evspace events --run past --backlog --until-end --json >"$cluster_dir/near.json" \
		2>"$cluster_dir/near.err" && far_accounted near past &&
		[ "$(far_figure near received_bytes)" -ge "$(far_figure near unpacked_bytes)" ]
}

# peak: of the memory of the agent on front, in kB.
peak() {
	cluster_on front sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(cluster_on front pgrep -o -x evspace)/status"
}

begun() {
	[ -s "$cluster_dir/$1.csv" ]
}

# stopped HOST NAME...: consumers there that have begun to read 80 MB, and do not go on.
stopped() {
	local host=$1 name

	shift
	# Children of the host's own: nsenter would stop with them.
	for name; do
		cluster_on "$host" sh -c 'evspace events --run deep --backlog --rate max --window 32 --csv \
			</dev/null >"$1.csv" 2>"$1.err" &' sh "$cluster_dir/$name"
	done
	for name; do
		cluster_until begun "$name" || { cat "$cluster_dir/$name.err"; return 1; }
	done
	cluster_on "$host" pkill -STOP -f 'evspace events --run deep'
}

# While they do not read, somebody else looks, at his own rate.
stopped_take_little() {
	local before

	before=$(peak)
	stopped "$1" "${@:3}" || return
	cluster_on front evspace heartbeat --run steady --rate 20 --count 30 >"$cluster_dir/looks" \
		2>"$cluster_dir/looks.err"
	cluster_on "$1" pkill -KILL -f 'evspace events --run deep'
	tail -n 1 "$cluster_dir/looks.err"
	ratio "$(sed -n 's/.*looks* (\([0-9.]*\)\/s).*/\1/p' "$cluster_dir/looks.err")" 20 0.5 || return
	echo "# memory of the agent: $before kB, at most $(peak) kB" | tee "$cluster_dir/memory"
	[ $(($(peak) - before)) -lt "$2" ]
}

streams_on() {
	tail -n 1 "$cluster_dir/live.json" | grep -q tuple
}

loss_is_noticed() {
	grep -q 'trying again for' "$cluster_dir/live.err"
}

# The program runs on until that was seen.
goes_on() {
	cluster_until streams_on && cluster_cut out && cluster_until loss_is_noticed && far_mend live &&
		echo "$far_resumed" >"$cluster_dir/resumed" || { rm "$cluster_dir/going"; return 1; }
	rm "$cluster_dir/going"
	cluster_until cluster_gone "$watcher"
}

counts_are_exact() {
	cat "$cluster_dir/live.err"
	far_accounted live live && [ "$(far_figure live lost)" = 0 ] &&
		[ "$(far_figure live reconnections)" -ge 1 ] && grep -q 'connected again' "$cluster_dir/live.err"
}

# What a wave may bring over a slow hop is what that carries within the deadline.
slow_hops_bring_all() {
	cluster_far ga "$far_round_ms" "$far_loss" 4 || return
	cluster_on front evspace events --run past --backlog --until-end --rate max --json \
		>"$cluster_dir/hop.json" 2>"$cluster_dir/hop.err"
	cat "$cluster_dir/hop.err"
	far_accounted hop past && [ "$(far_figure hop lost)" = 0 ]
}

cluster_allowed || {
	tap_skip "a consumer far away" "$cluster_why"
	tap_done
}
far_begin || exit 99
far_run past 40000 --steps 300 &
past=$!
cluster_on a0 "$top_builddir/tests/writer" "$EVSPACE_DIR/deep" 4 250000 2 && wait "$past" || exit 99
cluster_on a0 "$top_builddir/tests/writer" "$EVSPACE_DIR/steady" 4 100 600 </dev/null >"$cluster_dir/steady" 2>&1 &
disown
tap_case "a near consumer is sent plain frames" near_ones_are_not
tap_case "one that does not read costs the agent no more than its credit" stopped_take_little front 49152 near1
cat "$cluster_dir/memory"
far_away && far_bare 1500000 || exit 99
tap_case "waves a second, one and 32 under way" waves_come
echo "# waves/s: $(far_rate one waves), $(far_rate many waves); the wire's $((1000 / far_round_ms)), $((32000 / far_round_ms))"
tap_case "a stream is as fast as a bare connection" stream_is_as_fast_as_a_bare_one
tap_case "and faster, compressed" stream_is_compressed
echo "# tuples/s: $(far_rate plain delivered) plain, $(far_rate packed delivered) compressed;" \
	"bytes/s: $(far_rate plain received_bytes), $(far_rate packed received_bytes), bare $far_bare"
tap_case "far ones that do not read cost little, others are not slowed" stopped_take_little out 24576 far1 far2 far3
cat "$cluster_dir/memory"
touch "$cluster_dir/going"
far_run live 100000 --size medium --while "$cluster_dir/going" &
far_events live live --wait --backlog --until-end &
watcher=$!
tap_case "after a cut the stream goes on" goes_on
echo "# it went on $(cat "$cluster_dir/resumed") s after the wire was mended"
tap_case "and all that was written is there, once" counts_are_exact
tap_case "a stream comes over a hop between agents that becomes slow under way, too" slow_hops_bring_all
tap_done
