# SPDX-License-Identifier: BSD-3-Clause
# evspace plan of a running program: measured, applied under a lease, and what ends that; classes switched at once.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

modes() {
	evspace collect --run iterate --json | grep '"type":"class"' | grep -o '"mode":"[^"]*"' | sort -u | tr -d '\n'
}

all_traced() {
	[ "$(modes)" = '"mode":"trace"' ]
}

# At 0.0001 % what is most frequent is not traced, however slow other work makes the program.
is_planned() {
	evspace collect --run iterate --json | grep '"group":"p2p"' | grep -q '"mode":"\(sample\|count\)"'
}

# Put back what was planned.
is_put_back() {
	evspace collect --run iterate --json | grep '"group":"p2p"' | grep -q '"mode":"trace"'
}

as_before() {
	[ "$(modes)" = "$(cat "$tap_dir/before")" ]
}

bed_begin
bed_start agent evspace agent
bed_until bed_ready agent
bed_start iterate evspace run --run iterate --capacity 2000 -- mpirun -np 2 "$top_builddir/tests/apps/iterate" 100 100000
bed_until eval 'evspace collect --run iterate 2>/dev/null | grep -q "collective@world *trace *2"'

# As many point-to-point events as completions, each a hundred times as often as collectives; the table is one that
# FILE may be. What an event costs was measured of each class, so two of them differ.
measures() {
	evspace plan --table --duration 1s --minimum collective@world=7 >"$tap_dir/table" &&
		awk '/^[a-z]/ && $5 ~ /^[0-9]/ { n++; t[$5]; if ($5 < 2e-9 || $5 > 5e-6) exit 1 } $1 == "collective@world" && $6 != 7 { exit 1 }
			END { for (k in t) d++; exit !(n > 2 && d > 1) }' "$tap_dir/table" &&
		awk '$1 == "p2p" { p = $2 } $1 == "completion" { c = $2 } $1 == "collective@world" { w = $2; d = $4 }
			END { exit !(p > 90 * w && p < 110 * w && c > 90 * w && c < 110 * w && d > 0 && d <= 1) }' "$tap_dir/table" &&
		tap_says 0 'No plan tells more' evspace plan "$tap_dir/table" --budget 50% --t-report 20ns ||
		{ cat "$tap_dir/table"; return 1; }
}

# What it costs to see an event that is not recorded is measured, too.
detecting_is_timed() {
	evspace plan --table --duration 1s | awk '$1 == "p2p" && $7 > 2e-9 && $7 < 5e-6 { good = 1 } END { exit !good }'
}

# What is not recorded is counted: nothing is missing of what was called.
one_in_eight() {
	evspace collect p2p=1/8 collective=1/2 wait=off >"$tap_dir/said" || return
	bed_until eval 'evspace collect --run iterate --json | grep "\"group\":\"p2p\"" | grep -q "\"not_recorded\":[0-9]\{4\}"'
	evspace collect --run iterate --json | grep '"type":"class"' |
		sed 's/.*"group":"\([a-z0-9]*\)".*"mode":"\([^"]*\)".*"calls":\([0-9]*\).*"recorded":\([0-9]*\),"not_recorded":\([0-9]*\).*/\1 \2 \3 \4 \5/' |
		awk '$4 + $5 != $3 { print; bad = 1 } $1 == "p2p" && $2 == "1/8" { n++ } END { exit bad || n < 2 }' &&
		bed_until detecting_is_timed && bed_until sampling_is_timed &&
		tap_says 2 "'fast' is not a mode" evspace collect p2p=fast &&
		tap_says 2 'is not CLASS=MODE' evspace collect p2p=off wait &&
		evspace collect trace >/dev/null && bed_until all_traced
}

# ... and what a look takes that hits one of a class, where looks hit it often enough.
sampling_is_timed() {
	evspace plan --table --duration 2s | awk '/^[a-z]/ && $8 > 1e-8 && $8 < 0.1 { good = 1 } END { exit !good }'
}

# The modes of before are no others than those that are there again.
applies() {
	evspace collect wait=count env=1/4 >/dev/null && modes >"$tap_dir/before"
	bed_start planner evspace plan --budget 0.0001% --duration 1s --apply --json
	bed_until is_planned || { cat "$bed_dir"/planner.*; return 1; }
	tap_says 1 'modes are held by uid .* for up to [0-9]* s more' evspace plan --budget 1% --duration 100ms --apply &&
		tap_says 1 'modes are held by' evspace collect --run iterate --class p2p off &&
		tap_says 1 'modes are held by' evspace perturb --run iterate --ab 1s --block 100ms &&
		is_planned && bed_kill INT planner && bed_wait planner
	grep -q '"type":"change","why":"there are classes.*"slowdown":[0-9.]*e\?-\?[0-9]*,"low":[0-9]' "$bed_dir/planner.out" &&
		as_before || { cat "$bed_dir"/planner.*; return 1; }
}

