# SPDX-License-Identifier: BSD-3-Clause
# Sourced after tap.sh: agents on loopback with certificates and a pathmap of their own, for one test.
#
#	bed_begin			# the shipped local pathmap on free ports, certificates, EVSPACE_DIR
#	bed_agents front ga a0 ...	# start agents and wait until they are ready
#	bed_until CONDITION...		# wait until the command succeeds (two minutes at most)
#	bed_ports			# the first of ten free ports
#	bed_start NAME COMMAND...	# run a command in the background
#	bed_wait NAME			# wait for its end; bed_ended NAME CODE is then true or not
#	bed_kill SIGNAL NAME		# signal an agent or a command and wait for its end
#
# $bed_dir holds it all; bed_entry is the entry agent's address; consumers find the certificates by
# themselves. State is in files, so that cases run in subshells may start and kill things, too.

bed_dir=$tap_dir/bed

# Segments are in shared memory, as in real life.
bed_begin() {
	local first

	mkdir -p "$bed_dir/pids"
	EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
	export EVSPACE_DIR EVSPACE_TLS=$bed_dir/tls EVSPACE_ENTRY=front
	first=$(bed_ports)
	bed_entry=127.0.0.1:$first
	cp -r "$top_srcdir/pathmap/examples/local" "$bed_dir/maps"
	chmod -R u+w "$bed_dir/maps"
	sed -i -E "s/744([0-9])/$((first / 10))\1/g" "$bed_dir/maps/cluster.map"
	{ "$top_srcdir/deploy/certs" init "$EVSPACE_TLS" &&
		"$top_srcdir/deploy/certs" agent "$EVSPACE_TLS" front ga 'a[0-1]' 'b[0-1]' &&
		"$top_srcdir/deploy/certs" observe "$EVSPACE_TLS" observe &&
		"$top_srcdir/deploy/certs" control "$EVSPACE_TLS" control; } >"$bed_dir/certs.log" 2>&1 ||
		{ sed 's/^/# /' "$bed_dir/certs.log"; exit 99; }
}

# bed_ports: the first of ten ports that are free. Tests that begin at the same time look at others.
bed_ports() {
	local block first port

	for ((block = $$; block < $$ + 240; block++)); do
		first=$((7500 + block % 240 * 10))
		for ((port = first; port < first + 10; port++)); do
			bed_port_free "$port" || continue 2
		done
		echo $first
		return
	done
}

# bed_port_free PORT: nothing listens there.
bed_port_free() {
	! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# bed_until COMMAND...: wait until it succeeds.
bed_until() {
	local limit=${bed_limit:-120} end

	end=$((SECONDS + limit))

	while [ "$SECONDS" -lt "$end" ]; do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	echo "waited $limit s in vain for: $*"
	return 1
}

# bed_start NAME COMMAND...: run it in the background, output in $bed_dir/NAME.{out,err}.
bed_start() {
	local name=$1

	shift
	# What is there of one before must not be taken for its own; who looks at once finds nothing.
	rm -f "$bed_dir/$name".{out,err,code}
	touch "$bed_dir/$name".{out,err}
	"$@" >"$bed_dir/$name.out" 2>"$bed_dir/$name.err" </dev/null &
	echo $! >"$bed_dir/pids/$name"
}

bed_pid() {
	cat "$bed_dir/pids/$1"
}

# bed_ready NODE: it is ready, or has ended.
bed_ready() {
	grep -q 'ready on' "$bed_dir/$1.err" || bed_gone "$(bed_pid "$1")"
}

# bed_agents NODE...: start agents of the pathmap $bed_dir/maps and wait for them.
bed_agents() {
	local node

	for node; do
		bed_start "$node" evspace agent --pathmap "$bed_dir/maps" --node "$node"
	done
	for node; do
		bed_until bed_ready "$node" && grep -q 'ready on' "$bed_dir/$node.err" ||
			{ cat "$bed_dir/$node.err"; return 1; }
	done
}

bed_gone() {
	# A zombie that its parent has not reaped yet is gone for us.
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# bed_wait NAME: wait for the end of what this shell has started, and keep its exit code. It may compute.
bed_wait() {
	bed_limit=300 bed_until bed_gone "$(bed_pid "$1")" || return
	wait "$(bed_pid "$1")"
	echo $? >"$bed_dir/$1.code"
}

# bed_ended NAME CODE: bed_wait saw that exit code; else say what it printed.
bed_ended() {
	[ "$(cat "$bed_dir/$1.code" 2>/dev/null)" = "$2" ] && return
	echo "$1: exit code $(cat "$bed_dir/$1.code" 2>&1), not $2"
	tail -n 20 "$bed_dir/$1.err"
	return 1
}

# bed_kill SIGNAL NAME: signal what bed_start started, and wait for its end.
bed_kill() {
	local pid

	pid=$(bed_pid "$2") && kill "-$1" "$pid" && bed_until bed_gone "$pid"
}

# bed_end: everything that was started ends, and nothing is left.
bed_end() {
	local file

	for file in "$bed_dir"/pids/*; do
		[ -e "$file" ] && kill -TERM "$(cat "$file")" 2>/dev/null
	done
	for file in "$bed_dir"/pids/*; do
		[ -e "$file" ] && bed_until bed_gone "$(cat "$file")" ||
			kill -KILL "$(cat "$file")" 2>/dev/null
	done
	[ -n "${EVSPACE_DIR-}" ] && rm -rf "$EVSPACE_DIR"
}

tap_cleanup() {
	bed_end
}

# bed_lost NAME: how many tuples the consumer says that it lost.
bed_lost() {
	sed -n 's/.*delivered.* \([0-9,]*\) lost.*/\1/p' "$bed_dir/$1.err" | tr -d ,
}

# bed_accounted NAME RUN CLASS: what the consumer NAME got and lost is what was written, nothing came twice.
bed_accounted() {
	bed_ended "$1" 0 && "$top_builddir/tests/account" "$EVSPACE_DIR/$2" "$3=$(bed_lost "$1")" \
		<"$bed_dir/$1.out" && ! grep -i unaccounted "$bed_dir/$1.err"
}
