# SPDX-License-Identifier: BSD-3-Clause
# Agents that die, stop, or are not who they should be: who stands in for them, who is missing and
# named, who gets its part back; and what is summed up meanwhile is exact.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/hosts-bed.sh"

# Waves that the checker has seen so far.
waves() {
	tail -n 1 "$bed_dir/total.out" | sed -n 's/^wave \([0-9]*\):.*/\1/p'
}

# sees_now WAVE TEXT: a line of a later wave is the last one, and holds the text.
sees_now() {
	[ "$(waves)" -gt "$1" ] && hosts_sees total "$2"
}

# sees TEXT...: what the checker sees holds each, some waves after now.
sees() {
	local text since

	bed_until test -s "$bed_dir/total.out"
	since=$(($(waves) + 20))
	for text; do
		bed_until sees_now "$since" "$text" || { tail -n 5 "$bed_dir/total.out"; return 1; }
	done
}

# after COMMAND... -- TEXT...: run it, then sees.
after() {
	local command=()

	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	"${command[@]}" && sees "$@"
}

sockets() {
	local node

	for node in front m ga gb; do
		echo "$node $(ls -l "/proc/$(bed_pid "$node")/fd" | grep -c socket:)"
	done
}

# Everybody has the connections of the beginning: nobody stands in for anybody any more.
as_before() {
	diff <(echo "$sockets_before") <(sockets)
}

given_back() {
	bed_until as_before || { as_before; return 1; }
}

# An agent with another certificate listens where gb should.
impostor() {
	mkdir -p "$tap_dir/other"
	hosts_start gb impostor env EVSPACE_DIR="$tap_dir/other" evspace agent \
		--pathmap "$bed_dir/maps" --node b0 --listen "$(hosts_address 4)"
	bed_until hosts_ready impostor
}

stop() {
	kill -STOP "$(bed_pid "$1")"
}

go_on() {
	kill -CONT "$(bed_pid "$1")"
}

kill_both() {
	kill -KILL "$(bed_pid "$1")" "$(bed_pid "$2")"
	bed_until bed_gone "$(bed_pid "$1")"
	bed_until bed_gone "$(bed_pid "$2")"
}

# For how long the checker last said that a leaf is missing.
missing_for() {
	tail -n 1 "$bed_dir/total.out" | grep -o "$1 ([a-z]* for [0-9.]*" | grep -o '[0-9.]*$'
}

# rate NAME VIEW LEAF...: waves that one sees in a second.
rate() {
	local name=$1 view=$2 hosts_leaves=("${@:3}")

	hosts_checker "$name" "$view" -r 100 -s 2
	bed_wait "$name"
	bed_ended "$name" 0 || { cat "$bed_dir/$name.out"; return 1; }
	sed -n 's/^\([0-9]*\) waves.*/\1/p' "$bed_dir/$name.out"
}

# One who sees B has as many waves as before. Waiting for somebody would make it one a second; a
# quarter is enough to tell that, and this machine may be busy.
not_slower() {
	local now

	now=$(rate other of-b b0=2 b1=3) || { echo "$now"; return 1; }
	echo "$now waves in two seconds, $alone before"
	[ $((4 * now)) -ge "$alone" ]
}

finish() {
	kill -TERM "$(bed_pid total)"
	bed_wait total
}

exact() {
	cat "$bed_dir/total.out"
	bed_ended total 0
}

hosts_begin
[ "$hosts_real" = 1 ] || echo "# no namespaces here: hosts are loopback addresses, no wire is slow"
tap_case "agents start" hosts_agents "${hosts_nodes[@]}"
hosts_write 500 600
hosts_checker total total -v -r 100
tap_case "front over m over ga and gb: whole" sees '4 of 4'
sockets_before=$(sockets)

