# SPDX-License-Identifier: BSD-3-Clause
# What tests of MIR have in common: answers are valid; SIR is asked for, and what is in the answer.

schema=$top_srcdir/consumers/mir/mir.xsd

# An agent answers, and the test is in its folder.
mir_begin() {
	bed_begin
	bed_start agent evspace agent
	bed_until bed_ready agent
	cd "$tap_dir" || exit 99
}

# sir FILE...: the answer is in `answer`, and is valid; `options` are those of evspace mir.
sir() {
	local file

	{
		echo '<sirreq>'
		for file; do echo "<resource in='file://$file'/>"; done
		echo '</sirreq>'
	} | timeout 100 evspace mir - "${options[@]}" >answer 2>err && [ ! -s err ] || { cat err answer; return 1; }
	xmllint --huge --nonet --noout --schema "$schema" answer 2>xmllint.err || { cat xmllint.err; return 1; }
}

# regions TYPE [FORMAT]: "NAME LINE LAST" of each, or what FORMAT says, sorted.
regions() {
	/usr/bin/python3 - "$@" <<-'EOT' | sort
		import sys, xml.etree.ElementTree as ET
		for r in ET.parse('answer').iter('codeRegion'):
		    p = r.find('position')
		    if r.get('type') == sys.argv[1]:
		        print((sys.argv + ['{name} {first} {last}'])[2].format(id=r.get('id'), name=r.get('name'), first=p.get('startLine'), last=p.get('endLine')))
	EOT
}

# answers_are_valid FILE [LEAST [MOST]]: one a line; LEAST there are at least, and MOST are looked at.
answers_are_valid() {
	local line n=0

	while read -r line && [ $((n += 1)) -le "${3:-1000000}" ]; do
		xmllint --nonet --noout --schema "$schema" - <<<"$line" 2>xmllint.err || { cat xmllint.err; echo "$line"; return 1; }
	done <"$1"
	[ "$n" -ge "${2:-0}" ]
}
