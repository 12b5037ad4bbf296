#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Equal information at less cost: which planted late ranks of the wind tunnel are named under a budget, and by full tracing.

usage='usage: tests/bench/late.sh [--json] [--quick] [--rounds N] [--seconds S] [--late RANK:US,...]
The wind tunnel (small, 4 ranks) computes longer in some ranks, by so many microseconds a step. Two ways of
looking take turns with none, in random order: "full" traces all and reads all of it 25 times a second;
"budget" counts all but collectives, and reads these once a second from idle cores alone (--urgency idle). Of
each: steps a second beside those without, in pairs, and the ranks that come to collectives later than the
mean, by 95 % intervals (a t-test of their mean lateness in each round), which should be the planted ones; which
of those are missed, and who else is named.
Ranks need rows of their neighbours for each step, and meet after five. So one that is A us late in each step
has all others wait for it but for the last steps; the default, ranks 1 and 2 by 3000 us, as long as a step takes,
has both come 1500 us after the mean of the four, and the two others 1500 us before it. (Of two that are
late by A and by less, B, the second one comes B / 2 after the mean: if that is little, it is named by chance.)
--quick: 6 rounds of 2 s, in about two minutes, the fewest of which the least and the most are a 95 % interval.'
rounds= seconds= late=1:3000,2:3000
. "${0%/*}/bench.sh"
bench_options "quick rounds seconds late" "$@"
rounds=${rounds:-${quick:+6}} seconds=${seconds:-${quick:+2}}
rounds=${rounds:-10} seconds=${seconds:-5}
[ "$rounds" -ge 6 ] || { echo "$0: of fewer than 6 rounds nothing can be told" >&2; exit 2; }
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

tap_cleanup() {
	bed_end
	rm -rf "$EVSPACE_DIR"
}

modes() {
	evspace collect --run tunnel --class all "$1" >/dev/null && evspace collect --run tunnel --class collective@world "$2" >/dev/null
}

# Steps a second, a line for each whole second so far.
rates() {
	sed -n 's/^windtunnel: step .*, \([0-9.]*\) steps.*/\1/p' "$bed_dir/tunnel.err"
}

has_rates() {
	[ "$(rates | wc -l)" -ge "$1" ]
}

# The mean of so many seconds; not of the one that has begun, nor of the next.
pace() {
	local from

	from=$(rates | wc -l)
	bed_until has_rates $((from + 2 + seconds)) &&
		rates | tail -n "+$((from + 3))" | head -n "$seconds" | awk '{ s += $1 } END { print s / NR }'
}

# look ARM: what it costs, and what it has seen, which is appended.
look() {
	case $1 in
	none)
		modes count count && pace
		return
		;;
	full)
		modes trace trace
		bed_start look evspace events --run tunnel --json --rate 25
		;;
	budget)
		modes count trace
		bed_start look evspace events --run tunnel --json --select '/**/collective' --rate 1 --urgency idle
		;;
	esac
	pace
	bed_kill INT look
	grep '"op":"MPI_Allreduce"' "$bed_dir/look.out" | sed "s/^/$i /" >>"$bed_dir/$1.seen"
}

# A round: the arms in random order, each beside a stretch of none.
round() {
	local arm

	for arm in $(shuf -e full budget); do
		if [ $((RANDOM % 2)) = 0 ]; then
			echo "$arm $(look none) $(look "$arm")"
		else
			look "$arm" >"$bed_dir/with"
			echo "$arm $(look none) $(cat "$bed_dir/with")"
		fi
	done
}

# cost ARM: median of the paired slowdowns with a distribution-free 95 % interval.
cost() {
	awk -v arm="$1" '$1 == arm && $3 > 0 { print $2 / $3 }' "$bed_dir/pairs" | sort -g | awk '
		{ v[NR] = $1 }
		END {
			k = int((NR - 1.96 * sqrt(NR)) / 2); k = k < 1 ? 1 : k
			printf "%.4f %.4f %.4f", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[k], v[NR + 1 - k]
		}'
}

