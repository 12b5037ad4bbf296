# SPDX-License-Identifier: BSD-3-Clause
# evspace perturb: experiments on running programs, what ends them, and that afterwards all is as before.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

modes() {
	evspace collect --run "${1:-iterate}" --json | grep '"type":"class"' | grep -o '"mode":"[a-z]*"' | sort -u | tr -d '\n'
}

all_traced() {
	[ "$(modes "$@")" = '"mode":"trace"' ]
}

bed_begin
bed_start agent evspace agent --urgency batch
bed_until bed_ready agent
bed_start iterate evspace run --run iterate --capacity 2000 -- mpirun -np 2 "$top_builddir/tests/apps/iterate" 100 100000
bed_until eval 'evspace collect --run iterate 2>/dev/null | grep -q "collective@world *trace *2"'

# An interval for each arm, and 0 for the slowdown of nothing is not far off: within what could be seen.
measures() {
	tap_says 0 '"arm":"collect"' evspace perturb --run iterate --ab 12s --block 100ms --json || return
	[ "$(grep -c '"type":"effect"' "$tap_dir/said")" -eq 2 ] &&
		grep '"arm":"off again"' "$tap_dir/said" | sed 's/.*"rounds":\([0-9]*\),"slowdown":\([^,]*\),"low":\([^,]*\),"high":\([^,]*\),.*/\1 \2 \3 \4/' |
		awk '$1 >= 8 && $3 <= $2 && $2 <= $4 && $3 < 0.05 && $4 > -0.05 { good = 1 } END { exit !good }' ||
		{ cat "$tap_dir/said"; return 1; }
}

observes() {
	tap_says 0 'observe' evspace perturb --run iterate --ab 15s --block 100ms --view heartbeat --rate 20 &&
		grep -q 'cannot be told from nothing' "$tap_dir/said"
}

# A consumer with a budget looks and pauses in turn, by the program's collectives, and says which rate that allows; modes stay.
keeps_budget() {
	evspace collect --run planted --class p2p time >/dev/null &&
		tap_says 0 'cannot be told\|there is room\|was over\|all that was asked for\|which slow' \
			evspace heartbeat --run planted --rate 50 --budget 2% --duration 40s || return
	modes planted | grep -q '"mode":"time"' || { modes planted; return 1; }
	evspace collect --run planted --class p2p trace >/dev/null
}

wrong_budgets() {
	local budget

	for budget in 0 -1% nan 200 much; do
		tap_says 2 'is not a share' evspace heartbeat --run iterate --budget "$budget" || return
	done
}

