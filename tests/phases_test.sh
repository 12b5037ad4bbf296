# SPDX-License-Identifier: BSD-3-Clause
# evspace phase: figures of files of blocks, and what is wrong with such files.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
bed_start agent evspace agent
bed_until bed_ready agent
cd "$tap_dir" || exit 99

# random SEED RUNS ENTRIES: two runs of 6 processes and 5 blocks.
random() {
	awk -v seed="$1" -v runs="$2" -v n="$3" 'BEGIN {
		srand(seed)
		for (r = 0; r < runs; r++)
			for (i = 0; i < n; i++)
				print 10 * i + int(3 * rand()), int(5 * rand()), i < 6 ? i : int(6 * rand())
	}'
}

# has TEXT...: the answer has these lines.
has() {
	local text

	for text; do
		grep -q -F -e "$text" said || { echo "no $text in:" && cat said && return 1; }
	done
}

by_hand() {
	printf '%s\n' '# three processes' '5 1 0' '' '7 1 1' '7 2 2' >three
	tap_says 0 '"figure":"states","count":3' evspace phase --file three --subset 0-1 --json &&
		has '"figure":"entropy","of":"execution","normalise":"volume","bits":true,"value":0.8805' \
			'"figure":"entropy","of":"execution","normalise":"none","bits":true,"value":-9.5097' \
			'"figure":"entropy","of":"subset","normalise":"volume","bits":true,"value":1.18663' \
			'"figure":"entropy","of":"time","normalise":"none","bits":true,"value":0.612' &&
		[ "$(grep -c '"of":' said)" -eq 6 ]
}


# Two changes whose order is not known: the state between is one or the other of two, and what is known is as it was.
ranges_by_hand() {
	printf '%s\n' '10 1 0 2' '13 2 1 2' '30 1 2 2' >three
	tap_says 0 'of 1 entry it is not known' evspace phase --file three &&
		has ' 3 to 4' 'shares of the time are off by 0.2 at most' &&
		tap_says 0 '"figure":"range","of":"states","normalise":null,"least":3.0,"most":4.0' evspace phase --file three --json &&
		[ "$(grep -c '"figure":"range"' said)" -eq 8 ] || { grep range said; return 1; }
	sed 's/ 2$//' three >known && evspace phase --file known --json >wanted && ! grep range wanted && diff <(grep '"figure":"\(states\|entropy\|component\)"' said) <(grep '"figure":"\(states\|entropy\|component\)"' wanted) || return
	printf '%s\n' '0 1 0 0.5' '5 1 1' >first && tap_says 0 'states  *2 to 3$' evspace phase --file first || return
	tap_says 0 '"figure":"off","of":"scan","most":' evspace phase --file three --scan 2 --json &&
		tap_says 0 'mean entropies of subsets are off by 1.56 bits at most' evspace phase --file three --scan 2 &&
		tap_says 0 'in any span shares of the time are off by 0.8 at most' evspace phase --file three --watch --span 5 &&
		tap_says 0 '"off":{"share":0.8,' evspace phase --file three --watch --span 5 --json
}

same_as_numpy() {
	random 3 2 500 >blocks
	evspace phase --file blocks --points points --json >said || return
	/usr/bin/python3 - <<-'EOF'
		import json, numpy as np
		rows, state, now = [], np.zeros(6), 0.0
		for line in open('blocks'):
		    t, b, p = (int(w) for w in line.split())
		    if t < now:
		        rows.append(state.copy()); state[:] = 0; now = 0
		    if t > now:
		        rows.append(state.copy()); now = t
		    state[p] = b
		rows.append(state.copy())
		m = np.array(rows)
		values, vectors = np.linalg.eigh(np.cov(m.T))
		said = [json.loads(l) for l in open('said')]
		ours = [s['explained'] for s in said if s['figure'] == 'component']
		variances = [s['variance'] for s in said if s['figure'] == 'component']
		points = np.loadtxt('points')
		assert len(points) == len(m) == said[0]['count'], (len(points), len(m))
		for k in range(3):
		    assert abs(ours[k] - values[-1 - k] / values.sum()) < 1e-9, (ours, values)
		    assert abs(variances[k] - values[-1 - k]) < 1e-9, (variances, values)
		    # a vector is known as well as its value is away from the others
		    gap = min(abs(values[-1 - k] - v) for i, v in enumerate(values) if i != 5 - k)
		    score = (m - m.mean(0)) @ vectors[:, -1 - k]
		    score *= np.sign(score @ points[:, 4 + k])
		    assert abs(points[:, 4 + k] - score).max() < 1e-9 * max(1, 1 / gap)
		# what the first three are together, whatever their signs
		ours = points[:, 4:7] @ points[:, 4:7].T
		wanted = (m - m.mean(0)) @ vectors[:, -3:]
		assert abs(ours - wanted @ wanted.T).max() < 1e-9 * values[-1] * max(1, 1 / (values[-3] - values[-4]))
		assert abs(points[:, 3] - m.sum(1) * np.sqrt(3) / 2).max() < 1e-9
	EOF
}