# Stopped for longer than its lease, a planner finds modes as before, and does what it had done. Then agent and planner
# die: the next agent puts the modes back.
stopped() {
	bed_start stopped evspace plan --budget 0.0001% --duration 100ms --apply --json
	bed_until is_planned && kill -STOP "$(bed_pid stopped)" && bed_until is_put_back && kill -CONT "$(bed_pid stopped)" &&
		bed_until is_planned && bed_until grep -q 'modes were not as planned' "$bed_dir/stopped.out" ||
		{ cat "$bed_dir"/stopped.*; return 1; }
}

both_killed() {
	bed_kill KILL stopped && bed_wait stopped
	bed_kill KILL agent && bed_wait agent
	bed_start again evspace agent
	bed_until bed_ready again
	is_planned && bed_until is_put_back && bed_until as_before
}

# Of two planners one is killed: the other is refused while that one plans, and then it plans.
takes_over() {
	modes >"$tap_dir/before"
	bed_start first evspace plan --budget 0.0001% --duration 100ms --apply --json
	bed_until is_planned &&
		tap_says 1 'modes are held by uid .* for up to [0-9]* s more' evspace plan --budget 0.0001% --duration 100ms --apply &&
		is_planned && bed_kill KILL first && bed_wait first && plans_at_last &&
		bed_kill INT second && bed_wait second && as_before || { cat "$bed_dir"/first.* "$bed_dir"/second.*; return 1; }
}

# It is refused until the lease of the one before has ended, however long that one took for its last step.
plans_at_last() {
	bed_start second evspace plan --budget 0.0001% --duration 100ms --apply --json
	bed_until second_plans
}

second_plans() {
	grep -q '"type":"change","why":"there are classes' "$bed_dir/second.out" && return
	bed_gone "$(bed_pid second)" && grep -q 'modes are held by\|makes no calls' "$bed_dir/second.err" &&
		bed_start second evspace plan --budget 0.0001% --duration 100ms --apply --json
	return 1
}

keeps() {
	bed_start keeper evspace plan --budget 0.0001% --duration 1s --apply --keep
	bed_until is_planned && bed_kill INT keeper && bed_wait keeper
	is_planned && evspace collect trace >/dev/null && bed_until all_traced
}

# What fits whole is recorded whole, however much a probe would hit.
traces_all() {
	bed_start whole evspace plan --budget 90% --duration 200ms --apply --json
	bed_until grep -q '"type":"change".*"sampled":\[\].*"probing_hz":0.0,' "$bed_dir/whole.out" && bed_kill INT whole && bed_wait whole ||
		{ cat "$bed_dir"/whole.*; return 1; }
}

# No plan keeps the budget: that is said, all is counted, and it goes on.
p2p_is_counted() {
	evspace collect --run iterate --json | grep '"group":"p2p"' | grep -q '"mode":"count"'
}

cheap_begins() {
	bed_start cheap evspace plan --budget 0.0001% --minimum collective@world=1000000 --duration 200ms --apply --json
}

# Beside other work the program may make no call for so long.
cheap_counts() {
	p2p_is_counted && return
	bed_gone "$(bed_pid cheap)" && grep -q 'makes no calls' "$bed_dir/cheap.err" && cheap_begins
	return 1
}

counts_all() {
	evspace collect trace >/dev/null && modes >"$tap_dir/before"
	cheap_begins
	bed_until cheap_counts && bed_until grep -q '"why":"no plan keeps the budget and the minimums: .*"traced":\[\],"sampled":\[\],' "$bed_dir/cheap.out" &&
		! bed_gone "$(bed_pid cheap)" && bed_kill INT cheap && bed_wait cheap && bed_ended cheap 0 && as_before ||
		{ cat "$bed_dir"/cheap.*; modes; return 1; }
}

# Without a probe: what is recorded of each class fits, as nearly as halves of halves do; all are counted.
is_reduced() {
	modes | grep -q '"1/[0-9]*"'
}

