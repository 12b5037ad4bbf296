# SPDX-License-Identifier: BSD-3-Clause
# Urgency: agents are in the scheduling class that consumers ask for, below their own; one that gets no core is late and
# keeps its part, one that is stopped or cut off does not, and which it was is said.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/hosts-bed.sh"

# Field 41 of proc(5): 0 normal, 3 batch, 5 idle.
class_of() {
	sed 's/.*) //' "/proc/$(bed_pid "$1")/stat" | cut -d' ' -f39
}

# in_class NUMBER NODE...: all of them are.
in_class() {
	local class=$1 node

	shift
	for node; do
		[ "$(class_of "$node")" = "$class" ] || { echo "$node is in class $(class_of "$node"), not $class"; return 1; }
	done
}

are_in_class() {
	bed_until in_class "$@" || in_class "$@"
}

# look NAME OPTION...: a consumer that goes on.
look() {
	hosts_start eye "$1" evspace view total --connect "$bed_entry" --run run --json "${@:2}"
}

look_ends() {
	bed_kill INT "$1" && bed_wait "$1"
}

# Waves that the checker has seen so far.
waves() {
	tail -n 1 "$bed_dir/total.out" | sed -n 's/^wave \([0-9]*\):.*/\1/p'
}

sees_now() {
	[ "$(waves)" -gt "$1" ] && hosts_sees total "$2"
}

# What the consumer has been told since its line NUMBER.
told() {
	tail -n "+$1" "$bed_dir/watch.out" | grep -q -e "$2"
}

lines() {
	wc -l <"$bed_dir/watch.out"
}

tells() {
	bed_until told "$@" || { tail -n 3 "$bed_dir/watch.out"; return 1; }
}

whole() {
	bed_until sees_now "$(($(waves) + 20))" '4 of 4' || { tail -n 3 "$bed_dir/total.out"; return 1; }
}

sockets() {
	ls -l "/proc/$(bed_pid m)/fd" | grep -c socket:
}

cores=$(taskset -cp $$ | sed 's/.*: //')

# starve NODE: programs that leave its core next to nothing for who takes idle ones only.
starve() {
	local i

	taskset -p -c 0 "$(bed_pid "$1")" >/dev/null || return
	for i in 1 2 3 4 5 6 7 8; do
		bed_start "hog$i" taskset -c 0 bash -c 'while :; do :; done'
	done
}

# feed NODE: they are gone, and it has all cores again.
feed() {
	local i

	taskset -p -c "$cores" "$(bed_pid "$1")" >/dev/null
	for i in 1 2 3 4 5 6 7 8; do
		bed_kill KILL "hog$i"
	done
}

# What waits too long for an idle core takes its share of a busy one.
is_lifted() {
	look soon --rate 20 --urgency idle --deadline 500ms
	bed_until test -s "$bed_dir/soon.out" && starve b1 || return
	are_in_class 3 b1
	lifted=$?
	look_ends soon
	feed b1
	return "$lifted"
}

# An agent that could not leave idle again does not go there, and says what to do.
stays_out() {
	bed_kill TERM b0
	hosts_start b0 b0 prlimit --nice="$1" setpriv --bounding-set -sys_nice --inh-caps -sys_nice \
		evspace agent --pathmap "$bed_dir/maps" --node b0
	bed_until hosts_ready b0 && are_in_class "$2" b0 || return
	[ "$(grep -c 'LimitNICE' "$bed_dir/b0.err")" = "$3" ]
}

# For a second, which is long enough to be told of. No host stood in for it: m has no connections to those below.
is_late() {
	local from=$(lines) before=$(sockets)

	starve ga || return
	tells "$from" '"host":"/A/a0","why":"late","since_s":[1-9][0-9.]*,"reason":"ga above it: starved: it waits for a core"'
	late=$?
	[ "$(sockets)" = "$before" ] || { echo "$(sockets) sockets, not $before"; late=1; }
	feed ga
	return "$late"
}

# Nobody could stand in for a leaf; it is late for each wave, and that is said.
leaf_is_late() {
	local from=$(lines)

	starve a0 || return
	tells "$from" '"host":"/A/a0","why":"late","since_s":[1-9][0-9.]*,"reason":"starved: it waits for a core"'
	late=$?
	feed a0
	return "$late"
}

leaf_returns() {
	whole && cat "$bed_dir"/ga.err "$bed_dir"/m.err | grep -q 'agent a0 at .* waited [0-9.]* s for a core'
}

returns() {
	whole && grep -q 'agent ga at .* waited [0-9.]* s for a core' "$bed_dir/m.err"
}

# takes_over SIGNAL...: the checker sees all leaves while ga is silent, well before a starved one would be replaced.
is_replaced() {
	local from=$(lines) since=$SECONDS

	"$@" || return
	whole && [ $((SECONDS - since)) -lt 5 ] || { echo "after $((SECONDS - since)) s"; return 1; }
}

is_replaced_late() {
	local since=$SECONDS

	"$@" && whole && [ $((SECONDS - since)) -ge 4 ] || { echo "after $((SECONDS - since)) s"; return 1; }
}

