#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the paper on entropy of parallel execution (Gomez, Cai, Schubert) has found, found here again?

usage='usage: tests/bench/phases.sh [--json] [--quick] [--case simplex|cores|philosophers|prefix|scan|tunnel|live]
Runs the applications of the paper, keeps them in archives, and compares what `evspace phase` says of them with the
paper: a line for each relation or share, with what the paper has (nothing where it prints no number), what comes here, and whether it holds.
simplex: Table 3 and Figures 6 to 10, 17 and 32 processes, five runs of each variant. cores: the same, simulated, with a processor
for each process, in several series of each of three amounts of noise. philosophers: Tables 4 and 5, Figure 11, two runs of each.
prefix: Figures 12 and 13. scan: is philosopher 5, kept from two forks, found among subsets of 3, in ten runs, and nobody in ten others?
tunnel: the wind tunnel as it is: does its exchange of borders show as a clump at its call site, and one slow rank in the second component?
The tunnel has ten runs with another slow rank each time, and ten without one. live: where 1,000 simulated ranks on eight nodes of two clusters are,
ten times a second. --quick: less runs.'
quick= case= map=()
. "${0%/*}/bench.sh"
bench_options "quick case" "$@"
[[ " simplex cores philosophers prefix scan tunnel live " = *" ${case:-scan} "* ]] || { echo "$0: there is no case $case; see --help" >&2 && exit 2; }
runs=${quick:+2} tries=${quick:+2}
runs=${runs:-5} tries=${tries:-10}
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

tap_cleanup() {
	bed_end
	rm -rf "$EVSPACE_DIR"
}

# keep NAME RANKS PROGRAM [ARG...]: run it, with the options of evspace run in ${map[@]}, and have an archive of it in $tap_dir/NAME.
keep() {
	evspace run --no-summary "${map[@]}" --run "$1" -- mpirun -np "$2" "$top_builddir/tests/apps/$3" "${@:4}" >"$tap_dir/log" 2>&1 &&
		evspace archive --run "$1" "$tap_dir/$1" >"$tap_dir/log" 2>&1 && evspace purge "$1" >"$tap_dir/log" 2>&1 || { cat "$tap_dir/log" >&2; failed "$*"; }
}

# phase NAME OPTION...: what is said of the archives NAME1, NAME2, … together, in $tap_dir/NAME.said.
phase() {
	local from=() archive

	for archive in "$tap_dir/$1"[0-9]; do
		from+=(--from "$archive")
	done
	evspace phase "${from[@]}" --json "${@:2}" >"$tap_dir/$1.said" || failed "evspace phase"
}

# entropy NAME OF NORMALISE; component NAME N; states NAME: a number of that.
entropy() {
	sed -n "s/.*\"of\":\"$2\",\"normalise\":\"$3\".*\"value\":\([-0-9.e+]*\)}/\1/p" "$tap_dir/$1.said"
}
component() {
	sed -n "s/.*\"component\",\"n\":$2,\"explained\":\([0-9.]*\).*/\1/p" "$tap_dir/$1.said"
}
states() {
	sed -n 's/.*"figure":"states","count":\([0-9]*\).*/\1/p' "$tap_dir/$1.said"
}

# compute EXPRESSION: of awk, with four digits.
compute() {
	awk "BEGIN { printf \"%.4g\", $1 }"
}

# row TABLE ROW PAPER OURS CONDITION: PAPER and CONDITION may be empty; the latter is one of awk.
row() {
	local holds=null

	[ -z "$5" ] || holds=$(awk "BEGIN { print ($5) ? \"true\" : \"false\" }")
	if [ -n "$json" ]; then
		printf '{"schema":1,"bench":"phase","table":"%s","row":"%s","paper":%s,"ours":"%s","holds":%s}\n' "$1" "$2" "${3:+\"}${3:-null}${3:+\"}" "$4" "$holds"
	else
		printf '%-10s %-62s paper: %-34s ours: %-34s %s\n' "$1" "$2" "${3:-no number}" "$4" "$(case $holds in true) echo holds ;; false) echo 'does not hold' ;; esac)"
	fi
}

# less TABLE ROW PAPER A B: is A less than B?
less() {
	row "$1" "$2" "$3" "$(compute "$4") and $(compute "$5")" "$4 < $5"
}

# orders RANKS: what the paper has, on both machines of each size.
orders() {
	[ "$1" = 17 ] && echo mpi:async:5.37,7.55,8.94,17.53 async:none:7.55,20.04,17.53,45.40 none:guided:20.04,84.05,45.40,57.20 ||
		echo none:mpi:6833.61,9611.89,9380.21,21912.77 mpi:async:9611.89,548227.36,21912.77,391717.29 async:guided:548227.36,869427.34,391717.29,1579656.30
}