tap_case "ga is killed: its alternate takes over" after bed_kill KILL ga -- '4 of 4'
tap_case "... which is killed, too: m above it takes over both" after bed_kill KILL gb -- '4 of 4'
tap_case "... both are back" hosts_agents ga gb
tap_case "... and have their parts again" given_back
tap_case "ga is stopped: the same" after stop ga -- '4 of 4'
go_on ga
tap_case "... and has its part again when it goes on" given_back
tap_case "m is killed: its alternate is below it" after bed_kill KILL m -- '4 of 4'
tap_case "... which is killed, too: the next one" after bed_kill KILL ga -- '4 of 4'
hosts_agents m ga
tap_case "... both get their parts back" given_back
tap_case "gb is somebody else: he is refused" after bed_kill KILL gb -- '4 of 4'
tap_case "... and does not get its part" after impostor -- '4 of 4'
bed_kill TERM impostor
hosts_agents gb
tap_case "... but gb does" given_back
tap_case "the entry and ga are killed at once" kill_both front ga
hosts_agents front
tap_case "... and the entry comes back alone" sees '4 of 4'
hosts_agents ga
tap_case "... and then ga has its part again" given_back

tap_case "a leaf is killed: it is named" after bed_kill KILL a0 -- '3 of 4' '/A/a0 ('
tap_case "a second one: both are" after bed_kill KILL b1 -- '2 of 4' '/A/a0 (' '/B/b1 ('
since=$(missing_for /A/a0)
later() {
	echo "a0 was missing for $since s, b1 for $(missing_for /B/b1) s"
	awk -v a="$since" -v b="$(missing_for /B/b1)" 'BEGIN { exit !(a > b && b >= 0) }'
}
tap_case "... the first one for longer" later
hosts_agents a0 b1
tap_case "... both are back" sees '4 of 4'
tap_case "a leaf is stopped: it is left out, and named" after stop a0 -- '3 of 4' '/A/a0 ('
go_on a0
tap_case "... until it goes on" sees '4 of 4'
alone=$(rate other of-b b0=2 b1=3)
hosts_checker idle events -v -r 100
bed_until grep -q 'wave 2' "$bed_dir/idle.out"
stop idle
tap_case "a consumer that stops reading slows nobody else" not_slower
go_on idle
if [ "$hosts_real" = 1 ]; then
	hosts_slow a0
	tap_case "a slow wire slows nobody else" not_slower
	hosts_mend a0
else
	tap_skip "a slow wire slows nobody else" "needs namespaces"
fi
kill -TERM "$(bed_pid writer)"
bed_wait writer
finish
tap_case "all that was said is exact, and in the end all has come" exact
sed -n 's/^[0-9]* waves/# &/p' "$bed_dir/total.out"
kill -TERM "$(bed_pid idle)"
bed_wait idle
tap_case "... for him who was stopped, too" bed_ended idle 0

# --- a gateway ---

# gateway [ALTERNATE...]: the same hosts, but nobody but ga connects to a0 and a1.
gateway() {
	local node

	for node in "${hosts_nodes[@]}"; do
		bed_kill TERM "$node"
	done
	sed -i 's/\(cluster A .*\)}/\1 gateway ga; }/' "$bed_dir/maps/cluster.map"
	printf 'entry front;\nplace rank[0-3] on a[0-1] b[0-1];\ntree by-cluster;\n%s\n' "$*" \
		>"$bed_dir/maps/mapping.map"
	hosts_agents front ga gb a0 a1 b0 b1
	hosts_leaves=(a0 a1 b0 b1)
	hosts_checker total total -v -r 100
}

hosts_nodes=(front ga gb a0 a1 b0 b1)
bed_kill TERM m
gateway
tap_case "a gateway" sees '4 of 4'
tap_case "... is killed: its cluster is missing, and named" \
	after bed_kill KILL ga -- '2 of 4' '/A/a0 (' '/A/a1 ('
hosts_agents ga
tap_case "... until it is back" sees '4 of 4'
finish
tap_case "... exact" exact
sed -i 's/ gateway ga;//' "$bed_dir/maps/cluster.map"
gateway 'alternate gb for ga;'
tap_case "a gateway with an alternate" sees '4 of 4'
tap_case "... is killed" after bed_kill KILL ga -- '4 of 4'
finish
tap_case "... exact" exact
tap_case "agents end when they are told to" hosts_clean
tap_done
