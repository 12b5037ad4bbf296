# SPDX-License-Identifier: BSD-3-Clause
# Chaos: agents are killed and stopped, wires cut and made slow, all at random, while four consumers
# compare what they sum up with what stands in the segments. CHAOS_SEED=N does the same things again,
# CHAOS_SECONDS=N says for how long (15; `make soak`: 300).

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/hosts-bed.sh"

seconds=${CHAOS_SECONDS:-15}
seed=${CHAOS_SEED:-$((SRANDOM % 32768))}
views=(total spread events folded)
# Of each: waves a second, and how many may be under way.
declare -A rates=([total]="-r 100 -n 1" [spread]="-r 300 -n 8" [events]="-r 50 -n 2" [folded]="-r 100 -n 4 -f")

# What ails a node ("kill", "stop", "cut", "slow"), and until which tick of 50 ms.
declare -A ail until count

# What should have gone on by itself has ended: its node, in $tap_dir/died.
died() {
	echo "$1 ended by itself:" && tail -n 20 "$bed_dir/$1.err"
} >>"$tap_dir/died"

make_ill() {
	local node=$1 what=$2

	ail[$node]=$what
	count[$what]=$((${count[$what]:-0} + 1))
	case $what in
	kill)
		kill -0 "$(bed_pid "$node")" 2>/dev/null || died "$node"
		bed_kill KILL "$node"
		;;
	stop) kill -STOP "$(bed_pid "$node")" || died "$node" ;;
	cut) hosts_cut "$node" ;;
	slow) hosts_slow "$node" ;;
	esac
}

make_well() {
	local node=$1

	case ${ail[$node]} in
	kill) hosts_agent "$node" ;;
	stop) kill -CONT "$(bed_pid "$node")" ;;
	cut | slow) hosts_mend "$node" ;;
	esac
	unset "ail[$node]" "until[$node]"
}

chaos() {
	local tick=0 node whats=(kill stop kill stop) began=${EPOCHREALTIME/[.,]/}

	[ "$hosts_real" = 1 ] && whats=(kill stop cut slow)
	while ((tick < seconds * 20)); do
		for node in "${!ail[@]}"; do
			[ "$tick" -ge "${until[$node]}" ] && make_well "$node"
		done
		if [ ${#ail[@]} -lt 3 ] && ((RANDOM % 100 < 15)); then
			node=${hosts_nodes[RANDOM % ${#hosts_nodes[@]}]}
			if [ -z "${ail[$node]-}" ]; then
				until[$node]=$((tick + 1 + RANDOM % 40))
				make_ill "$node" "${whats[RANDOM % 4]}"
			fi
		fi
		sleep 0.05
		tick=$(((${EPOCHREALTIME/[.,]/} - began) / 50000))
	done
	for node in "${!ail[@]}"; do
		make_well "$node"
	done
}

nobody_died() {
	local node

	for node in "${hosts_nodes[@]}"; do
		kill -0 "$(bed_pid "$node")" 2>/dev/null || died "$node"
	done
	[ ! -s "$tap_dir/died" ] || { cat "$tap_dir/died"; false; }
}

is_exact() {
	cat "$bed_dir/$1.out" && bed_ended "$1" 0
}

# Or we have compared nothing.
saw_much() {
	local waves whole

	read -r waves _ whole _ < <(grep '^[0-9]* waves' "$bed_dir/$1.out") && echo "$waves waves, $whole whole" &&
		[ "$waves" -gt $((seconds * 2)) ] && [ "$whole" -ge 20 ]
}

# Ten lines at once, and one each minute, of each child, twice; and what agents say at their start.
is_short() {
	local node lines

	for node in "${hosts_nodes[@]}"; do
		lines=$(cat "$bed_dir/$node".all "$bed_dir/$node".err 2>/dev/null | grep -vc 'ready on')
		[ "$lines" -le $((50 + 2 * seconds)) ] || { echo "$node says $lines lines"; return 1; }
	done
}

hosts_begin
echo "# seed $seed, $seconds s; the same again: make check TESTS=tests/chaos_test.sh CHAOS_SEED=$seed"
[ "$hosts_real" = 1 ] || echo "# no namespaces here: agents are killed and stopped, no wires are cut"
RANDOM=$seed
# One time in three a host asks the hosts below it one after the other.
((RANDOM % 3)) || echo 'concurrency sequential;' >>"$bed_dir/maps/mapping.map"
tap_case "agents start" hosts_agents "${hosts_nodes[@]}"
hosts_write 500 $((seconds + 580))
for view in "${views[@]}"; do
	hosts_checker "$view" "${view/folded/total}" ${rates[$view]} -v
done
for view in "${views[@]}"; do
	tap_case "$view is seen whole" bed_until hosts_sees "$view" '4 of 4'
done
chaos 2>/dev/null
echo "# ${count[kill]:-0} killed, ${count[stop]:-0} stopped, ${count[cut]:-0} cut, ${count[slow]:-0} slow"
kill -TERM "$(bed_pid writer)"
bed_wait writer
for view in "${views[@]}"; do
	kill -TERM "$(bed_pid "$view")"
done
for view in "${views[@]}"; do
	bed_wait "$view"
	tap_case "$view: all that is said is exact, and in the end all has come" is_exact "$view"
	sed -n 's/^[0-9]* waves/# &/p' "$bed_dir/$view.out"
	tap_case "... and there was something to see" saw_much "$view"
done
tap_case "nobody has ended by itself" nobody_died
tap_case "what agents say stays short" is_short
tap_case "agents end when they are told to" hosts_clean
tap_done