# ... of very many processes, which are not found by LAPACK: some go together, and some of the components are alike.
numpy_of_many() {
	/usr/bin/python3 - <<-'EOF'
		import json, subprocess, numpy as np
		n, rng = 1100, np.random.default_rng(5)
		rows = rng.integers(0, 5, (40, n))
		rows[:, 100:400] = rows[:, 100:101]
		rows[:, 400:700] = rows[:, 400:401]
		with open('many', 'w') as f:
		    for t, row in enumerate(rows):
		        for p, b in enumerate(row):
		            f.write(f'{t + 1} {b} {p}\n')
		states = np.vstack([np.zeros((1, n)), rows])
		values = np.linalg.eigvalsh(np.cov(states.T))
		said = subprocess.run(['evspace', 'phase', '--file', 'many', '--json'], capture_output=True, check=True).stdout
		ours = [s['explained'] for s in map(json.loads, said.splitlines()) if s['figure'] == 'component']
		print(ours, values[-3:] / values.sum())
		assert len(ours) == 3 and all(abs(ours[k] - values[-1 - k] / values.sum()) < 1e-9 for k in range(3))
	EOF
}

# Dots of all states in the cube, in that of the subset, and of their components; nothing is drawn where it cannot be written.
pictures() {
	local states

	random 3 2 500 >blocks
	tap_says 0 '"figure":"states"' evspace phase --file blocks --subset 1-3 --plot drawn.svg --json || return
	states=$(grep -o '"count":[0-9]*' said | cut -d : -f 2)
	[ "$(grep -o 'linecap:round[^>]*' drawn.svg | grep -o 'M \([-0-9.]* [-0-9.]*\) L \1' | wc -l)" -eq $((3 * states)) ] || { echo "not $states states"; return 1; }
	evspace phase --file blocks --plot drawn.png >said && [ "$(head -c 4 drawn.png | tail -c 3)" = PNG ] && [ "$(wc -c <drawn.png)" -gt 20000 ] &&
		tap_says 2 "'drawn.gif' ends in none of .svg, .png and .html" evspace phase --file blocks --plot drawn.gif &&
		tap_says 2 'cannot write none/drawn.svg' evspace phase --file blocks --plot none/drawn.svg &&
		tap_says 2 'cannot write none/drawn.html' evspace phase --file blocks --plot none/drawn.html &&
		printf '1 0 0\n' >one && evspace phase --file one --plot drawn.svg >said && evspace phase --file one --plot drawn.html >said
}

# As many states as are shown at most, and more of which not all are.
pictures_are_small() {
	random 3 2 4000 >blocks && evspace phase --file blocks --subset 1-3 --plot drawn.svg >said 2>err && cat err &&
		grep -q '^drawn.svg: 8,00[0-9] states$' err && [ "$(wc -c <drawn.svg)" -lt 2000000 ] && random 3 2 5000 >blocks &&
		evspace phase --file blocks --subset 1-3 --plot drawn.svg >said 2>err && cat err && grep -q '^drawn.svg: one in 2 of 10,00[0-9] states$' err
}

# The page has what --points writes, the entropy of the time, and nothing from elsewhere.
page() {
	random 3 2 500 >blocks
	evspace phase --file blocks --subset 1-3 --points points --plot page.html --json >said || return
	! grep -i -e 'https\?:' -e 'src=' -e 'href=' -e 'url(' -e import page.html || return
	sed -n 's/^\[\([0-9].*\)\],$/\1/p' page.html | tr ',' ' ' >shown
	[ "$(grep -cv '^#' points)" -eq "$(wc -l <shown)" ] || { wc -l points shown && return 1; }
	grep -v '^#' points | paste -d ' ' - shown |
		awk -v wanted="$(sed -n 's/.*"of":"time","normalise":"none".*"value":\([0-9.]*\).*/\1/p' said)" '
			function off(a, b) { return a - b > 0.001 || b - a > 0.001 }
			{ for (k = 2; k <= 7; k++) if (off($k, $(k + 9))) { print "line " NR ", column " k ": " $0; bad = 1 } sum += $17 }
			END { if (off(sum / NR, wanted)) { print sum / NR " is not " wanted; bad = 1 } exit bad }'
}

thinned() {
	random 5 1 20000 >blocks
	evspace phase --file blocks --plot page.html --json >said && grep -q ', each: 3, runs: 1,' page.html && [ "$(grep -c '^\[[0-9]' page.html)" -eq 6667 ]
}

# A browser paints the page, whatever its execution is called; the cube turns, and comes back; states say what they are.
page_turns() {
	random 3 2 500 >'a<!--<script>.srt'
	evspace phase --file 'a<!--<script>.srt' --subset 1-3 --plot page.html >said || return
	cat >>page.html <<-'EOF'
		<script>
		const f = figures[0], seen = f.canvas.toDataURL(), box = f.canvas.getBoundingClientRect();
		const [x, y] = f.seen[7], move = more => f.canvas.dispatchEvent(new PointerEvent("pointermove", more));
		move({ clientX: box.left + x, clientY: box.top + y });
		const told = document.querySelector("#state").textContent;
		move({ buttons: 1, movementX: 100, movementY: 9 });
		const turned = f.canvas.toDataURL();
		f.canvas.dispatchEvent(new MouseEvent("dblclick"));
		const again = f.canvas.toDataURL();
		document.title = [figures.length, document.title, told, turned !== seen, again === seen].join("|");
		</script>
	EOF
	HOME=$tap_dir timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$tap_dir/browser" --virtual-time-budget=10000 \
		--dump-dom "file://$tap_dir/page.html" >dom 2>err || { tail err; return 1; }
	grep -a -q '<title>7|a&lt;!--&lt;script&gt;.srt: [0-9]* states of 6 processes, 2 runs|run 1, state [0-9]*, time [0-9]*, entropy [0-9.]* bits|true|true</title>' dom ||
		{ grep -a -m 1 -A 2 '<title>' dom; return 1; }
}

