# SPDX-License-Identifier: BSD-3-Clause
# Connections between agents that break over and over: nothing is lost or comes twice, and nothing
# grows, neither at the parent nor at the children. RECONNECTIONS=N says how often (1000; `make soak`:
# 10000).

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/hosts-bed.sh"

cuts=${RECONNECTIONS:-1000}
hosts_loopback=1
hosts_nodes=(front a0 a1 b0 b1)

# The children's addresses are those of the cutter, who passes on what comes to where they listen.
maps_make() {
	sed -i 's/:7440/:7441/g; /node [mg]/d' "$bed_dir/maps/cluster.map"
	printf 'entry front;\nplace rank[0-3] on a[0-1] b[0-1];\ntree flat;\n' >"$bed_dir/maps/mapping.map"
	bed_entry=${bed_entry/7440/7441}
}

cutter_start() {
	local i doors=()

	for i in 5 6 7 8; do
		doors+=("127.78.$hosts_net.$i:7441=127.78.$hosts_net.$i:7440")
	done
	# A handshake, and a few answers.
	bed_start cutter "$top_builddir/tests/cutter" "$cuts" 4000 "${doors[@]}"
	bed_until grep -q ready "$bed_dir/cutter.out"
}

agents_start() {
	local i=5 node

	hosts_agent front
	for node in a0 a1 b0 b1; do
		bed_start "$node" evspace agent --pathmap "$bed_dir/maps" --node "$node" \
			--listen "127.78.$hosts_net.$i:7440"
		i=$((i + 1))
	done
	for node in "${hosts_nodes[@]}"; do
		bed_until hosts_ready "$node" || { cat "$bed_dir/$node.err"; return 1; }
	done
}

# cut_times N: so many connections have been cut. Longer than bed_until waits.
cut_times() {
	local tries

	for ((tries = 0; tries < 100; tries++)); do
		bed_until at_least "$1" >/dev/null && return
		[ "$tries" -lt $((cuts / 500)) ] || break
	done
	echo "cut $(tail -n 1 "$bed_dir/cutter.out") of $1 times"
	return 1
}

at_least() {
	[ "$(tail -n 1 "$bed_dir/cutter.out" | tr -cd 0-9)" -ge "$1" ]
}

# Descriptors, kilobytes and lines of an agent.
sizes() {
	echo "$(ls "/proc/$(bed_pid "$1")/fd" | wc -l)" \
		"$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(bed_pid "$1")/status")" \
		"$(wc -l <"$bed_dir/$1.err")"
}

# What sizes() said before is in $tap_dir/NODE; connections that were cut last may still linger.
descriptors_back() {
	local before now

	read -r before _ <"$tap_dir/$1"
	read -r now _ < <(sizes "$1")
	[ "$now" -le $((before + 4)) ]
}

# A sanitizer keeps what was freed; what was not, it says itself when the agent ends.
has_not_grown() {
	local fds kb lines fds_now kb_now lines_now

	bed_until descriptors_back "$1"
	read -r fds kb lines <"$tap_dir/$1"
	read -r fds_now kb_now lines_now < <(sizes "$1")
	echo "descriptors $fds to $fds_now, $kb to $kb_now KiB, lines $lines to $lines_now"
	[ "$fds_now" -le $((fds + 4)) ] && [ "$lines_now" -le $((lines + 4 * (10 + SECONDS / 60))) ] &&
		{ tap_sanitized || [ "$kb_now" -le $((kb + 1024)) ]; }
}

hosts_begin
maps_make
tap_case "agents start behind somebody who cuts connections" agents_start
cutter_start
# For longer than all of this may take.
hosts_write 200 $((1200 + cuts))
hosts_checker total total -r 200
tap_case "after a tenth of $cuts reconnections" cut_times $((cuts / 10))
for node in "${hosts_nodes[@]}"; do
	sizes "$node" >"$tap_dir/$node"
done
tap_case "... they go on" cut_times "$cuts"
for node in "${hosts_nodes[@]}"; do
	tap_case "$node has not grown" has_not_grown "$node"
	echo "# $node: descriptors, KiB, lines: $(cat "$tap_dir/$node"), then $(sizes "$node")"
done
kill -TERM "$(bed_pid writer)"
bed_wait writer
kill -TERM "$(bed_pid total)"
bed_wait total
is_exact() {
	cat "$bed_dir/$1.out" && bed_ended "$1" 0
}
tap_case "all that was said is exact, and in the end all has come" is_exact total
sed -n 's/^[0-9]* waves/# &/p' "$bed_dir/total.out"
tap_case "agents end when they are told to" hosts_clean
tap_done
