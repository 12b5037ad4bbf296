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

# NAME, RANKS, words of the program; what is preloaded before it is in $preload.
begins() {
	local name=$1 ranks=$2

	shift 2
	bed_start "$name" env PLANT_PERCENT=5 LD_PRELOAD="$preload" evspace run --run "$name" --capacity 2000 -- mpirun -np "$ranks" "$@"
}

is_collected() {
	evspace collect --run "$1" 2>/dev/null | grep -q "^$2 *trace *$3"
}

ends() {
	bed_kill TERM "$1" && bed_wait "$1"
}

# One at a time; nobody switches meanwhile; Ctrl-C ends it, and it says what it has.
is_alone() {
	bed_start first evspace perturb --run iterate --ab 100s --block 100ms
	bed_until eval 'modes | grep -q trial' || { cat "$bed_dir/first.err"; return 1; }
	tap_says 1 'an experiment is under way by' evspace perturb --run iterate --ab 1s --block 100ms &&
		tap_printed "$tap_dir/said" -- 'evspace perturb without --ab measures directly' &&
		tap_says 1 'an experiment is under way by .* for up to [0-9]* s more$' evspace collect --run iterate --class p2p off &&
		[ "$(wc -l <"$tap_dir/said")" -eq 1 ] &&
		bed_kill INT first && bed_wait first
	# as far as it has got
	grep -q '^off again\|are too few' "$bed_dir"/first.{out,err} && bed_until all_traced || { cat "$bed_dir"/first.*; modes; return 1; }
}

is_killed() {
	bed_start killed evspace perturb --run iterate --ab 5s --block 100ms
	bed_until eval 'modes | grep -q trial' && bed_kill KILL killed && bed_wait killed
}

# For as long as there are enough collectives for an interval.
direct_json() {
	local seconds

	for seconds in 1 4 16; do
		tap_says 0 '"type":"critical"' evspace perturb --run iterate --duration "$seconds" --json || return
		grep -q 'made too few collectives' "$tap_dir/said" || return 0
	done
	cat "$tap_dir/said"
	return 1
}

# Both ranks are on one host, where clocks always tell.
says_critical() {
	grep '"type":"critical"' "$tap_dir/said" | sed 's/.*"share":\([^,]*\),"low":\([^,]*\),"high":\([^,]*\),.*"collectives":\([0-9]*\),"told":\([0-9]*\),"why":null.*/\1 \2 \3 \4 \5/' |
		awk 'NF == 5 && 0 < $2 && $2 <= $1 && $1 <= $3 && $3 <= 1 && $4 >= 20 && $5 == $4 { good = 1 } END { exit !good }' && return
	cat "$tap_dir/said"
	return 1
}

# All at once, at the end; on a terminal also while they look, in a line of its own that goes when others come.
says_cost() {
	local text='looks a second; slowdown about [0-9.]* %' bare=$tap_dir/bare

	bed_start text evspace heartbeat --run iterate --duration 4s
	bed_start json evspace events --run iterate --duration 4s --json
	bed_start typed env TERM=xterm script -qefc "evspace events --run iterate --select '/**/collective' --duration 7s" /dev/null
	bed_wait text && bed_wait json && bed_wait typed && bed_ended text 0 && bed_ended json 0 && bed_ended typed 0 &&
		tap_printed "$bed_dir/text.err" -- "$text" &&
		tap_printed "$bed_dir/json.out" -- '"type":"cost","rate_hz":[0-9.]*,"slowdown":[0-9.e-]*,' || return
	sed 's/\r\x1b\[K/\n@/g; s/\r//g' "$bed_dir/typed.out" >"$bare"
	grep -q "^@[0-9.]* $text" "$bare" && grep -q "^@[^@]* MPI_Allreduce #" "$bare" && grep -q "^[0-9.]* $text.* by what" "$bare" &&
		! grep '. looks a second.*MPI_\|MPI_.*looks a second' "$bare" && return
	cat "$bare"
	return 1
}

# measures TEXT SECONDS COMMAND...: the command's last option takes so long, or longer where load lets too few rounds come for any of
# its settings.
measures() {
	local text=$1 first=$2 times

	shift 2
	for times in 1 4 12; do
		if tap_says 0 "$text" patiently "$@" "$((times * first))s"; then
			grep -q 'too few' "$tap_dir/said" || return 0
		else
			grep -q 'too few' "$tap_dir/said" || return 1
		fi
	done
	return 1
}

# Several settings of that length.
patiently() {
	timeout -k 5 600 "$@"
}