simplex() {
	local ranks variant run how sign a b paper

	for ranks in 17 32; do
		for variant in mpi async none guided; do
			for ((run = 1; run <= runs; run++)); do
				keep "$variant$ranks-$run" "$ranks" amoeba "$variant"
			done
			phase "$variant$ranks-"
		done
		for paper in $(orders "$ranks"); do
			IFS=:, read -r a b paper <<<"$paper"
			for how in "execution volume" "execution none" "time none"; do
				sign=$([ "$how" = "execution none" ] && echo -)
				less "Table 3" "$ranks processes: $a less than $b ($how${sign:+, without sign})" "$paper" "$sign $(entropy "$a$ranks-" $how)" "$sign $(entropy "$b$ranks-" $how)"
			done
		done
	done
	for variant in "6 mpi 1+2" "7 async 1+2" "8 mpi 1" "9 async 1" "10 guided 1"; do
		read -r how variant sign <<<"$variant"
		a=$(component "${variant}32-" 1) paper= b=
		[ "$sign" = 1 ] || a=$(compute "$a + $(component "${variant}32-" 2)")
		case $how in 8 | 9) paper=0.4 ;; 10) paper=0.2 ;; esac
		[ -z "$paper" ] || b="$a > $paper - 0.1 && $a < $paper + 0.1"
		row "Figure $how" "$variant, 32 processes: share of components $sign" "$paper" "$(compute "$a")" "$b"
	done
	less "Figure 10" "component 1: guided less than mpi" 0.2,0.4 "$(component guided32- 1)" "$(component mpi32- 1)"
}

# held RANKS A B SIGN HOW: in how many of the series of all noises A is less than B.
held() {
	local name

	for name in $(cd "$tap_dir" && ls | sed -n "s/^$2\($1-.*\)\.said/\1/p"); do
		compute "$4 $(entropy "$2$name" $5) < $4 $(entropy "$3$name" $5)"
		echo
	done | grep -c "^1$"
}

cores() {
	local ranks variant noise run how sign a b paper n figure less

	n=$((3 * (runs > 3 ? 3 : runs)))
	for ranks in 17 32; do
		for noise in 0.02 0.1 0.3; do
			for ((run = 1; run <= n / 3; run++)); do
				for variant in mpi async none guided; do
					"$top_builddir/tests/bench/cores" $variant $ranks $((1000 * run)) $noise >"$tap_dir/blocks" || failed "cores"
					evspace phase --file "$tap_dir/blocks" --start 1 --json >"$tap_dir/$variant$ranks-$noise-$run.said" || failed "evspace phase"
				done
			done
		done
		for paper in $(orders "$ranks"); do
			IFS=:, read -r a b paper <<<"$paper"
			for how in "execution volume" "execution none" "time none"; do
				sign=$([ "$how" = "execution none" ] && echo -)
				less=$(held $ranks "$a" "$b" "$sign" "$how")
				row "Table 3" "$ranks processors, simulated: $a less than $b ($how${sign:+, without sign})" "$paper" "$less of $n series" "$less == $n"
			done
		done
	done
	for figure in "8 mpi 0.4" "9 async 0.4" "10 guided 0.2"; do
		read -r figure variant paper <<<"$figure"
		read -r a b < <(for run in "$tap_dir/$variant"32-*.said; do component "$(basename "$run" .said)" 1; done | sort -g | sed -n '1p;$p' | tr '\n' ' ')
		row "Figure $figure" "32 processors, simulated: $variant, share of component 1" "$paper" "$(compute "$a") to $(compute "$b")" "$a > $paper - 0.1 && $b < $paper + 0.1"
	done
}

# of_two NAME: the share of the first two components.
of_two() {
	compute "$(component "$1" 1) + $(component "$1" 2)"
}

