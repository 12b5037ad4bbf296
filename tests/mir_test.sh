# SPDX-License-Identifier: BSD-3-Clause
# evspace mir: requests of MIR about a program that runs; all answers are valid by the schema that is shipped.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

schema=$top_srcdir/consumers/mir/mir.xsd

bed_begin
bed_start agent evspace agent
bed_until bed_ready agent
cd "$tap_dir" || exit 99

# stuck: three ranks, two of which wait in a barrier at a line that is known, until it is killed.
stuck_begins() {
	bed_start stuck evspace run --run stuck -- mpirun -np 3 "$top_builddir/tests/apps/stuck" --seconds 600
	bed_until grep -q sleeps "$bed_dir/stuck.err" || { cat "$bed_dir/stuck.err"; return 1; }
}

# mir CODE OPTIONS...: what it answers to standard input is in `answers`, each line of which is valid.
mir() {
	local code=$1 got=0 line

	shift
	timeout 60 evspace mir - "$@" >answers 2>err || got=$?
	[ "$got" -eq "$code" ] && [ ! -s err ] || { echo "exit code $got, not $code"; cat err answers; return 1; }
	while read -r line; do
		xmllint --nonet --noout --schema "$schema" - <<<"$line" 2>xmllint.err ||
			{ cat xmllint.err; echo "$line"; return 1; }
	done <answers
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
		import sys, xmlschema
		schema = xmlschema.XMLSchema(sys.argv[1])
		assert schema.is_valid('<probe id="p1"/>') and not schema.is_valid('<probe/>')
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

# Where the two that wait are is known after 0.2 s.
stacks_are_where_they_wait() {
	mir 0 <<<'<snapshotreq stack="9"/>' && [ "$(count '//thread[stack[1] = "MPI_Barrier"][starts-with(stack[2], "stuck.c:")]')" -eq 2 ]
}

stacks_are_as_deep_as_asked() {
	bed_until stacks_are_where_they_wait && [ "$(count '//stack')" -eq 4 ] &&
		[ "$(count '//thread[stack]')" -eq 2 ] &&
		mir 0 <<<'<snapshotreq stack="1"/>' && [ "$(count '//stack')" -eq 2 ]
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

stuck_begins || exit 99
tap_case "a snapshot has the sites, nodes, processes, threads and communicators of a program" snapshot_is_the_program
tap_case "names are there where they are asked for" names_only_where_asked
tap_case "stacks say where threads wait, as deep as asked" stacks_are_as_deep_as_asked
tap_case "what is wrong is told with line, column, element and remedy, and does not end it" wrong_ones_do_not_end_it
tap_case "strict: the words of the grammar" by_strict_rules
tap_case "lenient: the words of the examples, too" by_lenient_rules
tap_case "a document that is not well formed does not spoil the next one" as_the_report_has_them
tap_case "document types, and what they lead to, are refused" document_types_are_off
tap_memory "documents that are too large are refused in little memory" large_ones_take_bounded_memory
tap_case "a run that is not there is said" no_run_is_said
tap_case "wrong usage is said" wrong_usage_is_said
if /usr/bin/python3 -c 'import xmlschema' 2>/dev/null; then
	tap_case "another validator takes the schema" schema_is_one
else
	tap_skip "another validator takes the schema" "needs python3-xmlschema"
fi
tap_done