# Blocks that do not end in that time say nothing, and no figure is made of that.
says_nothing() {
	tap_says 1 'nothing can be compared: 0 rounds are too few .* blocks of [0-9]* collectives: measure longer' evspace perturb --run iterate --block 30s --ab 1s &&
		grep -q '1 s are too short for an interval: its 8 rounds, .* take [0-9.e+]* s at least' "$tap_dir/said" && ! grep -q '%' "$tap_dir/said" &&
		tap_says 1 '"arm":"off again","rounds":0,"slowdown":null,"low":null,"high":null,' evspace perturb --run iterate --block 30s --ab 1s --json ||
		{ cat "$tap_dir/said"; return 1; }
}

# The blocks of its experiments that are over, since what was before was discarded.
blocks() {
	evspace events --run planted --select '/**/user' --backlog --count 1 --json 2>/dev/null | grep -c evspace_block
}

# The program ends long before the experiment would: what was measured until then is there.
program_ends() {
	evspace discard --run planted >/dev/null || return
	bed_start last evspace perturb --run planted --ab 300s --block 20ms
	bed_until eval '[ "$(blocks)" -ge 60 ]' && ends planted && bed_wait last && bed_ended last 0 &&
		grep -q 'the program has ended, after [0-9.]* of 300 s' "$bed_dir/last.err" && grep -q '^collect ' "$bed_dir/last.out" ||
		{ cat "$bed_dir"/last.*; return 1; }
}

# An interval for each arm, and 0 for the slowdown of nothing is not far off: within what could be seen.
observes() {
	measures '"arm":"observe"' 6 evspace perturb --run iterate --block 50ms --view heartbeat --rate 20 --json --ab || return
	[ "$(grep -c '"type":"effect"' "$tap_dir/said")" -eq 3 ] &&
		grep '"arm":"off again"' "$tap_dir/said" | sed 's/.*"rounds":\([0-9]*\),"slowdown":\([^,]*\),"low":\([^,]*\),"high":\([^,]*\),.*/\1 \2 \3 \4/' |
		awk '$1 >= 8 && $3 <= $2 && $2 <= $4 && $3 < 0.05 && $4 > -0.05 { good = 1 } END { exit !good }' ||
		{ cat "$tap_dir/said"; return 1; }
}

wrong_budgets() {
	local budget

	for budget in 0 -1% nan 200 much; do
		tap_says 2 'is not a share' evspace heartbeat --run iterate --budget "$budget" || return
	done
}

# A busy loop in the collector's path takes 5 % of the processor time of an iteration while collecting is on. The interval
# holds it, and tells it from none, or it says that it cannot: how wide it is depends on what else the machine does.
finds_planted() {
	measures 'cannot be told from nothing' 7 evspace perturb --run planted --block 50ms --ab &&
		grep '^collect ' "$tap_dir/said" | tr -d '+%' |
		awk '$3 <= 5 && 5 <= $4 { good = $3 > 0 ? / slower/ : / cannot tell/ } END { exit !good }' && return
	cat "$tap_dir/said"
	return 1
}

# A consumer with a budget looks and pauses in turn, by the program's collectives, and says what that measures, whether
# levers move or not; modes stay.
keeps_budget() {
	bed_until grep -q '^evspace heartbeat: [0-9.]* looks a second; slowdown [-0-9.]* % ([-0-9.]* to [-0-9.]*), measured, with a budget of 2 %' "$bed_dir/budget.err" &&
		modes planted | grep -q '"mode":"time"' &&
		bed_kill INT budget && bed_wait budget && modes planted | grep -q '"mode":"time"' && return
	modes planted
	cat "$bed_dir/budget.err"
	return 1
}

# Each class alone in the mode.
tunes() {
	measures '"mode":"count","classes":"collective"' 3 evspace tune --run planted --view heartbeat --rates 50 --classes p2p,collective --block 50ms --json --each &&
		tap_printed "$tap_dir/said" -- '"mode":"count","classes":"p2p"' '"type":"paper","rate_hz":106' '"best":true'
}

# Each urgency, with as many waves under way as is said; in pauses between blocks that look nothing piles up, so no more come than were asked for.
tunes_levers() {
	measures '"urgency":"idle","window":16' 6 evspace tune --run planted --view heartbeat --rates 50 --urgencies idle,normal --windows 16 --block 50ms --json --each &&
		tap_printed "$tap_dir/said" -- '"urgency":"normal","window":16' &&
		sed -n '/"type":"point"/s/.*"rate_hz":\([0-9.]*\),.*/\1/p' "$tap_dir/said" | awk '$1 > 60 { bad = 1 } END { exit bad || NR != 2 }' ||
		{ cat "$tap_dir/said"; return 1; }
}