pipes() {
	random 3 2 500 >blocks
	evspace phase --file blocks --json >said.file && evspace phase --file - --json <blocks >said.pipe && cmp said.file said.pipe
}

# wrong TEXT LINE...: a file of these lines is refused so.
wrong() {
	local text=$1

	shift
	printf '%s\n' "$@" >wrong
	tap_says 2 "$text" evspace phase --file wrong "${more[@]}" && [ "$(wc -l <said)" -eq 1 ]
}

wrong_files() {
	local more=()

	wrong 'wrong:2: the time falls back before all 3 processes .*sort -n' '9 0 0' '5 0 1' '9 1 2' &&
		wrong 'wrong:1: it has no process; a line is: time block process' '5 1' &&
		wrong 'wrong:2: it has no time from 0 on' '1 1 1' 'x 1 1' &&
		wrong 'wrong:1: it has no time' '-1 1 1' &&
		wrong 'wrong:1: it has no block' '1 -1 1' &&
		wrong 'wrong:1: the process is more than 10239' '1 1 4294967297' &&
		wrong 'wrong:1: there is more in it' '1 1 1 1 1' && wrong 'wrong:1: the bound of its time is no number' '1 1 1 -1' &&
		wrong 'wrong:1: it has more than 254 bytes' "1 1 1 $(printf '%300s' '')" &&
		wrong 'wrong has no line' '# nothing' &&
		more=(--blocks 3) && wrong 'wrong:2: block 3 is out of range: there are 3 from 0 on' '1 1 0' '2 3 0' &&
		more=(--processes 2) && wrong 'wrong:1: process 2 is out of range: there are 2' '1 1 2' &&
		more=(--subset 1-3) && wrong '--subset: there are processes 0 to 1' '1 1 1' &&
		more=(--subset x) && wrong '--subset x: it is a list' '1 1 1' &&
		more=(--scan 3) && wrong 'of 2 processes none is unlike the others' '1 1 1' && wrong '--scan 3: of 3 processes, subsets have from 1 to 2' '1 1 1' '1 1 2' &&
		tap_says 2 'it needs --file' evspace phase && tap_says 2 'none: No such file' evspace phase --file none
}

one_of_each() {
	echo '3 0 0' >one
	tap_says 0 '"figure":"states","count":2,"entries":1,"processes":1,"blocks":1' evspace phase --file one --json &&
		has '"of":"execution","normalise":"volume","bits":true,"value":0.0' '"n":1,"explained":null'
}

late_ones_start_in_the_first_block() {
	printf '%s\n' '1 2 0' '2 3 0' '900 2 1' >late
	tap_says 0 '"count":4' evspace phase --file late --start 1 --points points --json && [ "$(awk '$1 == 2 { print $4 }' points | cut -c1-6)" = 3.4641 ]
}