philosophers() {
	local run how sign a five seven

	for run in 1 2; do
		keep "symmetric$run" 9 philosophers --seed "$run"
		keep "kept$run" 9 philosophers --seed "$run" --keep 5
	done
	for how in symmetric kept; do
		phase $how --subset 6-8
		cp "$tap_dir/$how.said" "$tap_dir/$how.sub7.said"
		phase $how --subset 4-6
	done
	for how in "execution volume" "execution none" "time none"; do
		less "Table 4" "live-lock less than symmetric, per state ($how)" -170,-76,-184,-87 "$(entropy kept $how) / $([ "$how" = "time none" ] && echo 1 || states kept)" \
			"$(entropy symmetric $how) / $([ "$how" = "time none" ] && echo 1 || states symmetric)"
	done
	for how in volume none; do
		sign=$([ $how = none ] && echo -)
		for a in symmetric kept; do
			five="($(entropy $a subset $how) / $(states $a))" seven="($(entropy $a.sub7 subset $how) / $(states $a))"
			[ $a = symmetric ] || less "Table 5" "live-lock: 4-6, with philosopher 5, less than 6-8 ($how${sign:+, without sign})" 3.07,5.37,2.94,5.91 "$sign $five" "$sign $seven"
			[ $a = kept ] || row "Table 5" "symmetric: 4-6 and 6-8 differ by less than a tenth ($how)" -6.34,-6.20,-6.74,-6.82 "$(compute "$five") and $(compute "$seven")" "($five / $seven - 1) ^ 2 < 0.01"
		done
	done
	row "Figure 11" "symmetric: share of components 1+2" 0.7 "$(of_two symmetric)" "$(of_two symmetric) > 0.6 && $(of_two symmetric) < 0.8"
	row "Figure 11" "live-lock: share of components 1+2" 0.45 "$(of_two kept)" "$(of_two kept) > 0.35 && $(of_two kept) < 0.55"
	less "Figure 11" "components 1+2: live-lock less than symmetric" 0.45,0.7 "$(of_two kept)" "$(of_two symmetric)"
}

prefix() {
	keep prefix1 16 prefix
	phase prefix
	row "Figure 12" "16 processes: share of component 1" "" "$(component prefix 1)" ""
	row "Figure 13" "16 processes: share of components 1+2" "" "$(of_two prefix)" ""
}

# scanned NAME: which processes are unlike the others.
scanned() {
	phase "$1" --scan 3
	sed -n 's/.*"figure":"unlike","process":\([0-9]*\),.*/\1/p' "$tap_dir/$1.said" | tr '\n' ' '
}

scan() {
	local run found=0 others=0 falsely=0 said

	for ((run = 1; run <= tries; run++)); do
		keep "alike$run-1" 9 philosophers --seed $((100 + run))
		keep "unlike$run-1" 9 philosophers --seed $((200 + run)) --keep 5
		said=$(scanned "unlike$run-")
		[[ " $said" != *" 5 "* ]] || found=$((found + 1))
		[[ " $said" = " 5 " || -z $said ]] || others=$((others + 1))
		[ -z "$(scanned "alike$run-")" ] || falsely=$((falsely + 1))
	done
	row scan "philosopher 5, kept from two forks, found by subsets of 3" "" "$found of $tries runs" "$found >= 0.9 * $tries"
	row scan "others named in these runs" "" "$others of $tries runs" "$others == 0"
	row scan "anybody named in symmetric runs" "" "$falsely of $tries runs" "$falsely == 0"
}

# elsewhere NAME: who is in a block for another share of the time than the others.
elsewhere() {
	sed -n 's/.*"figure":"elsewhere","process":\([0-9]*\),.*/\1/p' "$tap_dir/$1.said" | tr '\n' ' '
}

tunnel() {
	local map=(--pathmap "$tap_dir/here") run found=0 named=0 alone=0 others=0 falsely=0 clumps=0 second=0 any=0 site said

	site=$(grep -n 'MPI_Waitall(n, requests' "$top_srcdir/tests/apps/windtunnel.c" | cut -d : -f 1)
	for ((run = 1; run <= tries; run++)); do
		keep "tunnel$run-1" 8 windtunnel --steps 40 --late "$((run % 8)):20000"
		phase "tunnel$run-"
		grep -q "\"figure\":\"clump\".*in windtunnel.c:$site\"" "$tap_dir/tunnel$run-.said" && clumps=$((clumps + 1))
		grep -q "\"component\",\"n\":2,.*\"process\":$((run % 8)),.*\"alone\":true" "$tap_dir/tunnel$run-.said" && alone=$((alone + 1))
		grep -q "\"figure\":\"alike\",\"n\":2,.*\"process\":$((run % 8)),.*\"alone\":true" "$tap_dir/tunnel$run-.said" && second=$((second + 1))
		said=$(elsewhere "tunnel$run-")
		[[ " $said" != *" $((run % 8)) "* ]] || named=$((named + 1))
		[[ " $said" = " $((run % 8)) " || -z $said ]] || others=$((others + 1))
		keep "even$run-1" 8 windtunnel --steps 40
		phase "even$run-"
		grep -q '"figure":"alike","n":2,.*"alone":true' "$tap_dir/even$run-.said" && any=$((any + 1))
		[ -z "$(elsewhere "even$run-")" ] || falsely=$((falsely + 1))
		grep -q "\"component\",\"n\":2,.*\"process\":$((run % 8))," "$tap_dir/tunnel$run-.said" && found=$((found + 1))
	done
	row tunnel "the exchange of borders is a clump in windtunnel.c:$site" "" "$clumps of $tries runs" "$clumps == $tries"
	row tunnel "the slow rank has the second component of the time in the same block" "" "$second of $tries runs" "$second >= 0.9 * $tries"
	row tunnel "anybody has it in runs without a slow rank" "" "$any of $tries runs" "$any == 0"
	row tunnel "the slow rank has the largest part of the second component of the states" "" "$found of $tries runs" "$found >= 0.9 * $tries"
	row tunnel "and is named by it, having twice that of the next one" "" "$alone of $tries runs" "$alone >= 0.9 * $tries"
	row tunnel "the slow rank is named by its time in blocks" "" "$named of $tries runs" "$named >= 0.9 * $tries"
	row tunnel "others named so in these runs" "" "$others of $tries runs" "$others == 0"
	row tunnel "anybody named so in runs without a slow rank" "" "$falsely of $tries runs" "$falsely == 0"
}