reduces() {
	tap_says 0 '"p2p":0.0' evspace plan --reduce --t-detect 1ms --budget 0.01% --duration 1s --json &&
		evspace plan --reduce --t-detect 1ns --budget 0.001% --duration 1s --json >"$tap_dir/reduced" &&
		grep -q '"frequencies":{.*"collective@world":[0-9]' "$tap_dir/reduced" || { cat "$tap_dir/reduced"; return 1; }
	evspace collect trace >/dev/null && modes >"$tap_dir/before"
	bed_start reducer evspace plan --reduce --t-detect 1ns --budget 0.001% --duration 1s --apply --json
	bed_until is_reduced && bed_until grep -q '"type":"change"' "$bed_dir/reducer.out" && bed_kill INT reducer && bed_wait reducer
	sed -n 's/.*"parts":{\([^}]*\)}.*/\1/p' "$bed_dir/reducer.out" | tr ',' '\n' | cut -d: -f2 |
		awk '$1 < 1 { less++ } $1 > 0 { some++ } END { exit !(less && some) }' && as_before || { cat "$bed_dir"/reducer.*; return 1; }
}

# busy_modes: of a program that makes so many events that recording them all takes more than half of 0.002 %, beside others that keep the machine busy, too.
busy_modes() {
	evspace collect --run busy --json | grep '"type":"class"' | grep -o '"mode":"[^"]*"' | sort -u | tr -d '\n'
}

busy_is_thinned() {
	busy_modes | grep -q '"1/[0-9]*"'
}

busy_is_traced() {
	[ "$(busy_modes)" = '"mode":"trace"' ]
}

# Another one that would have less recorded is told who has the modes, and keeps its budget by its rate alone.
is_refused() {
	bed_start second evspace heartbeat --run busy --rate 10 --budget 0.001%,collect
	bed_until grep -q 'cannot be lessened: .*modes are held by uid' "$bed_dir/second.err" &&
		bed_kill INT second && bed_wait second || { cat "$bed_dir"/second.*; return 1; }
}

thins() {
	bed_start busy evspace run --run busy --capacity 2000 -- mpirun -np 2 "$top_builddir/tests/apps/iterate" 100 1000
	bed_until eval 'evspace collect --run busy 2>/dev/null | grep -q "collective@world *trace *2"'
	bed_start thin evspace heartbeat --run busy --rate 10 --budget 0.002%,collect
	bed_until busy_is_thinned && bed_until grep -q 'one event in [0-9]* recorded' "$bed_dir/thin.err" &&
		tap_says 1 'modes are held by' evspace collect --run busy --class p2p off &&
		is_refused && bed_kill INT thin && bed_wait thin && busy_is_traced || { cat "$bed_dir"/thin.*; busy_modes; return 1; }
}

# What a program makes too many events of is not sampled either, as that would take more than the budget: it is counted.
counts_what_is_dear() {
	bed_start dear evspace plan --run busy --budget 0.0005% --duration 500ms --apply --json
	bed_until grep -q '"type":"change".*"sampled":\[[^]]*\],"counted":\["p2p' "$bed_dir/dear.out" &&
		bed_until eval 'evspace collect --run busy | grep -q "^p2p@[^ ]* *count "' &&
		bed_kill INT dear && bed_wait dear && busy_is_traced || { cat "$bed_dir"/dear.*; busy_modes; return 1; }
}

# Its lease ends.
thinning_dies() {
	bed_start dies evspace heartbeat --run busy --rate 10 --budget 0.002%,collect
	bed_until busy_is_thinned && bed_kill KILL dies && bed_wait dies
	bed_until busy_is_traced || { cat "$bed_dir"/dies.*; busy_modes; return 1; }
	bed_kill TERM busy && bed_wait busy
	return 0
}

# What the elements of a slow program had lost before anybody sampled it is no loss of the comparison.
lost_before() {
	bed_start slow evspace run --run slow --capacity 8 -- mpirun -np 2 "$top_builddir/tests/apps/iterate" 1 10000000
	bed_until eval 'evspace collect --run slow 2>/dev/null | grep -q "collective@world *trace *2 *[0-9]\{3\}"'
	bed_start trace evspace archive --run slow "$tap_dir/trace"
	bed_until eval 'evspace events --from "$tap_dir/trace" --json 2>/dev/null | grep -q "\"op\":\"MPI_Allreduce\""'
	sleep 1
	tap_says 0 'tuples' evspace archive --run slow --define 'read sample every 1ms to 10ms' --duration 2s "$tap_dir/samples" || return
	bed_kill INT trace && bed_wait trace
	bed_kill TERM slow && bed_wait slow
	evspace events --from "$tap_dir/trace" --json | grep -q '"type":"summary".*"lost":[1-9][0-9]' &&
		tap_says 0 '"error":[0-9.e-]*,.*"lost":0,"not_compared_s":0.0' evspace entropy --samples "$tap_dir/samples" --trace "$tap_dir/trace" --json ||
		{ evspace events --from "$tap_dir/trace" --json | grep summary; return 1; }
}

