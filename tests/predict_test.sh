# SPDX-License-Identifier: BSD-3-Clause
# Tests predictions: five mappings of one view are in the order of observe rates that the cost model
# says. Eight agents and an entry on this machine, with wires of 20 ms between them (tests/delay), so
# that it is the mappings that differ, whatever else runs here.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

views=(flat clusters fanout chain sequential)
leaves=(a0 a1 a2 a3 b0 b1 b2 b3)
net=$((1 + $$ % 250))
wire_us=20000

# maps NAME FIRST: pathmap with the leaves on 127.FIRST.net.*.
maps() {
	local view

	mkdir -p "$bed_dir/$1"
	{
		echo "application writer { ranks rank[0-7]; collect p2p;"
		for view in "${views[@]}"; do
			echo "	view $view { select /**/p2p; read latest; }"
		done
		echo "}"
	} >"$bed_dir/$1/application.map"
	cat >"$bed_dir/$1/cluster.map" <<-END
		cluster A { nodes a[0-3]; address 127.$2.$net.[1-4]:7440; link latency ${wire_us}us; }
		cluster B { nodes b[0-3]; address 127.$2.$net.[5-8]:7440; link latency ${wire_us}us; }
		node front { address 127.79.$net.9:7440; }
		link front A latency ${wire_us}us;
		link front B latency ${wire_us}us;
	END
	cat >"$bed_dir/$1/mapping.map" <<-END
		entry front;
		place rank[0-7] on a[0-3] b[0-3];
		view flat { tree flat; }
		view clusters { tree by-cluster; }
		view fanout { tree fanout 2; }
		view chain { tree by-hand { a0 { a1 { a2 { a3; } } } b0 { b1 { b2 { b3; } } } } }
		view sequential { tree flat; concurrency sequential; }
	END
}

# Agents listen at one end of the wires; the entry's map has the other.
begin() {
	local i wires=()

	mkdir -p "$bed_dir/pids"
	EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
	export EVSPACE_DIR EVSPACE_TLS=$bed_dir/tls EVSPACE_ENTRY=front XDG_CONFIG_HOME=$bed_dir
	bed_entry=127.79.$net.9:7440
	maps far 78
	maps near 79
	{ "$top_srcdir/deploy/certs" init "$EVSPACE_TLS" &&
		"$top_srcdir/deploy/certs" agent "$EVSPACE_TLS" front "${leaves[@]}" &&
		"$top_srcdir/deploy/certs" observe "$EVSPACE_TLS" observe; } \
		>"$bed_dir/certs.log" 2>&1 || { sed 's/^/# /' "$bed_dir/certs.log"; exit 99; }
	for i in 1 2 3 4 5 6 7 8; do
		wires+=("127.78.$net.$i" "127.79.$net.$i")
	done
	bed_start delay "$top_builddir/tests/delay" "$wire_us" 7440 "${wires[@]}"
	bed_start writer "$top_builddir/tests/writer" "$EVSPACE_DIR/run" 8 10 10000
}

written() {
	[ "$(find "$EVSPACE_DIR/run" -name '*.seg' | wc -l)" = 8 ]
}

agents_start() {
	bed_until bed_ready delay && bed_until written || return
	ln -sfn near "$bed_dir/maps" && bed_agents "${leaves[@]}" &&
		ln -sfn far "$bed_dir/maps" && bed_agents front
}

# "view rate" lines of what is predicted now.
predictions() {
	local view

	for view in "${views[@]}"; do
		evspace map show --json --view "$view" "$bed_dir/far" |
			sed -n "s/.*\"predicted\":{\"waves_per_s\":\([0-9.]*\).*/$view \1/p"
	done
}

# Predictions of a usual machine, then of this one.
predict() {
	predictions >"$bed_dir/usual"
	evspace doctor >"$bed_dir/doctor" 2>&1
	grep -q '^ok    cost ' "$bed_dir/doctor" || { cat "$bed_dir/doctor"; return 1; }
	predictions >"$bed_dir/predicted"
	[ "$(wc -l <"$bed_dir/usual")" = 5 ] && [ "$(wc -l <"$bed_dir/predicted")" = 5 ]
}

# When the entry agent has sent the answers of waves, one asked for after the other, of all hosts.
taken() {
	evspace view "$1" --connect "$bed_entry" --rate max --window 1 --count "$2" --deadline 20000 --json 2>"$bed_dir/view.err" |
		sed -n 's/.*"type":"wave".*"again":false,"taken_ns":\([0-9]*\),"hosts":8,"answered":8,.*/\1/p'
}

# The rate of the fastest wave: others use this machine, too, and what disturbs a wave makes it slower.
measure_one() {
	taken "$1" 7 | awk -v view="$1" '
		NR > 1 && (!least || $1 - before < least) { least = $1 - before }
		{ before = $1 }
		END { if (least) printf "%s %.3f\n", view, 1e9 / least; exit !least }'
}

# The better one of two rounds.
measure() {
	local view round

	for round in 1 2; do
		for view in "${views[@]}"; do
			measure_one "$view"
		done
	done >"$bed_dir/rounds"
	sed 's/^/# /' "$bed_dir/rounds"
	sort -k 2 -g -r "$bed_dir/rounds" | awk '!seen[$1]++' >"$bed_dir/measured"
	[ "$(wc -l <"$bed_dir/measured")" = 5 ] || { cat "$bed_dir/view.err"; return 1; }
}

by_rate() {
	sort -k 2 -g -r "$1" | cut -d ' ' -f 1
}

same_order() {
	join <(sort "$bed_dir/predicted") <(sort "$bed_dir/measured") |
		awk '{ printf "# %s: %.1f waves/s predicted, %.1f measured\n", $1, $2, $3 }'
	diff <(by_rate "$bed_dir/predicted") <(by_rate "$bed_dir/measured")
}

# How much slower it is depends on who else is here; faster than the wires it cannot be. What else a wave costs is
# little where machines are usual.
no_faster() {
	join <(sort "$bed_dir/usual") <(sort "$bed_dir/measured") |
		awk '$3 > $2 * 1.3 { print; far = 1 } END { exit far || NR != 5 }'
}

begin
tap_case "nine agents, at the ends of long wires" agents_start
tap_case "the rates of five mappings are predicted" predict
tap_case "and measured" measure
tap_case "predicted and measured rates are in the same order" same_order
tap_case "no mapping is faster than its wires are predicted to allow" no_faster
tap_done