# In ten seconds there are a hundred looks, each of which has all ranks; the blocks of the last one are known.
live() {
	local seconds=$([ -n "$quick" ] && echo 4 || echo 10) looks all bits ours node at=$tap_dir/crowd

	mkdir -p "$at/maps" && echo 'application crowd { ranks rank[0-999]; }' >"$at/maps/application.map"
	printf '%s\n' "cluster A { nodes a[0-3]; address unix:$at/a[0-3]; }" "cluster B { nodes b[0-3]; address unix:$at/b[0-3]; }" \
		"node front { address unix:$at/front; }" >"$at/maps/cluster.map"
	printf '%s\n' 'entry front;' 'place rank[0-499] on a[0-3] by 125;' 'place rank[500-999] on b[0-3] by 125;' >"$at/maps/mapping.map"
	for node in front a{0..3} b{0..3}; do
		bed_start "$node" evspace agent --pathmap "$at/maps" --node "$node"
	done
	for node in front a{0..3} b{0..3}; do
		bed_until bed_ready "$node" && grep -q 'ready on' "$bed_dir/$node.err" || failed "agent $node"
	done
	bed_start writer "$top_builddir/tests/writer" "$EVSPACE_DIR/crowd" 1000 50 "$((seconds + 5))" 13
	bed_until crowd_is_there || failed "the crowd"
	evspace phase live --now said --connect "unix:$at/front" --run crowd --rate 10 --duration "$seconds" --json >"$at/said" 2>"$at/err" || { cat "$at/err" >&2; failed "phase live --now"; }
	looks=$(grep -c '"of":"now","normalise":"none"' "$at/said") all=$(grep -c '"of":"now","normalise":"none".*"processes":1000,' "$at/said")
	bed_wait writer
	evspace phase live --now said --connect "unix:$at/front" --run crowd --count 1 --json >"$at/last" 2>"$at/err" || failed "phase live --now at the end"
	bits=$(awk -v n="$(((seconds + 5) * 50))" 'BEGIN { for (r = 0; r < 1000; r++) c[n * (r + 1) % 13]++; for (b in c) s += c[b] * log(c[b]); printf "%.9f", (log(1000) - s / 1000) / log(2) }')
	ours=$(sed -n 's/.*"of":"now","normalise":"none","bits":true,"value":\([0-9.]*\),.*/\1/p' "$at/last")
	for node in front a{0..3} b{0..3}; do
		bed_kill TERM "$node"
	done
	row live "1,000 simulated ranks, 50 blocks a second each: looks a second" "" "$(compute "$looks / $seconds")" "$looks >= 9.5 * $seconds"
	row live "looks that have all of them" "" "$all of $looks" "$all == $looks"
	row live "entropy of where they are at last, exact from the tree" "" "$ours and $bits" "($ours - $bits) ^ 2 < 1e-12"
}

crowd_is_there() {
	evspace phase live --now said --connect "unix:$tap_dir/crowd/front" --run crowd --count 1 --json 2>"$tap_dir/log" | grep -q '"processes":1000,'
}

make -s -C "$top_builddir" tests/apps/amoeba tests/apps/philosophers tests/apps/prefix tests/bench/cores tests/writer >&2 || failed "building the programs"
mkdir "$tap_dir/here"
echo 'application any { ranks any; collect wait collective { element site; } }' >"$tap_dir/here/application.map"
echo 'cluster c { nodes here; }' >"$tap_dir/here/cluster.map"
printf '%s\n' 'entry here;' 'place all on here;' >"$tap_dir/here/mapping.map"
bed_begin
unset EVSPACE_ENTRY EVSPACE_TLS
bed_start agent evspace agent
bed_until bed_ready agent && grep -q "ready on" "$bed_dir/agent.err" || failed "the agent"
for one in ${case:-simplex cores philosophers prefix scan tunnel live}; do
	"$one"
done
