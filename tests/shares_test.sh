# SPDX-License-Identifier: BSD-3-Clause
# Tests that consumers share what a map lets them spend: by weight, as they come and go, and also those that take no
# notice of it.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

# allows STATEMENT: consumers share that from now on ("": nothing).
allows() {
	rm -rf "$tap_dir/new"
	cp -r "$bed_dir/maps" "$tap_dir/new"
	sed -i "s/^\tview volume/\t$1\n&/" "$tap_dir/new/application.map"
	evspace map apply "$tap_dir/new" --connect "$bed_entry" --identity control >"$tap_dir/applied" 2>&1 ||
		{ cat "$tap_dir/applied"; return 1; }
}

# greedy SECONDS [again]: what one that never waits has spent of a host's processor, in thousandths of a percent.
greedy() {
	"$top_builddir/tests/greedy" "$bed_entry" "$EVSPACE_TLS" observe hangs heartbeat "$@" >"$tap_dir/greedy" || return
	sed -n 's/.* waves, \([0-9]*\)\.\([0-9]*\) %.*/\1\2/p' "$tap_dir/greedy"
}

# look NAME OPTIONS...: a consumer that would look as often as it can.
look() {
	bed_start "$1" evspace heartbeat --connect "$bed_entry" --run hangs --rate 500 --json "${@:2}"
}

# waves NAME: how many it has got.
waves() {
	grep -c '"type":"wave"' "$bed_dir/$1.out"
}

unheld() {
	[ "$(greedy 1)" -gt 2500 ] || { cat "$tap_dir/greedy"; return 1; }
}

# A bit more than its part, as that of a second may have been kept.
held() {
	local spent

	allows 'budget 1%;' && spent=$(greedy 4) && [ "$spent" -gt 300 ] && [ "$spent" -lt 1500 ] || { cat "$tap_dir/greedy"; return 1; }
}

# ... nor does who opens its view anew for each wave get more.
held_again() {
	local spent

	spent=$(greedy 4 again) && [ "$spent" -gt 300 ] && [ "$spent" -lt 1500 ] || { cat "$tap_dir/greedy"; return 1; }
}

# All of it for one; then a quarter and three.
by_weight() {
	local one three

	allows 'budget 8%;' || return
	look one
	bed_until grep -q 'budget 8 % of 8 % for all' "$bed_dir/one.err" || { cat "$bed_dir/one.err"; return 1; }
	look three --weight 3
	bed_until grep -q "budget 2 % of 8 % for all.*shared out anew" "$bed_dir/one.err" &&
		bed_until grep -q 'budget 6 % of 8 % for all' "$bed_dir/three.err" || { cat "$bed_dir/one.err" "$bed_dir/three.err"; return 1; }
	one=$(waves one) three=$(waves three)
	bed_until eval '[ $(($(waves three) - three)) -ge 100 ]'
	one=$(($(waves one) - one)) three=$(($(waves three) - three))
	echo "$one and $three waves"
	[ $((one * 16)) -lt $((three * 10)) ] && [ $((one * 8)) -gt "$three" ]
}

# With one that takes no notice there are five parts, as all have the same name.
beside() {
	local spent

	spent=$(greedy 4) && [ "$spent" -gt 500 ] && [ "$spent" -lt 2400 ] || { cat "$tap_dir/greedy"; return 1; }
	grep -q 'budget 1.6 % of 8 % for all' "$bed_dir/one.err" || { cat "$bed_dir/one.err"; return 1; }
}

goes() {
	bed_kill INT three && bed_until eval 'tail -n 3 "$bed_dir/one.err" | grep -q "budget 8 % of 8 % for all"' || { cat "$bed_dir/one.err"; return 1; }
}

ends() {
	allows '' && bed_until grep -q 'no budget for consumers any more' "$bed_dir/one.err" || { cat "$bed_dir/one.err"; return 1; }
}

wrong() {
	local weight

	for weight in 0 -1 nan inf 101 0.001 much 3x; do
		tap_says 2 'is not a weight; write a number from 0.01 to 100' evspace heartbeat --weight "$weight" || return
	done
}

bed_begin
bed_agents front ga a0 a1 b0 b1
bed_start hangs evspace run --run hangs -- mpirun -np 4 "$top_builddir/tests/apps/stuck" --seconds 600
bed_until eval 'evspace collect --connect "$bed_entry" --run hangs 2>/dev/null | grep -q "collective@world *trace *4"'
tap_case "without a budget one may take all" unheld
tap_case "with one, who takes no notice of it is held" held
tap_case "... and who closes its view and opens it again for each wave" held_again
tap_case "two share it by weight" by_weight
tap_case "... with one that takes no notice, too" beside
tap_case "whose share is free again is the other one's" goes
tap_case "a map without a budget ends it" ends
tap_case "weights that are none: 2" wrong
tap_done
