# SPDX-License-Identifier: BSD-3-Clause
# A gateway agent is the only door into a cluster: who looks from outside is relayed, and learns no
# address of a host inside, whatever is asked and whatever is broken there.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"

inside='10\.81\.1\.' # where the hosts of cluster A are, and nothing else
attacker=$top_builddir/tests/attacker

maps_make() {
	mkdir -p "$cluster_dir/maps"
	cat >"$cluster_dir/maps/application.map" <<-END
		# on 10.81.1.10
		application any { ranks any; }
	END
	cat >"$cluster_dir/maps/mapping.map" <<-END
		# a0 is 10.81.1.10
		entry front;
	END
	cat >"$cluster_dir/maps/cluster.map" <<-END
		cluster A {
			nodes a[0-1]; # 10.81.1.10 and 10.81.1.11
			address 10.81.1.[10-11]:7440;
			gateway ga;
			deploy ssh { host 10.81.1.[10-11]; }
		}
		node ga { address 10.81.0.4:7440; }
		node front { address 10.81.0.3:7440; }
	END
	cp -r "$cluster_dir/maps" "$cluster_dir/other"
	sed -i 's/nodes a\[0-1\];/nodes a[0-1] a2;/; s/\[10-11\]/[10-12]/' "$cluster_dir/other/cluster.map"
	cp -r "$cluster_dir/maps" "$cluster_dir/lost"
	sed -i 's/address .*\[10-11\]:7440;/address a0 10.81.1.10:7440; address a1 nowhere-10.81.1.11.invalid:7440;/' \
		"$cluster_dir/lost/cluster.map"
}

certificates_make() {
	"$top_srcdir/deploy/certs" init "$cluster_dir/tls" &&
		"$top_srcdir/deploy/certs" agent "$cluster_dir/tls" a0 a1 ga front &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" observe &&
		"$top_srcdir/deploy/certs" control "$cluster_dir/tls" control
}

# agent NODE [MAPS]: start it; its log is $cluster_dir/NODE/agent.
agent() {
	rm -f "$cluster_dir/$1/agent"
	cluster_on "$1" evspace agent --pathmap "$cluster_dir/${2-maps}" --node "$1" --tls "$cluster_dir/tls" \
		</dev/null >"$cluster_dir/$1/agent" 2>&1 &
	disown
	cluster_until grep -q 'ready on' "$cluster_dir/$1/agent" || { cat "$cluster_dir/$1/agent"; return 1; }
}

agent_end() {
	cluster_on "$1" pkill -TERM -f 'evspace [a]gent'
	cluster_until eval '! cluster_on '"$1"' pgrep -f "evspace [a]gent"'
}

program() {
	cluster_on a0 "$top_builddir/tests/writer" /dev/shm/evspace-0/run 2 100 600 </dev/null \
		>"$cluster_dir/writer" 2>&1 &
	disown
	cluster_until eval '[ "$(cluster_on a0 find /dev/shm/evspace-0/run -name "*.seg" | wc -l)" -eq 2 ]'
}

# outside COMMAND...: what it says is in $cluster_dir/said, and in all that was ever said.
outside() {
	local code

	cluster_on out env EVSPACE_TLS="$cluster_dir/tls" EVSPACE_CONNECT=front:7440 timeout -k 5 120 "$@" \
		>"$cluster_dir/said" 2>&1
	code=$?
	tee -a "$cluster_dir/all" <"$cluster_dir/said"
	return $code
}

# says CODE TEXT COMMAND...: as tap_says, from outside.
says() {
	tap_says "$1" "$2" outside "${@:3}"
}

# Nothing that has been said outside names an address inside. Without a word there would be none.
nothing_inside() {
	[ "$(wc -c <"$cluster_dir/all")" -gt "$1" ] || { echo "only $(wc -c <"$cluster_dir/all") bytes"; return 1; }
	! grep -a -e "$inside" "$cluster_dir/all" | head -c 3000 | grep -a .
}

# ---- the cases ----

all_commands() {
	says 0 '"type":"tuple"' evspace events --json --count 5 --backlog &&
		says 0 rank0 evspace heartbeat --json --count 2 &&
		says 0 rank1 evspace heartbeat --count 1 &&
		says 0 '"answered":2' evspace view rates --json --count 2 &&
		says 0 'p2p' evspace view slowest --count 2 &&
		says 0 front evspace status --json && says 0 front evspace status &&
		says 0 '"node":"a0"' evspace deploy status "$cluster_dir/maps" --json &&
		says 0 /A/a1 evspace deploy status "$cluster_dir/maps" &&
		says 0 /A/a0 evspace collect --json &&
		says 0 evspace evspace view rates --of evspace --count 2
}

map_is_compared_without_them() {
	says 0 'nothing is different' evspace map diff "$cluster_dir/maps" &&
		grep -q 'only control may see that' "$cluster_dir/said" &&
		says 0 'a2' evspace map diff "$cluster_dir/other"
}

frames() {
	says 0 "$3" "$attacker" frames "$1:7440" "$cluster_dir/tls" "$2" 10.81.9.99:22 &&
		[ "$(grep -ac '^kind' "$cluster_dir/said")" -ge 8 ]
}

# How many connections the host has ever begun.
dialled() {
	cluster_on "$1" awk '/^Tcp:/ { if (n++) print $6 }' /proc/net/snmp
}