# The calls of an archive are what `evspace events` prints of it: two entries for each, in order of time.
archive_is_read() {
	unset EVSPACE_ENTRY
	evspace run --no-summary --run phase -- mpirun --oversubscribe -np 3 "$top_builddir/tests/apps/windtunnel" --seconds 1 &&
		evspace archive --run phase ar && evspace events --from ar --json 2>"$tap_dir/err" >events || return
	grep '"type":"tuple"' events | grep -v '"completion":true' | awk -v q='"' '
		function field(name) { match($0, q name q ":[^,}]*"); s = substr($0, RSTART, RLENGTH); gsub(/.*:|"/, "", s); return s }
		{ print field("op"), field("rank"), field("start_ns"), field("end_ns") }' >calls
	cut -d ' ' -f 1 calls | sort -uV >ops
	awk 'NR == FNR { k[$1] = NR - 1; next } { print substr($3, 6), 2 * k[$1] + 1, $2; print substr($4, 6), 2 * k[$1] + 2, $2 }' ops calls |
		sort -s -n -k 1,1 >blocks
	# times of one host are compared as they are
	evspace phase --from ar --json >said && ! grep '"figure":"range"' said && evspace phase --file blocks --json >wanted || return
	has "\"name\":\"$(head -n 1 ops)\"" '"figure":"order"' || return
	[ "$(grep -c '"figure":"site"' said)" -eq "$(wc -l <ops)" ] &&
		diff <(grep -o '"entries":[0-9]*,"processes":[0-9]*,"blocks":[0-9]*' said) <(grep -o '"entries":[0-9]*,"processes":[0-9]*,"blocks":[0-9]*' wanted) &&
		diff <(grep -o '"component","n":1,"explained":0.[0-9]\{4\}' said) <(grep -o '"component","n":1,"explained":0.[0-9]\{4\}' wanted) &&
		tap_says 0 'blocks are operations, as call sites were not recorded: evspace run --elements' evspace phase --from ar &&
		tap_says 2 'no archive in it' evspace phase --from . && tap_says 2 'it needs --file FILE' evspace phase --file blocks --from ar
}

# Regions of evspace.h are no communication: blocks are of what is called within them alone.
regions_are_no_blocks() {
	cat >within.c <<-'EOF'
		#include <mpi.h>
		#include "evspace.h"
		int main(int argc, char **argv)
		{
			MPI_Init(&argc, &argv);
			for (int i = 0; i < 20; i++) {
				evspace_region("all", EVSPACE_BEGIN);
				MPI_Barrier(MPI_COMM_WORLD);
				evspace_region("all", EVSPACE_END);
			}
			return MPI_Finalize();
		}
	EOF
	mpicc -g -I "$top_srcdir/node-agent/collect/core" -o within within.c -ldl && evspace run --no-summary --elements collective=site --run within -- mpirun --oversubscribe -np 3 ./within &&
		evspace archive --run within regions 2>err && evspace events --from regions --json 2>err | grep -q '"op":"evspace_region"' || { cat err; return 1; }
	tap_says 0 '"entries":132,"processes":3,"blocks":7,' evspace phase --from regions --json && has '"figure":"site","in":5,"behind":6,"name":"within.c:8"' && ! grep 'evspace_region\|call sites were not' said || return
	# in exports they have the names that the program has given them
	evspace export --to paje --from regions regions.paje 2>err && [ "$(grep -c '^5 .* "all"$' regions.paje)" -eq 60 ] && ! grep evspace_region regions.paje &&
		evspace export --to perfetto --from regions regions.perfetto 2>err && [ "$(grep -a -o evspace_region regions.perfetto | wc -l)" -eq 0 ] &&
		evspace export --to ctf --from regions regions.ctf 2>err && ! grep -q -a evspace_region regions.ctf/stream_0 && grep -q -a all regions.ctf/stream_0 || { cat err; return 1; }
	[ ! -e "$EVSPACE_LIBDIR/libevspace-otf2.so" ] || ! command -v otf2-print >/dev/null ||
		{ evspace export --to otf2 --from regions regions.otf2 2>err && [ "$(otf2-print regions.otf2/traces.otf2 | grep -c 'ENTER.*Region: "all"')" -eq 60 ]; }
}

# On a node that is called as threads are, these are told apart all the same.
threads_of_a_node() {
	unset EVSPACE_ENTRY
	mkdir named && echo 'application any { ranks any; }' >named/application.map && echo "cluster A { nodes t0; address unix:$tap_dir/named/socket; }" >named/cluster.map &&
		printf '%s\n' 'entry t0;' 'place all on t0;' >named/mapping.map
	bed_start t0 env -u EVSPACE_TLS evspace agent --pathmap named --node t0
	bed_until bed_ready t0 && grep -q "ready on" "$bed_dir/t0.err" || { cat "$bed_dir/t0.err"; return 1; }
	evspace run --no-summary --run named -- mpirun --oversubscribe -np 2 "$top_builddir/tests/apps/windtunnel" --threads 2 --steps 5 >tunnel 2>&1 &&
		evspace archive --connect "unix:$tap_dir/named/socket" --run named threads 2>err || { cat tunnel err; return 1; }
	bed_kill TERM t0
	evspace events --from threads --json 2>err | grep -q '"name":"/A/t0/rank0/t1/' && tap_says 0 '"left_out":[1-9]' evspace phase --from threads --json
}

# What an archive has lost is said, of calls as of blocks.
losses_are_said() {
	evspace run --no-summary --capacity 200 --run lossy -- mpirun --oversubscribe -np 2 "$top_builddir/tests/apps/windtunnel" --steps 200 >tunnel 2>&1 && evspace archive --run lossy lossy 2>err || { cat tunnel err; return 1; }
	tap_says 0 '"figure":"order",.*"lost":[1-9]' evspace phase --from lossy --json && tap_says 0 '[0-9] events were lost or discarded: where processes were' evspace phase --from lossy &&
		tap_says 0 '"figure":"order",.*"lost":0' evspace phase --from ar --json
}

# figure OF: the entropy of that, by volume.
figure() {
	sed -n "s/.*\"of\":\"$1\",\"normalise\":\"volume\".*\"value\":\([-0-9.e+]*\).*/\1/p" said
}

# A long archive, once and as two runs: 3.2 million entries, of 24 bytes each, take 48 MB at most more than nearly nothing does; its figures are twice the same.
memory_does_not_grow() {
	local once time kb count

	"$top_builddir/tests/writer" "$EVSPACE_DIR/long" 4 400000 1 7 && evspace archive --run long long 2>err && evspace purge long || { cat err; return 1; }
	evspace phase --from long --json >said && once=$(figure execution) && time=$(figure time) && has '"entries":1600000,' || return
	count=$(grep -o '"states","count":[0-9]*' said | cut -d : -f 2)
	kb=$(kb_of --file three) && kb=$(($(kb_of --from long --from long) - kb)) && echo "$kb kB more" && evspace phase --from long --from long --json >said || return
	[ "$(grep -o '"states","count":[0-9]*' said | cut -d : -f 2)" -eq $((2 * count)) ] &&
		awk -v a="$(figure execution)" -v b="$once" -v c="$(figure time)" -v d="$time" 'BEGIN { exit !((a / b / 2 - 1) ^ 2 < 1e-18 && (c / d - 1) ^ 2 < 1e-18) }' || { cat said; return 1; }
	(ulimit -f 1000 && tap_says 1 'what is sorted beside .* cannot be written: File too large' evspace phase --from long --from long) || return
	rm -r long
	tap_sanitized || [ "$kb" -lt 48000 ]
}

# kb_of OPTION...: the most memory that evspace phase has with these.
kb_of() {
	/usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(["evspace", "phase", *sys.argv[1:], "--json"], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}

# A program that says its blocks: what it prints of them.
blocks_are_said() {
	evspace run --no-summary --run said -- mpirun --oversubscribe -np 3 "$top_builddir/tests/apps/blocks" 50 >blocks &&
		evspace archive --run said told 2>err || { cat err; return 1; }
	tap_says 0 'no process has said a block (evspace_block()): --now calls is of operations' evspace phase --from ar --now said || return
	evspace phase --from told --json >said && evspace phase --file blocks --json >wanted || return
	[ "$(grep -c '"figure":"site"' said)" -eq 0 ] && has '"entries":150,"processes":3' &&
		diff <(grep -o '"figure":"\(states\|entropy\)".*' said) <(grep -o '"figure":"\(states\|entropy\)".*' wanted)
}

# A live run says what its archive does: here all of one that has ended; of one that goes on, what came meanwhile, and only once.
run_is_followed() {
	local pid

	unset EVSPACE_ENTRY
	evspace phase live --run said --json >said 2>err && evspace phase --from told --json >wanted || { cat err; return 1; }
	diff <(grep -o '"figure":"\(states\|entropy\|component\)".*' said) <(grep -o '"figure":"\(states\|entropy\|component\)".*' wanted) || return
	: >goes-on
	evspace run --no-summary --run followed -- mpirun --oversubscribe -np 3 "$top_builddir/tests/apps/windtunnel" --while "$tap_dir/goes-on" >tunnel 2>&1 &
	pid=$!
	evspace phase live --run followed --wait --duration 3 --plot now.html --json >said 2>err && has '"processes":3' '"figure":"clump"' && [ -s now.html ] || { cat err; rm goes-on; return 1; }
	rm goes-on
	wait "$pid" && tap_says 1 'no such run\|there is no run' evspace phase live --run none && tap_says 2 "'lief' is not .live., the one word" evspace phase lief && tap_says 2 'it needs --file FILE' evspace phase live --from told
}

# Archives are runs of one execution: twice the same one has twice its states, and twice their entropy.
archives_are_runs() {
	local once both

	evspace phase --from told --from told --plot told.html --json >said && has '"entries":300,"processes":3' '"runs":2' && grep -q ', runs: 2,' told.html || return
	both=$(sed -n 's/.*"of":"execution","normalise":"volume".*"value":\([0-9.]*\).*/\1/p' said)
	once=$(evspace phase --from told --json | sed -n 's/.*"of":"execution","normalise":"volume".*"value":\([0-9.]*\).*/\1/p')
	awk -v a="$both" -v b="$once" 'BEGIN { exit !(a > 0 && (a / b - 2) ^ 2 < 1e-12) }' || { echo "$both is not twice $once" && return 1; }
	tap_says 2 '--select leaves out process 0, and states are of all from 0 to 1' evspace phase --from told --select '/**/rank1/**' &&
		evspace phase --from told --select '/**/rank[0-1]/**' --json >said && has '"processes":2' || return
	tap_says 2 'not all of the 3 processes have entered a block: several archives are runs of one program' evspace phase --from lossy --from ar &&
		tap_says 2 'ar: no process says its blocks (evspace_block()) there, but in others' evspace phase --from told --from ar &&
		tap_says 2 'ar: no process says its blocks (evspace_block()) there, but in others' evspace phase --from ar --from told &&
		tap_says 2 'none: No such file' evspace phase --from told --from none
}

# Six processes, each a little early or late where all meet, but for the fourth, which computes as long as the others wait: it has the second component of where all are.
slow_one() {
	awk 'BEGIN {
		srand(5)
		for (i = 0; i < 200; i++)
			for (p = 0; p < 6; p++) {
				late = p == 3 ? 70 : 5 + int(20 * rand())
				print 100 * i + 1, 2, p
				print 100 * i + 1 + late, 1, p
			}
	}' | sort -s -n -k 1,1 >blocks
	tap_says 0 '"figure":"alike","n":2,.*"process":3,"part":0.9[0-9]*,"alone":true' evspace phase --file blocks --json &&
		has '"figure":"alike","n":1,' && [ "$(grep -c '"figure":"alike",.*"alone":true' said)" -eq 1 ] &&
		tap_says 0 'component 2 .* of the time in the same block, 9[0-9]% of it process 3' evspace phase --file blocks
}

# elsewhere SHARE...: processes that are in block 1 for so much of each 100, and in block 2 for the rest, a hundred times.
elsewhere() {
	for ((i = 0; i < 100; i++)); do
		printf '%s\n' "$@" | awk -v i="$i" '{ print 100 * i + 1, 1, NR - 1; print 100 * i + 1 + $1, 2, NR - 1 }'
	done | sort -s -n -k 1,1 >blocks
	evspace phase --file blocks --json >said && grep '"figure":"elsewhere"' said
}

# Chance makes some process so different once in 300 times: that names nobody; once in a million times does.
who_is_elsewhere() {
	elsewhere 50 50.1 49.9 50.2 49.8 72 | grep -q '"process":5,.*"share":0.[27]' && ! elsewhere 50 51 49 52 48 72 || { cat said; return 1; }
}

# Options that mean nothing for what is looked at are refused, with what they are for.
options_mean_something() {
	local option way

	printf '%s\n' '1 1 0' '2 1 1' >blocks
	for option in 'rate 5' 'budget 1%' 'window 2' 'deadline 5s' 'run x' wait 'compress never' 'tree flat' 'urgency idle' 'patience 5s' 'connect x' 'of evspace' 'identity x'; do
		for way in '--file blocks' '--file blocks --watch' '--from told' '--from told --watch' '--from told --now said'; do
			tap_says 2 "^evspace phase: --${option%% *} means nothing with \"${way%% *}.*\"; it is for \"live\", \"live --watch\", \"live --now\"\$" evspace phase $way --$option || return
		done
	done
	tap_says 2 '--select means nothing with "--file"' evspace phase --file blocks --select '/**' &&
		tap_says 2 '--count means nothing with "--from"; it is for "--from --watch", "--from --now", "live"' evspace phase --from told --count 3 &&
		tap_says 2 '--duration means nothing with "--file --watch"' evspace phase --file blocks --watch --duration 3 &&
		tap_says 2 '--speed means nothing with "--from"; it is for "--from --watch", "--from --now"$' evspace phase --from told --speed 3 &&
		tap_says 0 'spans of' evspace phase --from told --watch --span 10ms --speed 100 &&
		tap_says 2 '--subset means nothing with "--from --now"' evspace phase --from told --now said --subset 0-1 &&
		tap_says 2 '--processes means nothing with "--from --watch"' evspace phase --from told --watch --processes 3 &&
		tap_says 0 'spans of' evspace phase --from told --watch --span 10ms --start 1 --subset 0-1 --select '/**' --count 2 &&
		tap_says 0 'states of 5 processes in 9 blocks' evspace phase --from told --processes 5 --blocks 9
}

# Four processes: three of them wait in block 1 from time 10 on, the last one comes at 90; it is told, and who is unlike the others in what component.
gathering() {
	printf '%s\n' '10 1 0' '10 1 1' '10 1 2' '90 1 3' '100 2 0' '100 2 1' '100 2 2' '100 2 3' '101 0 3' '102 2 3' >blocks
	tap_says 0 'most processes are in block 1 for 0.882 of the time (by chance: 0.627)' evspace phase --file blocks &&
		tap_says 0 '"figure":"clump","block":1,"where":"block 1","share":0.882' evspace phase --file blocks --json &&
		has '"n":1,"explained"' '"process":3,' '"alone":'
}

# A program that changes three times, and says when: what --watch says of it is that, from then on, and nothing of processes and routes besides.
# planted WHAT: when, in ns.
planted() {
	sed -n "s/^planted $1 //p" planted
}

# changed OF: the changes of that, one a line.
changed() {
	grep "\"figure\":\"change\",\"of\":\"$1\"" said
}

# at_once OF WHAT LINE: one of these changes is from the second on in which it was planted.
at_once() {
	local ns

	for ns in $(changed "$1" | grep -e "$3" | sed 's/.*"at_ns":\([0-9]*\),.*/\1/'); do
		[ "$ns" -gt "$(($(planted "$2") - 1000000000))" ] && [ "$ns" -lt "$(($(planted "$2") + 1000000000))" ] && return
	done
	echo "no change of $1 when $2 was planted, $(planted "$2"):" && cat said
	return 1
}

# repeat_themselves: the processes that are said to do so. Who gets no processor for two spans enters no block, and does not.
repeat_themselves() {
	changed process | sed 's/.*"process":\([0-9]*\),"value":\([-0-9.e]*\),"before":\([-0-9.e]*\),.*/\1 \2 \3/' | awk '$2 > 0 && $2 < $3 { print $1 }' | sort -u | tr '\n' ' '
}

# gather_at LINE: when the late rank is, most are said to wait there; on a busy machine they may have been before.
gather_at() {
	local last

	last=$(changed clump | grep "in changes.c:$1\"" | sed 's/.*"at_ns":\([0-9]*\),.*"value":\([-0-9.e]*\),.*/\1 \2/' | awk -v late="$(planted late)" '$1 < late + 2e9 { v = $2 } END { print v + 0 }')
	awk -v v="$last" 'BEGIN { exit !(v > 0.25) }' || { echo "most do not wait there: $last" && cat said && return 1; }
}

# line_of TEXT: where the call is in the program that has this comment above it.
line_of() {
	awk -v text="/* $1 */" 'index($0, text) { print NR + 1 }' "$top_srcdir/tests/apps/changes.c"
}

changes_map() {
	mkdir -p sites && echo 'application any { ranks any; collect collective p2p { element site; } }' >sites/application.map &&
		echo 'cluster c { nodes here; }' >sites/cluster.map && printf '%s\n' 'entry here;' 'place all on here;' >sites/mapping.map
}

what_changes_is_said() {
	local one=$(line_of 'one way') other=$(line_of 'other way') meet=$(line_of 'all meet')

	unset EVSPACE_ENTRY
	changes_map
	bed_start watcher evspace phase live --watch --span 250ms --wait --run changes --json
	bed_start keeper evspace archive --wait --run changes changed
	evspace run --no-summary --pathmap sites --run changes -- mpirun --oversubscribe -np 4 "$top_builddir/tests/apps/changes" >planted &&
		bed_wait watcher && bed_ended watcher 0 && bed_wait keeper && bed_ended keeper 0 || return
	cp "$bed_dir/watcher.out" said
	at_once route route "\"begins\":true.*\(in changes.c:$one\".*in changes.c:$other\"\|in changes.c:$other\".*in changes.c:$one\"\).*\"meets\":.*in changes.c:$meet\"" &&
		at_once process repeats '"process":2,.*"blocks":.*changes.c:'"$(line_of again)" &&
		gather_at "$meet" && [ "$(repeat_themselves)" = "2 " ] && ! changed subset && has '"figure":"watched"' || { cat said; return 1; }
}

# The archive of it says the same as the live run did, but for where spans begin.
archive_says_what_changed() {
	unset EVSPACE_ENTRY
	evspace phase --from changed --watch --span 250ms --subset 2-3 --json >said || return
	at_once process repeats '"process":2,' && gather_at "$(line_of 'all meet')" && at_once route route '"begins":true' &&
		at_once subset repeats '"before"' && [ "$(repeat_themselves)" = "2 " ] || { cat said; return 1; }
	evspace phase --from changed --watch --span 250ms >said && has 'the entropy of process 2 falls from' 'two routes from block' 'most processes are in block'
}

# Nothing is said of processes and routes in a program that does not change.
nothing_changed() {
	unset EVSPACE_ENTRY
	bed_start keeper evspace archive --wait --run same same
	evspace run --no-summary --pathmap sites --run same -- mpirun --oversubscribe -np 4 "$top_builddir/tests/apps/changes" --stages 0 --steps 400 >planted &&
		bed_wait keeper && bed_ended keeper 0 && evspace phase --from same --watch --span 250ms --json >said || return
	[ "$(grep -o '"spans":[0-9]*' said | cut -d : -f 2)" -ge 8 ] && [ -z "$(repeat_themselves)" ] && ! changed route || { cat said; return 1; }
}

watch_of_a_file() {
	awk 'BEGIN { for (t = 1; t < 8000; t++) print t, (t % 4 == 2 && t > 5000 ? int(t / 4) % 2 : int(t / 4) % 5), t % 4 }' >blocks
	evspace phase --file blocks --watch --json >said && [ "$(changed process | wc -l)" -eq 1 ] && changed process | grep -q '"at":[45][0-9]*.[0-9]*,"at_ns":null,"run":1,"process":2,"value":1.0,' || { cat said; return 1; }
	more=(--watch --span 0) && wrong '--span 0: of a file it is a number above 0' '1 1 1' && more=(--watch --span x) && wrong '--span x' '1 1 1' &&
		more=(--watch --scan 3) && wrong '--scan means nothing with "--file --watch"; it is for "--file", "--from", "live"$' '1 1 1' && more=(--span 3) && wrong '--span means nothing with "--file";' '1 1 1' &&
		more=(--watch) && wrong 'all of it is at time 0' '0 1 1' && wrong 'wrong:2: the time falls back before all 2 processes' '5 1 0' '3 1 0' '9 1 1'
}

# Of 200 simulated ranks on four nodes: the counts that come from the tree are of all, in each wave; at its end the blocks are known.
now_is_added_up() {
	local bits node

	mkdir -p crowd/maps && echo 'application crowd { ranks rank[0-199]; }' >crowd/maps/application.map
	printf '%s\n' "cluster A { nodes a[0-1]; address unix:$tap_dir/crowd/a[0-1]; }" "cluster B { nodes b[0-1]; address unix:$tap_dir/crowd/b[0-1]; }" \
		"node front { address unix:$tap_dir/crowd/front; }" >crowd/maps/cluster.map
	printf '%s\n' 'entry front;' 'place rank[0-99] on a[0-1] by 50;' 'place rank[100-199] on b[0-1] by 50;' >crowd/maps/mapping.map
	bed_start writer "$top_builddir/tests/writer" "$EVSPACE_DIR/crowd" 200 50 4 7
	for node in front a0 a1 b0 b1; do
		bed_start "$node" evspace agent --pathmap crowd/maps --node "$node"
	done
	for node in front a0 a1 b0 b1; do
		bed_until bed_ready "$node" && grep -q 'ready on' "$bed_dir/$node.err" || { cat "$bed_dir/$node.err"; return 1; }
	done
	evspace phase live --now said --connect "unix:$tap_dir/crowd/front" --run crowd --wait --duration 6 --json >said 2>err
	bed_wait writer && evspace phase live --now said --connect "unix:$tap_dir/crowd/front" --run crowd --count 1 --json >last 2>err || { cat err; return 1; }
	[ "$(grep -c '"processes":200,' said)" -ge 20 ] || { cat err; head said; return 1; }
	# rank r is in block (200 (r + 1)) mod 7 at the end
	bits=$(awk 'BEGIN { for (r = 0; r < 200; r++) n[200 * (r + 1) % 7]++; for (b in n) s += n[b] * log(n[b]); printf "%.6f", (log(200) - s / 200) / log(2) }')
	grep -q "\"normalise\":\"none\",\"bits\":true,\"value\":${bits%?}" last || { echo "not $bits:"; cat last; return 1; }
	for node in front a0 a1 b0 b1; do
		bed_kill TERM "$node" || return
	done
}

# application PROCESSES ENTRIES PROGRAM [ARG...]: its own result is right, and all blocks that it enters are seen.
application() {
	local processes=$1 entries=$2

	shift 2
	evspace run --no-summary --run paper -- mpirun --oversubscribe -np "$processes" "$top_builddir/tests/apps/$1" "${@:2}" &&
		evspace archive --run paper paper 2>err || { cat err; return 1; }
	evspace phase --from paper --json >said && has "\"processes\":$processes" && [ "$(grep -o '"entries":[0-9]*' said | cut -d : -f 2)" -ge "$((entries * 99 / 100))" ] &&
		[ "$(grep -o '"entries":[0-9]*' said | cut -d : -f 2)" -le "$entries" ] || { cat said; return 1; }
	evspace purge paper && rm -r paper
}

# 9 blocks in each of 20 iterations, one before and one behind; a few may be entered at one time.
simplex_is_seen() {
	unset EVSPACE_ENTRY
	application 17 $((17 * 182)) amoeba mpi && application 17 $((17 * 182)) amoeba async && application 17 $((17 * 182)) amoeba none &&
		application 17 $((17 * 182)) amoeba guided
}

# One block in each of 1,000 turns.
philosophers_are_seen() {
	unset EVSPACE_ENTRY
	application 9 9000 philosophers && application 9 9000 philosophers --keep 5 && application 3 3000 philosophers --seed 7
}

# 6 blocks on each of 4 levels, and 3 of the base case; five times.
prefix_is_seen() {
	unset EVSPACE_ENTRY
	application 16 $((16 * 135)) prefix
}

# They have ranks of their own world.
spawned_are_told() {
	timeout -k 5 100 evspace run --no-summary --run spawned -- mpirun -np 2 "$top_builddir/tests/apps/spawn" >"$tap_dir/ran" 2>&1 &&
		evspace archive --run spawned spawned 2>err && evspace phase --from spawned >out 2>err && grep -q 'of 2 processes' out &&
		grep -q '[1-9][0-9]* calls of further threads, or of spawned processes, are left out' err || { cat "$tap_dir/ran" out err; return 1; }
}

tap_case "three processes, by hand" by_hand
tap_case "... and what they may be where orders are not known" ranges_by_hand
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	tap_case "numpy finds the same components" same_as_numpy
	tap_case "... of 1,100 processes" numpy_of_many
else
	tap_skip "numpy finds the same components" "there is no numpy"
fi
tap_case "thousands of states are thinned for a page" thinned
tap_case "a page has the states and nothing from elsewhere" page
if ldd "$top_builddir/.libs/libevspace-draw.so" >/dev/null 2>&1; then
	tap_case "pictures have all states" pictures
	tap_case "pictures of many states are small" pictures_are_small
else
	tap_skip "pictures have all states" "evspace was built without cairo"
	tap_skip "pictures of many states are small" "evspace was built without cairo"
fi
if command -v chromium >/dev/null; then
	tap_case "a browser turns the cube of a page" page_turns
else
	tap_skip "a browser turns the cube of a page" "there is no chromium"
fi
tap_case "standard input is read as a file is" pipes
tap_case "what is wrong with a file is said with its line" wrong_files
tap_case "one process in one block" one_of_each
tap_case "processes that start late are in the first block until then" late_ones_start_in_the_first_block
tap_case "the calls in an archive: what its events give" archive_is_read
if command -v /usr/bin/python3 >/dev/null; then
	tap_case "... in memory that does not grow with it" memory_does_not_grow
else
	tap_skip "memory of long archives" "there is no python3"
fi
tap_case "regions that it says are no calls" regions_are_no_blocks
tap_case "threads on a node that is called t0" threads_of_a_node
tap_case "what an archive has lost is said" losses_are_said
tap_case "the blocks that a program says" blocks_are_said
tap_case "a live run" run_is_followed
tap_case "several archives are several runs" archives_are_runs
tap_case "a slow process has the second component of the time in the same block" slow_one
tap_case "a process that is elsewhere, by more than chance" who_is_elsewhere
tap_case "options that mean nothing for it are refused" options_mean_something
tap_case "where most processes wait is told" gathering
tap_case "what changes in a live run is said, and when" what_changes_is_said
tap_case "its archive says the same" archive_says_what_changed
tap_case "nothing is said of one that does not change" nothing_changed
tap_case "what changes in a file" watch_of_a_file
tap_case "processes that were spawned are left out, which is said" spawned_are_told
tap_case "where all processes are now is added up by hosts" now_is_added_up
tap_case "a simplex of 17 processes in four variants has its own result" simplex_is_seen
tap_case "dining philosophers have eaten who may, never with a neighbour" philosophers_are_seen
tap_case "sums of 16 processes have theirs" prefix_is_seen
tap_done