ga_is_hidden() {
	hosts_ready ga || ! kill -0 "$(bed_pid ga)"
}

hosts_begin
tap_case "agents start" hosts_agents "${hosts_nodes[@]}"
hosts_write 500 600
are_in_class 0 "${hosts_nodes[@]}"

# With time enough, nobody is lifted while others use this machine.
look default --rate 20 --deadline 60s
tap_case "agents that are asked are in batch" are_in_class 3 "${hosts_nodes[@]}"
look idle --rate 20 --urgency idle --deadline 60s
tap_case "... the command itself is as it asks, and the most urgent of two asks counts" eval 'are_in_class 5 idle && are_in_class 3 "${hosts_nodes[@]}"'
look_ends default
tap_case "... until it ends" are_in_class 5 "${hosts_nodes[@]}"
tap_case "one that waits too long for an idle core takes its share of a busy one" is_lifted
tap_case "... and tries idle again" are_in_class 5 b1
if prlimit --nice=20 setpriv --bounding-set -sys_nice true 2>/dev/null; then
	tap_case "who could not leave idle again stays out of it, and says so" stays_out 0 3 1
	tap_case "... but not who could" stays_out 20 5 0
else
	tap_skip "who could not leave idle again stays out of it, and says so" "limits cannot be raised here"
	tap_skip "... but not who could" "limits cannot be raised here"
fi
look normal --rate 20 --urgency normal --deadline 60s
tap_case "normal is more than idle" are_in_class 0 "${hosts_nodes[@]}"
look_ends normal
look_ends idle
tap_case "nobody asks: they are as they were started" are_in_class 0 "${hosts_nodes[@]}"

bed_kill TERM ga
cp "$bed_dir/ga.err" "$bed_dir/ga.all"
hosts_start ga ga evspace agent --pathmap "$bed_dir/maps" --node ga --urgency idle
bed_until hosts_ready ga
hosts_checker total total -v -r 100
look watch --rate 20 --deadline 300ms
tap_case "an agent's --urgency is the most that it takes" eval 'whole && are_in_class 5 ga && ! in_class 5 m'
tap_case "it gets no core: it is late, and nobody takes over" is_late
tap_case "... it says how long it waited" returns
since=$(lines)
tap_case "it is stopped: others take over" is_replaced kill -STOP "$(bed_pid ga)"
kill -CONT "$(bed_pid ga)"
tap_case "... and it was the stop" tells "$since" '"reason":"ga above it: stopped: by a signal"'
tap_case "... it goes on" whole
kill -STOP "$(bed_pid a0)"
tap_case "a leaf is stopped: that is said" tells "$(lines)" '"host":"/A/a0".*"reason":"stopped: by a signal"'
kill -CONT "$(bed_pid a0)"
whole
bed_kill TERM a0
cp "$bed_dir/a0.err" "$bed_dir/a0.all"
hosts_start a0 a0 evspace agent --pathmap "$bed_dir/maps" --node a0 --urgency idle
bed_until hosts_ready a0
whole
tap_case "a leaf gets no core: it is late, and that is said" leaf_is_late
tap_case "... and how long it waited" leaf_returns
if [ "$hosts_real" = 1 ]; then
	since=$(lines)
	tap_case "it is cut off: others take over" is_replaced hosts_cut ga
	tap_case "... and it was the wire" tells "$since" '"reason":"ga above it: cut off: its host acknowledges nothing"'
	hosts_mend ga
	whole
	since=$(lines)
	hosts_cut a0
	tap_case "a leaf is cut off: that is said" tells "$since" '"host":"/A/a0".*"reason":"cut off: its host acknowledges nothing"'
	hosts_mend a0
	whole
else
	tap_skip "it is cut off: others take over" "no network namespaces here"
	tap_skip "... and it was the wire" "no network namespaces here"
	tap_skip "a leaf is cut off: that is said" "no network namespaces here"
fi

# From here on ga cannot be seen, as on another host.
bed_kill TERM ga
cat "$bed_dir/ga.err" >>"$bed_dir/ga.all"
hosts_start ga ga unshare -pf --kill-child evspace agent --pathmap "$bed_dir/maps" --node ga --urgency idle
if bed_until ga_is_hidden && whole; then
	inner=$(cat "/proc/$(bed_pid ga)/task/$(bed_pid ga)/children")
	since=$(lines)
	tap_case "elsewhere, in idle: it is waited for, and others take over at last" is_replaced_late kill -STOP $inner
	tap_case "... it may have been starved" tells "$since" '"why":"late".*"reason":"ga above it: starved, perhaps'
	kill -CONT $inner
	whole
	kill -TERM $inner
	bed_until bed_gone "$(bed_pid ga)"
else
	tap_skip "elsewhere, in idle: it is waited for, and others take over at last" "no process namespaces here"
	tap_skip "... it may have been starved" "no process namespaces here"
fi
look_ends watch
bed_kill TERM total
bed_wait total
tap_case "nothing was lost, and nothing came twice" bed_ended total 0
tap_case "agents end" hosts_clean
tap_done
