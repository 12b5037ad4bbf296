# SPDX-License-Identifier: BSD-3-Clause
# evspace mir about a program on two clusters: whose threads are where, what hosts that do not answer are called, sums over all.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

schema=$top_srcdir/consumers/mir/mir.xsd

bed_begin
bed_agents front ga a0 a1 b0 b1 || exit 99
cd "$tap_dir" || exit 99

mir() {
	timeout 60 evspace mir - --connect "$bed_entry" --run tunnel "$@" >answers 2>err && [ ! -s err ] || { cat err answers; return 1; }
	[ "$(wc -l <answers)" -ne 1 ] || xmllint --nonet --noout --schema "$schema" answers 2>xmllint.err || { cat xmllint.err; return 1; }
}

# where: "THREAD" of each, as the snapshot nests them.
where() {
	xmllint --xpath '//site/node/process/thread/@id' answers | sed 's/.*"\(.*\)"/\1/' | sort
}

snapshot_has_both_clusters() {
	mir <<<'<snapshotreq named="true"/>' && [ "$(where | tr '\n' ' ')" = \
		'/A/a0/rank0/t0 /A/a0/rank0/t1 /A/a1/rank1/t0 /A/a1/rank1/t1 /B/b0/rank2/t0 /B/b0/rank2/t1 /B/b1/rank3/t0 /B/b1/rank3/t1 ' ] &&
		[ "$(xmllint --xpath 'count(//site[@id="/B"]/node[@id="/B/b1" and @name="b1"]/process[@id="/B/b1/rank3"])' answers)" = 1 ] &&
		[ "$(xmllint --xpath 'count(/snapshot/processing-instruction("ended"))' answers)" = 1 ] &&
		[ "$(xmllint --xpath 'count(/snapshot/communicator[@name="MPI_COMM_WORLD"]/process)' answers)" = 4 ]
}

only_b1_is_missing() {
	mir <<<'<snapshotreq/>' && xmllint --xpath '//processing-instruction("missing")' answers | grep -qxE '<[?]missing host="/B/b1" why="(late|unreachable)"[?]>' && [ "$(where | wc -l)" -ge 6 ]
}

# The others are there, though nobody has stopped it; where the machine has much to do, others may be late now and then.
the_missing_is_named() {
	kill -STOP "$(bed_pid b1)"
	bed_until only_b1_is_missing
	set -- $?
	kill -CONT "$(bed_pid b1)"
	[ "$1" -eq 0 ] || { cat answers; return 1; }
}

# sums: what each site, node and process has called, and all.
sums_are_exact() {
	local of

	for of in '' '<site id="*"/>' '<node id="*"/>' '<process id="*"/>'; do
		echo "<instrreq activated=\"true\" flush=\"true\"><metric name=\"CALLS\"/>${of:-<measuring><aggregate function=\"SUM\"/></measuring>}</instrreq>"
	done >requests
	for of in 1 2 3 4; do
		echo "<ctrlreq action=\"VALUE\"><probe id=\"p$of\"/></ctrlreq>"
	done >values
	mkfifo both
	mir --wait <both &
	set -- $!
	exec 3>both
	cat requests >&3
	bed_until has_answers 4 || { cat err answers; return 1; }
	bed_start tunnel evspace run --pathmap "$bed_dir/maps" --run tunnel --threads 2 -- mpirun -np 4 \
		"$top_builddir/tests/apps/windtunnel" --threads 2 --steps 60 --pause 10
	bed_wait tunnel && bed_ended tunnel 0 || return
	cat values >&3
	exec 3>&-
	wait "$1" || { cat err answers; return 1; }
	evspace events --connect "$bed_entry" --run tunnel --backlog --until-end --json 2>err >events && grep -q ' 0 lost' err || { cat err; return 1; }
	/usr/bin/python3 - <<-'END'
		import json, collections, xml.etree.ElementTree as ET
		calls = [json.loads(l) for l in open('events')]
		calls = [c['name'] for c in calls if c['type'] == 'tuple' and not c['completion']]
		answers = [ET.fromstring(l) for l in list(open('answers'))[4:]]
		def said(tree, key): return {m.get(key): int(m.get('value')) for m in tree.iter('measurement') if m.get('value')}
		def true(parts): return dict(collections.Counter('/'.join(n.split('/')[:parts + 1]) for n in calls))
		assert said(answers[0], 'siteId') == {None: len(calls)}, (answers[0].attrib, len(calls))
		for tree, key, parts in zip(answers[1:], ('siteId', 'nodeId', 'processId'), (1, 2, 3)):
		    assert said(tree, key) == true(parts), (said(tree, key), true(parts))
	END
}

has_answers() {
	[ "$(wc -l <answers)" -ge "$1" ]
}

touch answers
tap_case "sums over sites, nodes and processes are those of all events" sums_are_exact
tap_case "a snapshot of an ended run has the threads of both clusters where they were, and says so" snapshot_has_both_clusters
tap_case "a host that does not answer is named, the others are there" the_missing_is_named
tap_done