leads_nowhere_else() {
	local before

	before=$(dialled ga)
	frames ga observe 'may not open parts' && frames ga control 'may not open parts' &&
		[ "$(grep -ac 'may not ask for the status' "$cluster_dir/said")" -eq 1 ] &&
		[ "$(dialled ga)" = "$before" ] && ! grep -a 10.81.9.99 "$cluster_dir/ga/agent"
}

# The network does not lead there; where it did, agents inside would not answer either.
inside_is_closed() {
	! cluster_on out timeout 2 bash -c 'exec 3<>/dev/tcp/10.81.1.10/7440' 2>/dev/null &&
		! cluster_on front timeout 2 bash -c 'exec 3<>/dev/tcp/10.81.1.10/7440' 2>/dev/null &&
		cluster_on ga bash -c 'exec 3<>/dev/tcp/10.81.1.10/7440' || return
	for role in observe control; do
		cluster_on ga evspace "$@" --connect 10.81.1.10:7440 --entry a0 --tls "$cluster_dir/tls" --identity "$role" \
			>"$cluster_dir/inner" 2>&1 && { echo "$role gets an answer"; return 1; }
		grep 'a0, behind the gateway ga: only agents may connect to it; the entry .* is front' \
			"$cluster_dir/inner" || { cat "$cluster_dir/inner"; return 1; }
	done
}

dead_host() {
	agent_end a1 &&
		says 1 '/A/a1 .*NOT THERE: no agent listens at a1; start one there: evspace agent --pathmap DIR --node a1' \
			evspace deploy status "$cluster_dir/maps" &&
		says 1 'a1' evspace deploy status "$cluster_dir/maps" --json &&
		says 0 rank0 evspace heartbeat --json --count 2 &&
		says 0 '"type":"tuple"' evspace events --json --count 3 --backlog &&
		says 1 '"missing":"unreachable"' evspace collect --json && frames front observe 'no agent listens at a1' &&
		says 1 'a2 does not answer' evspace map apply "$cluster_dir/other" --dry-run --identity control
}

# The operator is told where it is.
operator_is_told() {
	grep "agent a1 at 10.81.1.11:7440: no agent listens at a1" "$cluster_dir/ga/agent"
}

powerless_host() {
	cluster_power_off a1
	says 1 '/A/a1 .*NOT THERE: ' evspace deploy status "$cluster_dir/maps" &&
		says 0 rank0 evspace heartbeat --json --count 2 && frames front observe a1
}

gateway_away() {
	agent_end ga && says 1 '/A/a0 .*NOT THERE: ' evspace deploy status "$cluster_dir/maps" &&
		frames front observe 'no agent listens at ga' && outside evspace heartbeat --json --count 1
	agent ga && says 0 rank0 evspace heartbeat --json --count 2
}

# Who looks a name up may be silent for so long that others take it for dead.
address_leads_nowhere() {
	agent_end front && agent front lost &&
		cluster_until says 1 '/A/a1 .*NOT THERE: the address of a1 in the map leads nowhere' \
			evspace deploy status "$cluster_dir/maps" || { cat "$cluster_dir/said"; return 1; }
}


if ! cluster_allowed; then
	tap_skip "a gateway agent is the only door into a cluster" "$cluster_why"
	tap_done
fi
cluster_begin 2 0 || exit 99
maps_make
certificates_make >"$cluster_dir/certs.log" 2>&1 || { sed 's/^/# /' "$cluster_dir/certs.log"; exit 99; }
for node in a0 a1 ga front; do
	agent "$node" || exit 99
done
program || exit 99
: >"$cluster_dir/all"

tap_case "all commands work from outside, through the gateway" all_commands
tap_case "a map is compared without where hosts are" map_is_compared_without_them
tap_case "who asks for all that there is gets it" frames front observe A/a0
tap_case "a gateway is no entry: it says which agent is" says 2 'the entry of its pathmap is front: connect to 10.81.0.3:7440' \
	evspace events --connect ga:7440 --count 1
tap_case "it shows itself" says 0 '"node":"ga"' evspace status --connect ga:7440 --json
tap_case "it leads nowhere else, whoever asks" leads_nowhere_else
tap_case "agents inside are not reached from outside, and answer agents alone" inside_is_closed status
tap_case "... whatever is asked of them" inside_is_closed events --count 1
# A compute node has a certificate, too; nothing puts it above another one.
neighbour_is_no_superior() {
	cluster_on a1 "$attacker" agent 10.81.1.10:7440 "$cluster_dir/tls" a1 >"$cluster_dir/neighbour" 2>&1
	[ "$(grep -c '^refused: ' "$cluster_dir/neighbour")" -eq 8 ] && ! grep granted "$cluster_dir/neighbour" &&
		grep -q 'refused: agent a1 may not stand above a0' "$cluster_dir/neighbour" &&
		grep '10.81.1.11:[0-9]*: agent a1 may not stand above a0' "$cluster_dir/a0/agent" ||
		{ cat "$cluster_dir/neighbour" "$cluster_dir/a0/agent"; return 1; }
}
tap_case "nor do they answer each other, where no tree has it so" neighbour_is_no_superior
tap_case "none of that names an address inside" nothing_inside 20000
tap_case "an agent inside that has ended is called by its name" dead_host
tap_case "the gateway's log says where it is" operator_is_told
tap_case "so is a host without power" powerless_host
tap_case "and what is behind a gateway that is away" gateway_away
tap_case "and a host whose address leads nowhere" address_leads_nowhere
tap_case "none of that names an address inside either" nothing_inside 40000
tap_done