# Points of each rate, and their drawing; Ctrl-C leaves what is measured so far, and all modes as before.
tunes() {
	tap_says 0 '"type":"point"' evspace tune --run planted --view heartbeat --rates 5,50 --each 15s --block 50ms --json || return
	[ "$(grep -c '"type":"point"' "$tap_dir/said")" -eq 2 ] && grep -q '"type":"paper","rate_hz":106' "$tap_dir/said" &&
		grep -q '"best":true' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

tune_is_interrupted() {
	local plot=$tap_dir/curve.svg

	bed_start tune evspace tune --run planted --view heartbeat --rates 5,50 --each 12s --block 50ms --plot "$plot"
	bed_until eval '[ "$(grep -c "waves a second" "$bed_dir/tune.err")" -eq 2 ]' && bed_until eval 'modes planted | grep -q trial' || { cat "$bed_dir/tune.err"; return 1; }
	bed_kill INT tune && bed_wait tune && bed_until all_traced planted
	grep -q 'no other setting' "$bed_dir/tune.out" && grep -q '<svg' "$plot" || { cat "$bed_dir/tune.err" "$bed_dir/tune.out"; return 1; }
}

# One at a time; nobody switches meanwhile; Ctrl-C ends it, and it says what it has.
is_alone() {
	bed_start first evspace perturb --run iterate --ab 100s --block 100ms
	bed_until eval 'modes | grep -q trial' || { cat "$bed_dir/first.err"; return 1; }
	tap_says 1 'an experiment is under way by' evspace perturb --run iterate --ab 1s --block 100ms &&
		tap_says 1 'an experiment is under way by' evspace collect --run iterate --class p2p off &&
		bed_kill INT first && bed_wait first
	grep -q '^off again' "$bed_dir/first.out" && bed_until all_traced
}

# The agent ends the experiment of a command that was killed.
is_ended() {
	bed_start killed evspace perturb --run iterate --ab 2s --block 100ms
	bed_until eval 'modes | grep -q trial' && bed_kill KILL killed && bed_wait killed
	bed_until all_traced
}

# Field 41 of proc(5): SCHED_BATCH.
is_batch() {
	[ "$(sed 's/.*) //' "/proc/$(bed_pid agent)/stat" | cut -d' ' -f39)" -eq 3 ]
}

tap_case "an agent has the scheduling class that it is to have" is_batch
tap_case "... which is one that there is" tap_says 2 "it is idle, batch or normal" evspace agent --urgency nice
tap_case "without an experiment: what events, agents, links and views cost" tap_says 0 'slowdown about [0-9.]* %.* to ' evspace perturb --run iterate --duration 1s
tap_case "... as JSON" tap_says 0 '"channel":"collective","events":[0-9]*,"timed":[1-9][0-9]*,"interrupted":[0-9]*,"event_ns":[0-9.]*,' evspace perturb --run iterate --json
tap_case "... with the slowdown" grep -q '"type":"cost","rate_hz":null,"slowdown":[0-9.e-]*,"low":[0-9.e-]*,"high":[0-9.e-]*,' "$tap_dir/said"
tap_case "consumers end with what they cost" tap_says 0 'looks a second; slowdown about [0-9.]* %' evspace heartbeat --run iterate --duration 4s
tap_case "... as JSON, too" tap_says 0 '"type":"cost","rate_hz":[0-9.]*,"slowdown":[0-9.e-]*,' evspace events --run iterate --duration 4s --json
tap_case "what it does not honour is refused" tap_says 2 "no option '--count'" evspace perturb --run iterate --count 3
tap_case "... and so is a rate without looking" tap_says 2 'needs --ab' evspace perturb --run iterate --rate 3
tap_case "slowdowns with their intervals" measures
tap_case "afterwards everything is recorded as before" all_traced
tap_case "looking has a slowdown of its own" observes
tap_case "budgets that are none: 2" wrong_budgets
tap_case "one experiment at a time, which Ctrl-C ends" is_alone
tap_case "when its command was killed it ends by its lease" is_ended
tap_case "no longer than a lease can be: 2" tap_says 2 'at most: shorten --ab' evspace perturb --run iterate --ab 60m
tap_case "not once ranks may count their collectives differently: 1" eval 'evspace collect --run iterate --class collective off >/dev/null &&
	evspace collect --run iterate --class collective trace >/dev/null && tap_says 1 "count them differently" evspace perturb --run iterate --ab 20s --block 100ms'
bed_kill TERM iterate
bed_wait iterate
# A busy loop in the collector's path, for 30 % of the processor time of an iteration while collecting is on: that much
# is told from none on a machine of any load (tests/bench/perturb has smaller ones). The interval holds it.
finds_planted() {
	tap_says 0 '"arm":"collect"' evspace perturb --run planted --ab 20s --block 50ms --json &&
		grep '"arm":"collect"' "$tap_dir/said" | sed 's/.*"low":\([^,]*\),"high":\([^,]*\),.*/\1 \2/' |
		awk '$1 > 0 && $1 <= 0.3 && 0.3 <= $2 { good = 1 } END { exit !good }' && return
	cat "$tap_dir/said"
	return 1
}

bed_start planted env PLANT_PERCENT=30 LD_PRELOAD="$top_builddir/tests/preload/.libs/plant.so" evspace run --run planted --capacity 200 -- mpirun -np 1 "$top_builddir/tests/apps/iterate" 1 100000
bed_until eval 'evspace collect --run planted 2>/dev/null | grep -q "collective@world *trace *1"'
tap_case "a slowdown that was planted is found" finds_planted
tap_case "a budget is kept by an experiment" keeps_budget
bed_until all_traced planted
tap_case "tune measures what looking costs at each rate" tunes
tap_case "... not what is no drawing: 2" tap_says 2 "neither .svg nor .png" evspace tune --plot curve.gif
tap_case "... nor what cannot be written: 2, before it measures" tap_says 2 'No such file' evspace tune --plot /nonexistent/curve.svg
if [ -e "$top_builddir/.libs/libevspace-draw.so" ]; then
	tap_case "... and draws what it has when it is interrupted" tune_is_interrupted
else
	tap_skip "... and draws what it has when it is interrupted" "this was built without cairo"
fi
bed_kill TERM planted
bed_wait planted
tap_case "without a program: 1" tap_says 1 'there is no' evspace perturb --run iterate --ab 1s
bed_start steady evspace run --run steady --capacity 200 -- mpirun -np 1 "$top_builddir/tests/apps/steady"
bed_until eval 'evspace collect --run steady 2>/dev/null | grep -q p2p'
tap_case "a program without collectives: 1" tap_says 1 'makes no collectives on MPI_COMM_WORLD' evspace perturb --run steady --ab 1s
tap_case "... whose budget is kept by direct cost" tap_says 0 'cannot be measured on the program (it makes no collectives' evspace heartbeat --run steady --rate 20 --budget 1% --duration 12s
tap_done