# Rates, and at the middle one trees and classes: what was measured so far is drawn; Ctrl-C leaves all modes as before.
tune_is_interrupted() {
	local plot=$tap_dir/curve.svg times

	# longer where load lets too few rounds come
	# not what it called only at its begin
	for times in 1 4 12; do
		bed_start tune evspace tune --run planted --view heartbeat --rates 50 --each "$((times * 3))s" --block 50ms --plot "$plot"
		bed_until grep -q '50 waves a second, p2p count, for' "$bed_dir/tune.err" && bed_until eval 'modes planted | grep -q trial' || { cat "$bed_dir/tune.err"; return 1; }
		bed_kill INT tune && bed_wait tune && bed_until all_traced planted || return
		grep -q 'no other setting' "$bed_dir/tune.out" && grep -q '<svg' "$plot" && return
		grep -q 'too few' "$bed_dir/tune.err" || break
	done
	cat "$bed_dir/tune.err" "$bed_dir/tune.out"
	return 1
}

# Field 41 of proc(5): SCHED_BATCH.
is_batch() {
	[ "$(sed 's/.*) //' "/proc/$(bed_pid agent)/stat" | cut -d' ' -f39)" -eq 3 ]
}

# Who sets its rate itself does so within the budget: *events* would look ten times a second.
events_keep_it() {
	evspace events --run steady --budget 0.05% --duration 5s >/dev/null 2>"$tap_dir/said" &&
		awk 'match($0, /up to [0-9.]+ waves a second/) { most = substr($0, RSTART + 6) + 0 }
			match($0, /waves \([0-9.]+\/s\)/) { rate = substr($0, RSTART + 7) + 0 }
			END { exit !(most > 0 && most < 4 && rate > 0 && rate < 1.5 * most + 0.5) }' "$tap_dir/said" ||
		{ cat "$tap_dir/said"; return 1; }
}

# Whatever looks at events.
each_keeps_it() {
	local each

	for each in "colop" "archive $tap_dir/kept" "export --to csv $tap_dir/kept.csv" "phase live" "view rates --top 1" "heartbeat" "watch -- sleep 3"; do
		case $each in
		# its two have one budget, of which each has half
		watch*) evspace watch --budget 0.05% ${each#watch} >/dev/null 2>"$tap_dir/said" &&
			[ "$(grep -c 'budget 0.025 %.*shared out anew' "$tap_dir/said")" = 2 ] ;;
		*) evspace $each --run steady --budget 0.05% --duration 3s >/dev/null 2>"$tap_dir/said" ;;
		esac && grep -q 'budget 0.0[25]* %.*: up to [0-9.]* waves a second' "$tap_dir/said" || { echo "$each:"; cat "$tap_dir/said"; return 1; }
	done
}

# What is less than collecting takes: the least rate, and what would help.
too_little() {
	bed_start little evspace heartbeat --run steady --budget 0.0001%
	bed_until grep -q 'up to 0.1 waves a second: collecting alone takes the budget: `--budget PERCENT,collect` lessens that, or allow more' "$bed_dir/little.err" &&
		bed_kill INT little && bed_wait little || { cat "$bed_dir/little.err"; return 1; }
}

bed_begin
bed_start agent evspace agent --urgency batch
bed_until bed_ready agent
begins iterate 2 "$top_builddir/tests/apps/iterate" 100 100000
begins steady 1 "$top_builddir/tests/apps/steady"
bed_until is_collected iterate collective@world 2
tap_case "an agent has the scheduling class that it is to have" is_batch
tap_case "... which is one that there is" tap_says 2 "it is idle, batch or normal" evspace agent --urgency nice
tap_case "one experiment at a time, which Ctrl-C ends" is_alone
tap_case "the command of another one is killed" is_killed
bed_until is_collected steady 'p2p@[^ ]*' 1
bed_start direct evspace heartbeat --run steady --rate 20 --budget 1% --json
tap_case "without an experiment: what events, agents, links and views cost" tap_says 0 'slowdown about [0-9.]* %.* to ' evspace perturb --run iterate --duration 1s
tap_case "... as JSON" direct_json
tap_case "... with what an event costs" grep -q '"channel":"collective","events":[0-9]*,"timed":[1-9][0-9]*,"interrupted":[0-9]*,"event_ns":[0-9.]*,' "$tap_dir/said"
tap_case "... with how much of it was on the rank that arrived last in collectives" says_critical
tap_case "... and the slowdown" grep -q '"type":"cost","rate_hz":null,"slowdown":[0-9.e-]*,"low":[0-9.e-]*,"high":[0-9.e-]*,' "$tap_dir/said"
tap_case "consumers say what they cost, on a terminal while they look" says_cost
tap_case "what it does not honour is refused" tap_says 2 "no option '--count'" evspace perturb --run iterate --count 3
tap_case "... and so is a rate without looking" tap_says 2 'needs --ab' evspace perturb --run iterate --rate 3
tap_case "... and a view that nobody looks at" eval "tap_says 2 'needs --ab TIME --rate HZ' evspace perturb --run iterate --view heartbeat --ab 1s &&
	tap_says 2 'needs --ab TIME --rate HZ' evspace perturb --run iterate --view heartbeat"
