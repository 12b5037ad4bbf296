# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: requests of MIR about a program that runs; all answers are valid by the schema that is shipped.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/mir-sir.sh"

mir_begin

# stuck: three ranks, two of which wait in a barrier at a line that is known, until it is killed.
stuck_begins() {
	bed_start stuck evspace run --run stuck -- mpirun -np 3 "$top_builddir/tests/apps/stuck" --seconds 600
	bed_until grep -q sleeps "$bed_dir/stuck.err" || { cat "$bed_dir/stuck.err"; return 1; }
}

# mir CODE OPTIONS...: what it answers to standard input is in `answers`, each line of which is valid.
mir() {
	local code=$1 got=0

	shift
	timeout 60 evspace mir - "$@" >answers 2>err || got=$?
	cat answers >>all-answers
	[ "$got" -eq "$code" ] && [ ! -s err ] || { echo "exit code $got, not $code"; cat err answers; return 1; }
	answers_are_valid answers
}

# answered PATTERN...: there are as many answers, and each is like its pattern.
answered() {
	local line

	[ "$(wc -l <answers)" -eq $# ] || { echo "not $# answers:"; cat answers; return 1; }
	while read -r line; do
		grep -qE -e "$1" <<<"$line" || { echo "no $1 in: $line"; return 1; }
		shift
	done <answers
}

# count XPATH: how often it is in the answer.
count() {
	xmllint --xpath "count($1)" answers
}

schema_is_one() {
	/usr/bin/python3 - "$schema" <<-'EOF'
		import sys, xml.etree.ElementTree as ET, xmlschema
		schema = xmlschema.XMLSchema(sys.argv[1])
		assert schema.is_valid('<probe id="p1"/>') and not schema.is_valid('<probe/>')
		answers = [line for line in open("all-answers") if not line.isspace()]
		assert all(line.startswith('<') for line in answers), [line for line in answers if line[0] != '<']
		for line in answers: schema.validate(ET.fromstring(line))
		assert len(answers) >= 100, len(answers)
	EOF
}

# The program has one site with one node, three processes with a thread each, and they are all of a communicator.
snapshot_is_the_program() {
	local vm='/snapshot/site[@id="/local"]/node'

	mir 0 <<<'<snapshotreq named="true"/>' && answered '^<snapshot>' &&
		[ "$(count "$vm/process/thread[@id and @name='t0' and @master='true']")" -eq 3 ] &&
		[ "$(count "$vm/process[@name='rank1']")" -eq 1 ] &&
		[ "$(count '/snapshot/communicator[@name="MPI_COMM_WORLD"]/process[@id = //node/process/@id]')" -eq 3 ] &&
		[ "$(count '//stack')" -eq 0 ] || { cat answers; return 1; }
}

names_only_where_asked() {
	mir 0 <<<'<snapshotreq/>' && [ "$(count '//@name')" -eq 0 ] && [ "$(count '//thread')" -eq 3 ]
}

# The two that wait, down to where they are called from, and the one that sleeps; all of their threads were stopped for a while.
stacks_are_where_they_wait() {
	mir 0 <<<'<snapshotreq stack="40" named="true"/>' &&
		[ "$(count '//thread[@master][stack[contains(., "MPI_Barrier")]/following-sibling::stack[starts-with(., "main (stuck.c:")]]')" -eq 2 ] &&
		[ "$(count '//thread[@master][stack[contains(., "nanosleep")]/following-sibling::stack[starts-with(., "main (stuck.c:")]]')" -eq 1 ] &&
		[ "$(count '//processing-instruction("unread")')" -eq 0 ] && xmllint --xpath 'string(//processing-instruction("stopped"))' answers |
		grep -qE "^threads=\"$(count '//thread')\" ms=\"[0-9.]*\" longest_ms=\"[0-9.]*\"$"
}

one_frame_each() {
	mir 0 <<<'<snapshotreq stack="1"/>' && [ "$(count '//stack')" -ge 3 ] && [ "$(count '//thread[count(stack) > 1]')" -eq 0 ]
}

stacks_are_as_deep_as_asked() {
	bed_until stacks_are_where_they_wait && bed_until one_frame_each || { cat answers; return 1; }
}

# Three at once, again and again: all have them, as deep as each has asked. On a busy machine a turn may come too late.
all_who_ask_have_them() {
	local deep pids=''

	for deep in 40 1 2; do
		yes "<snapshotreq stack='$deep'/>" | head -n 6 | timeout 60 evspace mir - >"deep$deep" &
		pids+=" $!"
	done
	wait $pids && [ "$(cat deep40 deep1 deep2 | wc -l)" -eq 18 ] || return
	for deep in 40 1 2; do
		grep -v '<[?]unread ' "deep$deep" >"whole$deep"
		[ "$(wc -l <"whole$deep")" -ge 3 ] || return
	done
	while read -r deep; do
		[ "$(xmllint --xpath 'count(//thread[stack])' - <<<"$deep")" -ge 3 ] && [ "$(xmllint --xpath 'count(//thread[count(stack) > 2])' - <<<"$deep")" -eq 0 ] || return
	done < <(cat whole1 whole2)
	[ "$(grep -c 'main (stuck.c:' whole40)" -eq "$(wc -l <whole40)" ]
}

many_have_stacks() {
	bed_until all_who_ask_have_them || { cat deep*; return 1; }
}

# Of one that another process traces it is said so, and what is known without stopping it.
untraceable_ones_say_why() {
	local pid tracer

	pid=$(ls "$EVSPACE_DIR"/*/ | sed -n 's/^rank0[.]\([0-9]*\)[.].*seg$/\1/p')
	/usr/bin/python3 -c '
import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0
open("traced", "w").close()
time.sleep(100)
' "$pid" &
	tracer=$!
	why_is_said() {
		mir 0 <<<'<snapshotreq stack="40"/>' && xmllint --xpath '//processing-instruction("unread")' answers | grep -q "id=\"[^\"]*/rank0/t0\" why=\"process $tracer traces it already\"" &&
			[ "$(count '//process[contains(@id, "rank0")]/thread[@master][stack[1] = "MPI_Barrier"][starts-with(stack[2], "stuck.c:")]')" -eq 1 ]
	}
	bed_until test -e traced && bed_until why_is_said
	set -- $?
	kill "$tracer"
	wait "$tracer" 2>/dev/null
	[ "$1" -eq 0 ] || { cat answers; return 1; }
}

# Each wrong one is told with its place, and the next one is answered.
wrong_ones_do_not_end_it() {
	mir 1 <<-'EOF' && answered '<error>line 1, column 11, element metric: .*Remedy: write it' '^<snapshot>' \
		'line 2, column 3, element metrics: .*Expected is .*metric' \
		'line 1, column [0-9]*, element snapshotreq: .*foo' 'line 3, column 17, element foo: not well formed' \
		'element foo: this is no request. Write sirreq' '^<snapshot>' \
		'MEDIAN.*AVERAGE' 'neither attributes nor aggregates' 'element a: not well formed'
		<instrreq><metric/></instrreq><snapshotreq></snapshotreq>
		<instrreq>
		  <metrics name="WC_TIME"/></instrreq>
		<snapshotreq foo="bar"/>
		<instrreq>
		<metric name="
		<foo></instrreq>
		<foo><bar/></foo>
		<snapshotreq/>
		<instrreq><measuring><aggregate function="MEDIAN"/></measuring></instrreq>
		<instrreq><measuring/></instrreq>
		<a>&undefined;
	EOF
}

by_strict_rules() {
	mir 1 <<-'EOF' && answered 'write snapshotreq, or' 'write instrreq, or' 'write activated, or' \
		'element action: .*write &lt;ctrlreq action' 'element thread: .*write master' 'not a valid value|pattern'
		<snapshotrequest named="true" stack="3"/>
		<instreq><metric name="WC_TIME"/></instreq>
		<instrreq activate="true"><metric name="WC_TIME"/></instrreq>
		<ctrlreq><probe id="p1"/><probe id="p2"/><action type="REMOVE"/></ctrlreq>
		<instrreq><metric name="WC_TIME"/><thread id="a" omp-master="true"/></instrreq>
		<snapshotreq named="1"/>
	EOF
}

by_lenient_rules() {
	mir 1 --lenient <<-'EOF' && answered '^<snapshot>.*<stack>' 'action already' 'written &lt;action type' '^<snapshot>'
		<snapshotrequest named="true" stack="3"/>
		<ctrlreq action="VALUE"><probe id="p1"/><action type="REMOVE"/></ctrlreq>
		<ctrlreq><probe id="p1"/><action><probe id="p2"/></action></ctrlreq>
		<?xml version="1.0" encoding="ISO-8859-1"?><!-- <instrreq> --><snapshotreq/>
	EOF
}

# As the report prints them: a mistake in one, nothing of which reaches into the next.
as_the_report_has_them() {
	mir 1 --lenient <<-'EOF' && answered 'not well formed' '^<errors>' 'not well formed' '^<snapshot>'
		<sirreq>
		  <resource in="http://www.fictive.com/mmul.c" out="file:///home/clovis/mmul.c">
		  <resource in="ftp://anonymous@fictive.com/prototypes.h">
		</sirreq>
		<snapshotrequest named="true" stack="3">
		<instrreq>
		  <codeRegion from="c1"/>
		  <metric name="BLOCKED_COUNT"/>
		  <measuring
		    delivery="1000"
		    destination="file:///tmp/foo.txt"
		    <aggregate function="MAXIMUM"/>
		  </measuring>
		  <thread="1045"/><thread="1032"/>
		</instrreq>
		<snapshotreq/>
	EOF
}

# Neither entities nor files nor the network.
document_types_are_off() {
	{
		echo '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]><snapshotreq named="&c;"/>'
		echo "<!DOCTYPE a [<!ENTITY b SYSTEM 'file://$tap_dir/secret'>]><foo>&b;</foo>"
		echo '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><snapshotreq/>'
		echo '<snapshotreq/>'
	} >bombs
	echo hidden >secret
	mir 1 <bombs && answered 'document type; take' 'document type; take' 'document type; take' '^<snapshot>' &&
		! grep hidden answers
}

# peak FILE: KiB of memory that it takes to refuse it.
peak() {
	local got=0

	/usr/bin/python3 - "$1" <<-'EOF'
		import resource, subprocess, sys
		with open(sys.argv[1]) as file:
		    subprocess.run(['evspace', 'mir', '-'], stdin=file, stdout=open('answers', 'w'))
		print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
	EOF
}

# Millions of elements, attributes, comments; and 40 MiB without an end.
large_ones_take_bounded_memory() {
	local file

	printf '<snapshotreq>%s</snapshotreq>' "$(yes '<a/>' | head -n 3000000 | tr -d '\n')" >elements
	printf '<snapshotreq>%s</snapshotreq>' "$(yes '<!---->' | head -n 2000000 | tr -d '\n')" >comments
	{ printf '<snapshotreq' && seq 1500000 | sed 's/.*/ a&="" /' | tr -d '\n' && printf '/>'; } >attributes
	{ echo '<ctrlreq>' && head -c 40000000 /dev/zero | tr '\0' ' ' && echo '</ctrlreq><foo/>'; } >endless
	for file in elements comments attributes endless; do
		[ "$(peak $file)" -lt 250000 ] || { echo "$file takes $(peak $file) KiB"; return 1; }
		mv answers "answers-$file"
	done
	tap_printed answers-elements -- 'more than 100000 elements' &&
		tap_printed answers-endless -- 'larger than 16 MiB' 'element foo' && [ "$(wc -l <answers-endless)" -eq 2 ]
}

no_run_is_said() {
	mir 1 --run nobody <<<'<snapshotreq/>' && answered 'element snapshotreq: no answer: .*nobody'
}

wrong_usage_is_said() {
	tap_says 2 'say which FILE' evspace mir &&
		tap_says 2 'nowhere: No such file' evspace mir nowhere
}

# asks OPTIONS...: evspace mir answers what ask() says, one by one, into `asked`.
asks() {
	rm -f questions asked
	mkfifo questions && touch asked || return
	evspace mir - "$@" <questions >asked 2>asks.err &
	echo $! >"$bed_dir/pids/asks"
	exec 3>questions
}

# ask DOCUMENT PATTERN: its answer, which is $answer, is like that, and valid.
ask() {
	local before

	before=$(wc -l <asked)
	printf '%s\n' "$1" >&3
	bed_until has_lines $((before + 1)) || { cat asks.err; return 1; }
	answer=$(tail -n 1 asked)
	grep -qE -e "$2" <<<"$answer" && xmllint --nonet --noout --schema "$schema" - <<<"$answer" 2>xmllint.err ||
		{ cat xmllint.err; echo "no $2: $answer"; return 1; }
}

has_lines() {
	[ "$(wc -l <asked)" -ge "$1" ]
}

# value ID [ACTION [CHANGES]]
value() {
	ask "<ctrlreq action=\"${2-VALUE}\"><probe id=\"$1\"/>${3-}</ctrlreq>" '^<measurement'
}

asks_end() {
	exec 3>&-
	cat asked >>all-answers
	bed_until bed_gone "$(bed_pid asks)" && [ ! -s asks.err ] || { cat asks.err; return 1; }
}

instr() {
	ask "<instrreq activated=\"true\" flush=\"true\">$1</instrreq>" '^<probe id="p[0-9]+"/>$'
}

# Regions of evspace.h: a probe says what the program's own clock says, and another name's executions are no part of it.
regions_are_measured() {
	cat >regions.c <<-'EOF'
		#include <mpi.h>
		#include <stdio.h>
		#include <unistd.h>
		#include "evspace.h"
		int main(int argc, char **argv)
		{
			double took = 0;
			MPI_Init(&argc, &argv);
			for (int i = 0; i < 7; i++) {
				double begin = MPI_Wtime();
				evspace_region("slee<p", EVSPACE_BEGIN);
				usleep(10000);
				evspace_region("slee<p", EVSPACE_END);
				took += MPI_Wtime() - begin;
				evspace_region("MPI_Barrier", EVSPACE_BEGIN);
				evspace_region("MPI_Barrier", EVSPACE_END);
			}
			printf("took %f\n", took * 1000);
			return MPI_Finalize();
		}
	EOF
	mpicc -I"$top_srcdir/node-agent/collect/core" -o regions regions.c -ldl && asks --wait --run regions &&
		instr '<codeRegion from="user:slee&lt;p"/><metric name="WC_TIME"/><metric name="CALLS"/><measuring><aggregate function="SUM"/></measuring>' &&
		instr '<codeRegion from="user:slee&lt;p"/><metric name="WC_TIME"/><process id="?"/>' &&
		instr '<codeRegion from="user:MPI_Barrier"/><metric name="CALLS"/><measuring interval="20"/><process id="/local/vm/rank0"/>' &&
		instr '<codeRegion from="user:nobody"/><metric name="CALLS"/><measuring interval="20"/><process id="/local/vm/rank0"/>' &&
		instr '<codeRegion from="user:slee&lt;p"/><metric name="WC_TIME"/><measuring><aggregate function="SUM"/><aggregate function="AVERAGE"/><aggregate function="MINIMUM"/><aggregate function="MAXIMUM"/></measuring>' &&
		ask '<instrreq><codeRegion from="user:a"/><metric name="NET_SEND"/></instrreq>' 'NET_SEND is not that of a region of the program; WC_TIME and CALLS are' &&
		ask '<instrreq><codeRegion from="user:"/><metric name="CALLS"/></instrreq>' 'no region .quot;user:.*user: and the name of a region of evspace.h' || return
	bed_start regions evspace run --run regions -- mpirun -np 1 "$tap_dir/regions"
	bed_wait regions && bed_ended regions 0 || return
	for id in 1 2 3 4 5; do
		value "p$id" || return
		echo "$answer" >"value-$id"
	done
	# a name that nobody has would be waited for for ever
	grep -q '<!-- p4: nothing has come so far that it is about -->' value-4 && ! grep 'nothing has come' value-[1235] || return
	asks_end && /usr/bin/python3 - "$(cat "$bed_dir/regions.out")" <<-'EOF'
		import re, sys, xml.etree.ElementTree as ET
		took = float(re.search('took ([0-9.]+)', sys.argv[1]).group(1))
		values = [[float(m.get('value')) for m in ET.parse('value-%d' % i).iter('measurement') if m.get('value')] for i in (1, 2, 3, 4, 5)]
		assert 70 <= values[0][0] <= took and values[0][1] == 7, (values, took)
		assert len(values[1]) == 1 and 10 <= values[1][0] <= took - 60, (values, took)
		assert values[2:4] == [[7], [0]], values
		total, mean, least, most = values[4]
		assert abs(total - values[0][0]) < 1e-3 and abs(mean - total / 7) < 1e-3 and 10 <= least <= mean <= most <= took - 60, values
	EOF
}

# Five processes of 300 threads: an agent reads four of them, and says so.
many_threads_are_bounded() {
	cat >many.c <<-'EOF'
		#include <mpi.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		static void *wait_on(void *arg) { pause(); return arg; }
		int main(int argc, char **argv)
		{
			pthread_attr_t small;
			MPI_Init(&argc, &argv);
			pthread_attr_init(&small);
			pthread_attr_setstacksize(&small, 65536);
			for (int i = 0; i < 300; i++) {
				pthread_t thread;
				if (pthread_create(&thread, &small, wait_on, NULL) != 0) return 1;
			}
			fprintf(stderr, "ready\n");
			while (access("stop-many", F_OK) != 0) usleep(10000);
			return MPI_Finalize();
		}
	EOF
	mpicc -pthread -o many many.c && bed_start many evspace run --run many -- mpirun -np 5 "$tap_dir/many" || return
	bed_until all_ready && asks --run many && instr '<metric name="CPU_TIME"/><process id="*"/>' && value p1 &&
		[ "$(grep -o 'processId' <<<"$answer" | wc -l)" -eq 4 ] &&
		grep -q '<?missing host="/local/[^"]*" why="1 processes are not read, as there are too many threads"?>$' <<<"$answer" || { echo "$answer"; return 1; }
	asks_end && touch stop-many && bed_wait many
}

all_ready() {
	[ "$(grep -c ready "$bed_dir/many.err")" -eq 5 ]
}

# What probes say of a whole program, which begins after them, is what its events say.
measured_is_what_happened() {
	local node each='<measuring><aggregate function="SUM"/><aggregate function="MAXIMUM"/><aggregate function="MINIMUM"/><aggregate function="AVERAGE"/><aggregate function="VARIANCE"/></measuring>'

	node=$(evspace status | sed -n '1s/agent \([^ ]*\) of.*/\1/p')
	asks --wait --run wt &&
		instr "<codeRegion from='MPI_Isend'/><metric name='WC_TIME'/><metric name='CALLS'/>$each" &&
		instr '<metric name="NET_BYTES_SEND"/><metric name="NET_BYTES_RECV"/><metric name="CALLS"/><process id="*"><thread id="*"/></process>' &&
		instr '<codeRegion from="MPI_Allreduce"/><metric name="WC_TIME"/><metric name="NET_SEND"/>' &&
		instr '<codeRegion from="collective"/><metric name="CALLS"/><measuring interval="20"/><node id="/local/'"$node"'"/><communicator id="?"/>' &&
		instr '<metric name="NET_SEND"/><metric name="NET_BYTES_SEND"/><site id="/local"/><process id="/local/vm/rank1"/>' || return
	bed_start wt evspace run --run wt -- mpirun -np 3 "$top_builddir/tests/apps/windtunnel" --threads 2 --steps 150
	bed_wait wt && bed_ended wt 0 || return
	for id in 1 2 3 4 5; do
		value "p$id" || return
		echo "$answer" >"value-$id"
	done
	asks_end && ! grep -q overwritten value-* &&
		evspace events --run wt --backlog --until-end --json >events 2>err && grep -q ' 0 lost' err || return
	/usr/bin/python3 - <<-'EOF'
		import json, statistics, xml.etree.ElementTree as ET
		calls = [json.loads(l) for l in open('events')]
		calls = [c for c in calls if c['type'] == 'tuple']
		done = [c for c in calls if c['completion']]
		calls = [c for c in calls if not c['completion']]
		thread = lambda c: c['name'].rsplit('/', 1)[0]
		ms = lambda c: (c['end_ns'] - c['start_ns']) / 1e6
		# what an element has of those around it, it has itself
		def opened(m, said):
		    said = {**said, **m.attrib}
		    return ([said] if 'value' in m.attrib else []) + [t for c in m for t in opened(c, said)]
		def values(n): return opened(ET.parse('value-%d' % n).getroot(), {})
		def near(a, b, off): return abs(float(a) - b) <= off

		isends = [c for c in calls if c['op'] == 'MPI_Isend']
		v = values(1)
		times = [ms(c) for c in isends]
		most = max(isends, key=ms)
		assert len(v) == 10 and near(v[0].get('value'), sum(times), 1e-3 * sum(times)), ('sum', v[0], sum(times))
		assert near(v[1].get('value'), max(times), 2e-5), ('max', v[1], most)
		assert near(v[2].get('value'), min(times), 2e-5), ('min', v[2])
		assert near(v[3].get('value'), statistics.mean(times), 1e-3 * statistics.mean(times))
		assert v[1].get('threadId') == thread(most), (v[1], most)
		assert [float(v[i].get('value')) for i in (5, 6, 7, 8, 9)] == [len(isends), 1, 1, 1, 0]

		tree, threads = ET.parse('value-2').getroot(), {thread(c) for c in calls}
		seen = set()
		for process in tree:
		    for t in process:
		        name = t.get('threadId')
		        sent = sum(c['bytes'] for c in isends if thread(c) == name)
		        got = sum(c['bytes'] for c in done if thread(c) == name and c['op'] == 'MPI_Irecv')
		        assert [int(m.get('value')) for m in t] == [sent, got, sum(thread(c) == name for c in calls)], (name, sent, got)
		        assert process.get('processId') == name.rsplit('/', 1)[0]
		        seen.add(name)
		assert seen == threads and len(seen) == 6

		last = {}
		for c in calls:
		    if c['op'] == 'MPI_Allreduce' and c['end_ns'] >= last.get(thread(c), c)['end_ns']:
		        last[thread(c)] = c
		v = values(3)
		assert {m['threadId'] for m in v} == set(last), (v, set(last))
		for m in v:
		    assert near(m['value'], ms(last[m['threadId']]), 2e-5), (m, last[m['threadId']])

		n = sum(c['name'].endswith('/collective') for c in calls)
		v = values(4)
		assert sum(int(m.get('value')) for m in v[1:]) == n == int(v[0].get('value')), (v, n)

		v = [m.get('value') for m in values(5)]
		of_1 = [c for c in isends if '/rank1/' in c['name']]
		assert near(v[0], sum(times), 1e-3 * sum(times)) and int(v[1]) == sum(c['bytes'] for c in isends), v
		assert near(v[2], sum(map(ms, of_1)), 1e-3 * sum(times)) and int(v[3]) == sum(c['bytes'] for c in of_1), v
	EOF
}

# number: the one value of the answer.
number() {
	sed -n 's/^<measurement value="\([0-9.]*\)"\/>$/\1/p' <<<"$answer"
}

grows() {
	local before=${1-0}

	value "$id" && [ -n "$(number)" ] && awk -v a="$(number)" -v b="$before" 'BEGIN { exit !(a > b) }'
}

sum='<measuring><aggregate function="SUM"/></measuring>'

# Probes wait for a flush, are switched, forgotten, changed, removed.
probes_are_controlled() {
	local before id=p1

	asks --run wind && ask "<instrreq activated=\"true\"><codeRegion from=\"p2p\"/><metric name=\"CALLS\"/>$sum</instrreq>" '"p1"' &&
		value p1 && [ "$answer" = '<measurement/>' ] &&
		ask '<instrreq flush="true"><measuring interval="10"/></instrreq>' '^<measurement/>$' && bed_until grows &&
		value p1 DEACTIVATE && value p1 && before=$(number) && value p1 && [ "$(number)" = "$before" ] &&
		value p1 ACTIVATE && bed_until grows "$before" && before=$(number) &&
		value p1 RESET && value p1 DEACTIVATE && value p1 && ! grows "$before" &&
		value p1 ACTIVATE "<metric name=\"NET_SEND\"/><measuring interval=\"20\"><aggregate/></measuring><communicator id=\"$world\"/>" &&
		bed_until grows && value p1 REMOVE && ask '<ctrlreq action="VALUE"><probe id="p1"/></ctrlreq>' 'no probe &quot;p1&quot;' &&
		asks_end
}

# The report's example of section 6, about this program: two processes, each with two threads.
threads_are_counted() {
	local all="<metric name=\"THREAD_COUNT\"/><communicator id=\"$world\"><process id=\"*\"/></communicator>"
	local most='<metric name="THREAD_COUNT"/><measuring><aggregate function="MAXIMUM"/></measuring>'

	asks --run wind && instr "$all" && value p1 &&
		grep -qE '^<measurement>(<measurement processId="/local/[^/]*/rank[01]" value="2"/>){2}</measurement>$' <<<"$answer" &&
		instr "$most<communicator id=\"$world\"><process id=\"*\"/></communicator>" && value p2 &&
		grep -qE "^<measurement communicatorId=\"$world\" processId=\"/local/[^/]*/rank[01]\" value=\"2\"/>\$" <<<"$answer" &&
		asks_end || { echo "$answer"; return 1; }
}

# Its examples of control requests and of SIR, corrected to be well formed: p3 becomes the time that a communicator has sent in 4 s.
examples_are_answered() {
	local began

	asks --lenient --run wind && for id in 1 2 3; do instr "<codeRegion from='p2p'/><metric name='CALLS'/>$sum" || return; done
	ask '<ctrlreq> <probe id="p2"/><action type="VALUE"/> </ctrlreq>' '^<measurement value="[0-9]+"/>$' && began=$(date +%s%N) &&
		ask "<ctrlreq> <probe id=\"p3\"/> <action type=\"RESET\"/> <metric name=\"NET_SEND\"/> <!-- NET_SEND means time spent sending messages -->
			<measuring interval=\"4000\"><aggregate/></measuring> <communicator id=\"$world\"/> </ctrlreq>" '^<measurement/>$' &&
		value p3 && [[ $answer = '<measurement/>'* ]] && id=p3 && bed_until grows && [ $(($(date +%s%N) - began)) -ge 3900000000 ] &&
		lies "$(number)" 0 $((4 * ($(date +%s%N) - began))) && before=$(number) && value p3 && [ "$(number)" = "$before" ] &&
		ask '<ctrlreq> <probe id="p1"/> <probe id="p2"/> <action type="REMOVE"/> </ctrlreq>' '^<measurement/>$' &&
		ask '<ctrlreq><probe id="p2"/><action type="VALUE"/></ctrlreq>' 'no probe .quot;p2' &&
		ask '<sirreq> <resource in="http://www.fictive.com/mmul.c" out="file:///home/clovis/mmul.c"/>
			<resource in="ftp://anonymous@fictive.com/prototypes.h"/> </sirreq>' 'says --fetch HOST.*ftp://.* says --fetch HOST|says --write' &&
		asks_end || { echo "$answer"; return 1; }
}

# ran FILE FIELD: what the kernel's FILE of all threads of the program says, summed: field FIELD, or the one behind that word. Other tests
# may have programs of that name at the same time.
ran() {
	local pid

	for pid in $(ls "$EVSPACE_DIR/wind" | sed -n 's/^rank[0-9]*[.]\([0-9]*\)[.].*seg$/\1/p'); do
		cat /proc/"$pid"/$1
	done | awk -v field="$2" 'field + 0 > 0 { n += $field } $1 == field { n += $2 } END { printf "%.0f\n", n }'
}

has_run_on() {
	[ $(($(ran 'task/*/schedstat' 1) - $1)) -gt 50000000 ]
}

# lies VALUE LEAST MOST: in between; VALUE in ms, the others in ns, to 1 us.
lies() {
	awk -v v="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(v * 1e6 >= least - 1e3 && v * 1e6 <= most + 1e3) }' || { echo "$1 ms: not in $2 .. $3 ns"; return 1; }
}

# It lies between what was used from after the begin until before the value, and from before until after. RESET forgets; nothing is added when inactive.
time_is_the_kernels() {
	local a b c d

	asks --run wind && a=$(ran 'task/*/schedstat' 1) && instr '<metric name="CPU_TIME"/><site id="/local"/>' && b=$(ran 'task/*/schedstat' 1) &&
		bed_until has_run_on "$b" && c=$(ran 'task/*/schedstat' 1) && value p1 && d=$(ran 'task/*/schedstat' 1) &&
		lies "$(number)" $((c - b)) $((d - a)) && a=$(ran 'task/*/schedstat' 1) && value p1 RESET && value p1 && d=$(ran 'task/*/schedstat' 1) &&
		lies "$(number)" 0 $((d - a)) && value p1 DEACTIVATE && value p1 && a=$(number) && b=$(ran 'task/*/schedstat' 1) &&
		bed_until has_run_on "$b" && value p1 && [ "$(number)" = "$a" ] && asks_end || { echo "$answer"; return 1; }
}

waits_and_memory_are_the_kernels() {
	local a b d id=p1

	asks --run wind && a=$(ran 'task/*/status' voluntary_ctxt_switches:) && instr '<metric name="BLOCKED_COUNT"/><site id="/local"/>' &&
		bed_until grows && d=$(ran 'task/*/status' voluntary_ctxt_switches:) && [ "$(number)" -le $((d - a)) ] &&
		instr '<metric name="HEAP_MEM_USAGE"/><metric name="NON_HEAP_MEM_USAGE"/><site id="/local"/>' && value p2 && a=$(ran status RssAnon:) && b=$(ran status RssFile:) &&
		awk -v heap="$a" -v other="$b" -F'value="' '{ split($2, x, "\""); split($3, y, "\""); exit !(x[1] > heap * 512 && x[1] < heap * 2048 && y[1] > other * 512) }' <<<"$answer" &&
		instr '<metric name="CPU_TIME"/><metric name="BLOCKED_TIME"/><thread id="?"/>' && value p3 && grep -q '/rank0/t0"' <<<"$answer" && grep -q '/rank1/others"' <<<"$answer" &&
		asks_end || { echo "$answer"; return 1; }
}

# One thread of each process calls it. "?": those who do have a value; "*": all, of whoever has called it last.
all_are_not_those_who_execute() {
	local region='<codeRegion from="MPI_Allreduce"/><metric name="WC_TIME"/>'

	asks --run wind && instr "$region<thread id=\"?\"/>" && instr "$region<thread id=\"*\"/>" &&
		bed_until value_has p1 2 && [ "$(grep -o '/t[0-9]*"' <<<"$answer" | sort -u)" = '/t0"' ] &&
		ask '<ctrlreq action="VALUE"><probe id="p1"/><probe id="p2"/></ctrlreq>' '^<measurement>' &&
		[ "$(grep -o 'threadId=' <<<"$answer" | wc -l)" -eq 6 ] && [ "$(grep -o '<measurement' <<<"$answer" | wc -l)" -eq 9 ] &&
		bed_until value_has p2 4 && [ "$(grep -o ' value="[^"]*"' <<<"$answer" | sort -u | wc -l)" -eq 1 ] &&
		asks_end || { echo "$answer"; return 1; }
}

value_has() {
	value "$1" && [ "$(grep -o ' value=' <<<"$answer" | wc -l)" -eq "$2" ]
}

file_has() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# The maximum so far, several times; and each value that is new.
values_are_delivered() {
	mkdir out && asks --run wind --deliver "$tap_dir/out" &&
		instr "<codeRegion from='p2p'/><metric name='WC_TIME'/><measuring delivery='100' destination='file://$tap_dir/out/most'><aggregate function='MAXIMUM'/></measuring>" &&
		instr "<codeRegion from='p2p'/><metric name='CALLS'/><measuring delivery='-1' destination='file://$tap_dir/out/each'/><site id='/local'/>" &&
		bed_until file_has out/most 4 && bed_until file_has out/each 3 && asks_end &&
		answers_are_valid out/most && answers_are_valid out/each || return
	sed -n 's/.* threadId="[^"]*" value="\([0-9.]*\)"\/>$/\1/p' out/most >values
	[ -s values ] && sort -gc values
}

# However often a request says: values are taken and delivered five times a second at most, and a file has 1 GiB.
what_is_delivered_is_bounded() {
	local document='<instrreq activated="true" flush="true"><codeRegion from="p2p"/><metric name="CALLS"/><measuring interval="1" delivery="%s" destination="%s"/></instrreq>\n' \
		begun=${EPOCHREALTIME/./} name n

	rm -f out/often out/each && truncate -s 1G out/full && printf "$document" 1 "file://$tap_dir/out/often" -1 "file://$tap_dir/out/each" 1 "file://$tap_dir/out/full" >documents &&
		bed_start bounded evspace mir documents --run wind --deliver "$tap_dir/out" --linger 10m || return
	is_full() { grep -qxF "evspace mir: file://$tap_dir/out/full: it has 1 GiB, which is the most; what comes waits, up to 1024 KiB" "$bed_dir/bounded.err"; }
	bed_until file_has out/often 3 && bed_until file_has out/each 3 && bed_until is_full &&
		[ "$(grep -c '^<probe' "$bed_dir/bounded.out")" -eq 3 ] || { cat "$bed_dir/bounded".*; return 1; }
	bed_kill TERM bounded
	for name in often each; do
		n=$(wc -l <"out/$name")
		[ "$n" -le $(((${EPOCHREALTIME/./} - begun) / 200000 + 1)) ] || { echo "$name: $n"; return 1; }
	done
	[ "$(stat -c %s out/full)" -eq $((1 << 30)) ] && rm out/full
}

# Whoever names so many would hold up everybody, and take the memory of all.
values_are_bounded() {
	local many

	many=$(seq -f '<process id="/a/b/rank%.0f"/>' 1024 | tr -d '\n')
	{
		yes "<instrreq><metric name='CALLS'/><metric name='NET_BLOCKED_RECV'/><metric name='NET_SEND'/><metric name='NET_RECV'/><metric name='NET_BYTES_SEND'/><metric name='NET_BYTES_RECV'/><metric name='NET_INIT'/><metric name='NET_END'/><metric name='CPU_TIME'/><metric name='BLOCKED_TIME'/><metric name='CONTEXT_SWITCHES'/>$many</instrreq>" | head -n 50
		echo "<ctrlreq action='VALUE'>$(seq -f '<probe id="p%g"/>' 50 | tr -d '\n')</ctrlreq>"
	} >documents
	mir 1 --run wind <documents && [ "$(grep -c '^<probe' answers)" -eq 50 ] && tail -n 1 answers | grep -q 'more than 524288 values; name fewer probes'
}

# Without the folder, outside of it, through a link.
destinations_are_below_a_folder() {
	local document='<instrreq><metric name="CALLS"/><measuring delivery="1" destination="%s"/></instrreq>\n'

	mkdir -p out && ln -s "$tap_dir" out/link
	{
		printf "$document" "file://$tap_dir/out/../a" "file://$tap_dir/a" "file://$tap_dir/out/link/a" "file:///etc/passwd" \
			"http://127.0.0.1/" "file://$tap_dir/outside" "file://$tap_dir/out/%2e%2e/a" "file://$tap_dir/out/./a" "file://$tap_dir/out//a"
	} >documents
	mir 1 --run wind --deliver "$tap_dir/out" <documents && [ "$(grep -c '^<errors>' answers)" -eq 9 ] && [ ! -e a ] && [ ! -e outside ] && [ ! -e out/a ] &&
		mir 1 --run wind <documents && [ "$(grep -c 'deliver DIR' answers)" -eq 9 ] || return
	tap_says 2 'deliver out: write the whole path' evspace mir - --run wind --deliver out <documents || return
	# no lines of their own in the log
	printf "$document" "unix:$tap_dir/out/a&#10;audit" "file://$tap_dir/out/a&#x9b;b" "file://$tap_dir/out/a&#x202e;b" "element:a&#x7f;" >documents
	echo '<instrreq><codeRegion from="user:a&#x2066;b"/><metric name="CALLS"/></instrreq>' >>documents
	mir 1 --run wind --deliver "$tap_dir/out" <documents && [ "$(grep -c 'control characters; leave them out' answers)" -eq 5 ] || return
	printf "$document" $(seq -f "unix:$tap_dir/out/n%g" 129) >documents
	mir 1 --run wind --deliver "$tap_dir/out" <documents && [ "$(grep -c '^<probe' answers)" -eq 128 ] &&
		tail -n 1 answers | grep -q 'there are 128 destinations, and 128 of them are yours: no tool has more than what it leaves for others'
}

wrong_probes_are_refused() {
	mir 1 --run wind <<-'EOF' && answered 'no metric &quot;FOO&quot;; write one of WC_TIME' 'GC_COUNT: .*--catalogue' 'add a codeRegion' \
		'no region &quot;c1&quot;' 'no region &quot;c2&quot;' 'take it from a snapshot' 'events and metrics are no one probe' 'no metric; write one' \
		'no probe &quot;p9&quot;' 'too large' 'for WC_TIME alone' 'THREAD_COUNT has no region' 'NET_SEND is not that from one region to another' 'HEAP_MEM_USAGE is not that of a thread' 'CPU_TIME is not that of a communicator' 'did you mean MPI_Barrier[?]'
		<instrreq><metric name="FOO"/></instrreq>
		<instrreq><metric name="GC_COUNT"/></instrreq>
		<instrreq><metric name="WC_TIME"/></instrreq>
		<instrreq><codeRegion from="c1"/><metric name="WC_TIME"/></instrreq>
		<instrreq><codeRegion from="p2p" to="c2"/><metric name="WC_TIME"/></instrreq>
		<instrreq><metric name="CALLS"/><thread id="1045"/></instrreq>
		<instrreq><metric name="CALLS"/><event/></instrreq>
		<instrreq><thread id="*"/></instrreq>
		<ctrlreq action="VALUE"><probe id="p9"/></ctrlreq>
		<instrreq><metric name="CALLS"/><measuring interval="99999999999999999999"/></instrreq>
		<instrreq><codeRegion from="p2p"/><metric name="CALLS"/><thread id="*"/></instrreq>
		<instrreq><codeRegion from="p2p"/><metric name="THREAD_COUNT"/></instrreq>
		<instrreq><codeRegion from="p2p" to="MPI_Barrier"/><metric name="NET_SEND"/></instrreq>
		<instrreq><metric name="HEAP_MEM_USAGE"/><thread id="?"/></instrreq>
		<instrreq><metric name="CPU_TIME"/><communicator id="?"/></instrreq>
		<instrreq><codeRegion from="MPI_Barier"/><metric name="CALLS"/></instrreq>
	EOF
}

wind_begins() {
	bed_start wind evspace run --run wind -- mpirun -np 2 "$top_builddir/tests/apps/windtunnel" --threads 2 --seconds 600 --pause 5 --check 10
	bed_until wind_blows && world=$(sed -n 's/.*communicator id="\([0-9a-f]*\)".*/\1/p' answers) && [ "${#world}" -eq 8 ]
}

# While probes measure, the log says at times what that costs, and snapshots always.
cost_is_told() {
	{
		echo '<instrreq activated="true" flush="true"><codeRegion from="MPI_Allreduce"/><metric name="CALLS"/></instrreq>'
		sleep 13
		echo '<snapshotreq/>'
	} | timeout 60 evspace mir - --run wind >answers 2>err
	answered '<probe' '<[?]cost looks_per_s="[0-9.]*" slowdown="[0-9.]*" low="[0-9.]*" high="[0-9.]*"[?]>' &&
		sed -n 2p answers | xmllint --nonet --noout --schema "$schema" - 2>xmllint.err &&
		grep -q '^evspace mir: [0-9.]* looks a second; slowdown about' err && [ "$(wc -l <err)" -eq 1 ] || { cat answers err; return 1; }
}

# All of it for one view of probes, then a half for each of two.
budget_is_kept() {
	{
		echo '<instrreq activated="true" flush="true"><codeRegion from="MPI_Allreduce"/><metric name="CALLS"/></instrreq>'
		sleep 2
		echo '<instrreq activated="true" flush="true"><codeRegion from="MPI_Send"/><metric name="NET_SEND"/><measuring><aggregate function="SUM"/></measuring></instrreq>'
		sleep 3
	} | timeout 60 evspace mir - --lenient --run wind --budget 0.4% >answers 2>err
	grep -q 'budget 0.4 %.*: up to [0-9.]* waves a second' err && grep -q 'budget 0.2 %.*: up to [0-9.]* waves a second' err && { [ "$(grep -c '<probe' answers)" -eq 2 ] || { cat answers err; return 1; }; } &&
		tap_says 2 'with ,collect probes would lack events' evspace mir - --budget 1%,collect || { cat answers err; return 1; }
}

wind_blows() {
	mir 0 --run wind <<<'<snapshotreq/>' && [ "$(count '//node//thread')" -eq 4 ]
}

stuck_begins || exit 99
tap_case "a snapshot has the sites, nodes, processes, threads and communicators of a program" snapshot_is_the_program
tap_case "names are there where they are asked for" names_only_where_asked
tap_case "stacks say where threads wait, as deep as asked" stacks_are_as_deep_as_asked
tap_case "all who ask for stacks at once have them" many_have_stacks
tap_case "threads whose stacks cannot be read say why" untraceable_ones_say_why
tap_case "what is wrong is told with line, column, element and remedy, and does not end it" wrong_ones_do_not_end_it
tap_case "strict: the words of the grammar" by_strict_rules
tap_case "lenient: the words of the examples, too" by_lenient_rules
tap_case "a document that is not well formed does not spoil the next one" as_the_report_has_them
tap_case "document types, and what they lead to, are refused" document_types_are_off
tap_memory "documents that are too large are refused in little memory" large_ones_take_bounded_memory
tap_case "a run that is not there is said" no_run_is_said
bed_kill INT stuck
tap_case "many threads hold up no agent, and what is not read is told" many_threads_are_bounded
tap_case "values of probes are what events say" measured_is_what_happened
tap_case "regions that a program says itself are measured by their names" regions_are_measured
tap_case "wrong usage is said" wrong_usage_is_said
wind_begins || exit 99
tap_case "probes wait for a flush, are switched, reset, changed and removed" probes_are_controlled
tap_case "the report's example: threads of the processes of a communicator" threads_are_counted
tap_case "the report's other examples are answered" examples_are_answered
tap_case "processor time is what the kernel has counted" time_is_the_kernels
tap_case "waits and memory are what the kernel has counted" waits_and_memory_are_the_kernels
tap_case "* is all there are, ? those who execute" all_are_not_those_who_execute
tap_case "values are delivered to files" values_are_delivered
tap_case "what is delivered is bounded" what_is_delivered_is_bounded
tap_case "values of many probes at once are bounded" values_are_bounded
tap_case "destinations are below the folder that was said" destinations_are_below_a_folder
tap_case "what probes cost the program is told" cost_is_told
tap_case "a budget is kept by probes, too" budget_is_kept
tap_case "what cannot be measured is refused" wrong_probes_are_refused
tap_case "the catalogue says what is measured" tap_says 0 '^NET_SEND  *ms .*; of all entities, .*; cost: ' evspace mir --catalogue
if /usr/bin/python3 -c 'import xmlschema' 2>/dev/null; then
	tap_case "another validator takes the schema, and all answers" schema_is_one
else
	tap_skip "another validator takes the schema, and all answers" "needs python3-xmlschema"
fi
tap_done