four_modes() {
	evspace collect --connect "$bed_entry" --run four --json | grep '"type":"class"' | grep -o '"mode":"[^"]*"' | sort -u | tr -d '\n'
}

four_are_planned() {
	[ "$(four_modes)" != '"mode":"trace"' ]
}

four_are_traced() {
	[ "$(four_modes)" = '"mode":"trace"' ]
}

# One host of four is late: the planner says which, and goes on with the others; when it answers again it is planned for, too.
goes_on() {
	bed_kill TERM again && bed_agents front ga a0 a1 b0 b1 || return
	bed_start four evspace run --run four --capacity 2000 -- mpirun -np 4 "$top_builddir/tests/apps/iterate" 10 100000
	bed_until eval 'evspace collect --connect "$bed_entry" --run four 2>/dev/null | grep -q "collective@world *trace *4"'
	bed_start on evspace plan --connect "$bed_entry" --identity control --run four --budget 0.0001% --duration 200ms --apply --json
	bed_until four_are_planned && kill -STOP "$(bed_pid b1)" &&
		bed_until grep -q 'goes on without /B/b1 (' "$bed_dir/on.err" && sleep 1 && ! bed_gone "$(bed_pid on)" &&
		kill -CONT "$(bed_pid b1)" && bed_until grep -q 'all hosts answer again' "$bed_dir/on.err" &&
		bed_until four_are_planned && bed_kill INT on && bed_wait on && bed_ended on 0 && bed_until four_are_traced ||
		{ kill -CONT "$(bed_pid b1)"; cat "$bed_dir"/on.*; four_modes; return 1; }
	bed_kill TERM four && bed_wait four
}

tap_case "classes are measured, as a table that can be planned from" measures
tap_case "classes switched at once, one event in eight recorded, all counted" one_in_eight
tap_case "a plan is in effect until Ctrl-C; others are told who holds the modes" applies
tap_case "a planner is stopped for longer than its lease: modes are as before; it switches again" stopped
tap_case "planner and agent are killed: the next agent puts them back" both_killed
tap_case "of two planners one is killed: the other one's turn comes with the end of its lease" takes_over
tap_case "with --keep they stay" keeps
tap_case "... all where that fits the budget" traces_all
tap_case "no plan keeps the budget: that is said, and all is only counted meanwhile" counts_all
tap_case "without a probe each class is reduced to a part that fits, until Ctrl-C" reduces
tap_case "a budget that collecting alone exceeds: with ,collect less is recorded, until Ctrl-C" thins
tap_case "what is too dear to be seen a plan has only counted" counts_what_is_dear
tap_case "who has less recorded is killed: its lease ends" thinning_dies
tap_case "what a trace had lost before samples were taken is not counted" lost_before
tap_case "something else behind the budget: 2" tap_says 2 'or 1%,collect' evspace heartbeat --budget 1%,all
tap_case "... or a long number with something behind it: 2" tap_says 2 'is not a share' evspace heartbeat \
	--budget 1.000000000000000000000000000000000000x
tap_case "no budget: 2" tap_says 2 'it needs a budget' evspace plan
tap_case "a time that is too short, or no lease is as long: 2" eval "tap_says 2 '100ms at least' evspace plan --budget 1% --duration 1ms &&
	tap_says 2 '25m at least' evspace plan --budget 1% --apply --duration 2h"
tap_case "a weight below 0: 2" tap_says 2 'below 0' evspace plan --budget 1% --weight p2p=-1
tap_case "a weight of no class, or of many: 2" eval "tap_says 2 'is not a class' evspace plan --budget 1% --weight fast=1 &&
	tap_says 2 'is not one class' evspace plan --budget 1% --weight all=2 && tap_says 2 'minimum' evspace plan --budget 1% --minimum p2p=-1"
tap_case "of a file nothing is applied: 2" tap_says 2 'no FILE' evspace plan "$tap_dir/table" --budget 1% --t-report 1us --apply
bed_kill TERM iterate
bed_wait iterate
tap_case "a host is late: that is said, and plans go on with the others, and then with all" goes_on
tap_case "no program: 1" tap_says 1 'there is no' evspace plan --connect "$bed_entry" --budget 1%
tap_done