# lateness ARM: "rank us low high collectives" of each, of those that all ranks were seen in. Of one round they depend on each
# other: its mean is one value. Student's quantile by its expansion (Abramowitz, Stegun: 26.7.5).
lateness() {
	sed -n 's/^\([0-9]*\) .*"rank":\([0-9]*\),.*"start_ns":\([0-9]*\),.*"seq_or_tag":\([0-9]*\),.*/\3 \2 \4 \1/p' "$bed_dir/$1.seen" | awk '
		# the last 14 digits, as awk computes in doubles
		{ t[$3, $2] = substr($1, 6); n[$3]++; round[$3] = $4 }
		END {
			for (c in n) {
				if (n[c] != 4) continue
				mean = (t[c, 0] + t[c, 1] + t[c, 2] + t[c, 3]) / 4
				for (r = 0; r < 4; r++) sum[round[c], r] += (t[c, r] - mean) / 1000
				met[round[c]]++; m++
			}
			for (i in met) rounds++
			df = rounds - 1
			for (r = 0; r < 4 && df > 0; r++) {
				mean = square = 0
				for (i in met) mean += sum[i, r] / met[i] / rounds
				for (i in met) square += (sum[i, r] / met[i] - mean) ^ 2
				half = (1.96 + 2.372 / df + 2.822 / df ^ 2 + 2.556 / df ^ 3) * sqrt(square / df / rounds)
				printf "%d %.0f %.0f %.0f %d\n", r, mean, mean - half, mean + half, m
			}
		}'
}

report() {
	local arm=$1 named missed others seen

	lateness "$arm" >"$bed_dir/$arm.late"
	named=$(awk '$3 > 0 { printf "%s%d", n++ ? "," : "", $1 }' "$bed_dir/$arm.late")
	missed=$(awk -v late="$late" '$3 > 0 { named[$1] = 1 } END {
		n = split(late, l, ",")
		for (i = 1; i <= n; i++) { split(l[i], of, ":"); if (!(of[1] in named)) printf "%s%d", m++ ? "," : "", of[1] }
	}' "$bed_dir/$arm.late")
	others=$(awk -v late=",$late" '$3 > 0 && index(late, "," $1 ":") == 0 { printf "%s%d", n++ ? "," : "", $1 }' "$bed_dir/$arm.late")
	seen=$(awk '{ print $5; exit }' "$bed_dir/$arm.late")
	set -- $(cost "$arm")
	if [ "$json" ]; then
		printf '{"schema":1,"bench":"late","case":"%s","planted":"%s","named":"%s","missed":"%s","falsely":"%s","collectives":%d,"slowdown":%s,"low":%s,"high":%s,"pairs":%d}\n' \
			"$arm" "$late" "$named" "$missed" "$others" "${seen:-0}" "$@" "$rounds"
	else
		printf '%-7s names %s, of the planted ones %s is not named, falsely %s, of %d collectives; slowdown %s (%s to %s)\n' \
			"$arm" "${named:-none}" "${missed:-none}" "${others:-none}" "${seen:-0}" "$@"
		sed 's/^\([0-9]*\) \(\S*\) \(\S*\) \(\S*\) .*/        rank \1: \2 us later than the mean (\3 to \4)/' "$bed_dir/$arm.late"
	fi
}

mkdir -p "$bed_dir/pids"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 1
export EVSPACE_DIR
bed_start agent evspace agent
bed_until bed_ready agent
bed_start tunnel evspace run --run tunnel --capacity 20000 -- mpirun -np 4 "$top_builddir/tests/apps/windtunnel" \
	--size small --check 5 --report --seconds 100000 --late "$late"
bed_until has_rates 1 || { cat "$bed_dir/tunnel.err" >&2; exit 1; }
for ((i = 0; i < rounds; i++)); do
	round >>"$bed_dir/pairs"
done
[ "$json" ] || echo "planted: $late"
report full
report budget