tap_case "no longer than a lease can be: 2" tap_says 2 'at most: shorten --ab' evspace perturb --run iterate --ab 60m
tap_case "budgets that are none: 2" wrong_budgets
tap_case "a program without collectives: 1" tap_says 1 'makes no collectives on MPI_COMM_WORLD' evspace perturb --run steady --ab 1s
tap_case "... whose budget is kept by direct cost" bed_until grep -q 'cannot be measured on the program (it makes no collectives' "$bed_dir/direct.err"
tap_case "... and which says what it costs while it looks" bed_until grep -q '"type":"cost","rate_hz":[0-9.]*,.*"budget":0.01,"measured":null,' "$bed_dir/direct.out"
bed_kill INT direct
bed_wait direct
tap_case "... within which a consumer sets its rate itself" events_keep_it
tap_case "... and so do all others" each_keeps_it
tap_case "a budget below what collecting takes: that is said, and what would help" too_little
kill -TERM "$(bed_pid steady)"
tap_case "the experiment of the command that was killed ends by its lease" bed_until all_traced
preload=$top_builddir/tests/preload/.libs/plant.so begins planted 1 "$top_builddir/tests/apps/iterate" 1 100000
bed_until is_collected planted collective@world 1
evspace collect --run planted --class p2p time >/dev/null
bed_start budget evspace heartbeat --run planted --rate 1000 --budget 2%
tap_case "slowdowns with their intervals, of looking, too" observes
tap_case "no round is done: nothing can be compared, which is said: 1" says_nothing
tap_case "afterwards everything is recorded as before" all_traced
tap_case "not once ranks may count their collectives differently: 1" eval 'evspace collect --run iterate --class collective off >/dev/null &&
	evspace collect --run iterate --class collective trace >/dev/null && tap_says 1 "count them differently" evspace perturb --run iterate --ab 20s --block 100ms'
tap_case "a budget is kept by an experiment" keeps_budget
ends iterate
evspace collect --run planted --class p2p trace >/dev/null
bed_until all_traced planted
tap_case "a slowdown that was planted is found" finds_planted
tap_case "tune measures what looking costs" tunes
tap_case "... by each urgency of agents, and number of waves under way" tunes_levers
tap_case "... not a tree that is none: 2" tap_says 2 "by-clutser" evspace tune --run planted --trees flat,by-clutser
tap_case "... nor more settings than it can walk, without a word: 2" tap_says 2 'these are 2048 settings, .* 1024 at most' evspace tune --run planted \
	--windows 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --modes off,trace,count,time,sample,1/2,1/4,1/8 --classes p2p,wait,collective,env --urgencies idle,batch --rates 1,2
tap_case "... not what is no drawing: 2" tap_says 2 "neither .svg nor .png" evspace tune --plot curve.gif
tap_case "... nor what cannot be written: 2, before it measures" tap_says 2 'No such file' evspace tune --plot /nonexistent/curve.svg
if [ -e "$top_builddir/.libs/libevspace-draw.so" ]; then
	tap_case "... and draws what it has when it is interrupted" tune_is_interrupted
else
	tap_skip "... and draws what it has when it is interrupted" "this was built without cairo"
fi
tap_case "the program ends meanwhile: that is said, with what was measured" program_ends
tap_case "... and has ended: 1" tap_says 1 'the program has ended$' evspace perturb --run planted --ab 100s
tap_case "... for tune, too" tap_says 1 '^evspace tune: 0 of 2 settings were measured' evspace tune --run planted --rates 10,20 --windows 1
bed_wait steady
tap_case "without a program: 1" tap_says 1 'the program has ended$' evspace perturb --run steady --ab 1s
tap_done
