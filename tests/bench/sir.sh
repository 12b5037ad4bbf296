#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The SIR of real programs against ctags and DWARF, and their sources written back: compiled, and with the same results.
#
#	tests/bench/sir.sh [--json] [--keep DIR]
#
# Sources are Debian's (apt-get source, so the network and some minutes): hpcc and netpipe in C, LAPACK, its tests and netcdf-fortran in
# Fortran, mumps in both. Of each, the functions that evspace mir has are compared with those of ctags, for all sources that are read, and
# with those of DWARF, for all that compile here: recall is the share of theirs that it has, precision that of its own that they have.
# Of ctags, what is not in DWARF of a source that compiles is left out: #if has done so. Pieces of sources that others include are left out, too.

set -u
top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
build=${top_builddir:-$top/build}
export PATH=$build:$PATH EVSPACE_LIBDIR=$build/.libs OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1
json=false keep=
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=true ;;
	--keep) keep=$2 && shift ;;
	*) echo "usage: sir.sh [--json] [--keep DIR]" >&2 && exit 2 ;;
	esac
	shift
done
work=${keep:-$(mktemp -d)}
[ -n "$keep" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" && cd "$work" || exit 1

# An apt of its own, with sources.
sources() {
	apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
		-o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@" >>"$work/apt.log" 2>&1
}

# Where a mirror lacks Debian's part of it, that of its authors is enough.
unpack() {
	[ -d "$1" ] && return
	sources source --download-only "$1"
	mkdir "$1" && tar -xf "$1"_*.orig.tar.* -C "$1" --strip-components=1 2>/dev/null || { rm -rf "$1"; return 1; }
}

if [ ! -e sources.list ]; then
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" >sources.list
	sources update || { cat apt.log >&2; exit 1; }
fi

cat >compare.py <<'EOT'
# compare.py NAME FLAGS JSON FILE...; or --write NAME FLAGS FROM OUT FILE...: functions get regions, and loops as far as probes go.
import json, os, re, subprocess, sys, xml.etree.ElementTree as ET
PROBES = 1000

def answers(requests, *options):
    done = subprocess.run(['evspace', 'mir', '-', *options], input='\n'.join(requests).encode(), stdout=subprocess.PIPE)
    return [ET.fromstring(line) for line in done.stdout.splitlines()]

def functions(files, flags):
    have, unread = {}, 0
    for file, answer in zip(files, answers(["<sirreq><resource in='file://%s'/></sirreq>" % f for f in files], '--flags', flags)):
        if answer.tag == 'errors':
            unread += 1
            print(file, answer[0].text, file=sys.stderr)
            continue
        units = [u for u in answer.iter('unit') if u.get('name') == os.path.realpath(file)]
        have[file] = {(r.get('name'), int(r.find('position').get('startLine'))) for u in units for r in u.iter('codeRegion') if r.get('type') == 'subprogram'}
    return have, unread

is_c = lambda file: file.endswith('.c')

def ctags(file):
    kinds = ['--language-force=C', '--kinds-C=f'] if is_c(file) else ['--language-force=Fortran', '--kinds-Fortran=fsp']
    out = subprocess.run(['ctags', '-x', '--_xformat=%N %n', *kinds, file], stdout=subprocess.PIPE).stdout.decode(errors='replace')
    return {(n if is_c(file) else n.lower(), int(l)) for n, l in (line.rsplit(' ', 1) for line in out.splitlines())}

# Subprograms with code, as readelf shows them; None: it does not compile.
def dwarf(file, flags):
    compiler = ['mpicc', '-w'] if is_c(file) else ['gfortran', '-w', '-J.']
    if subprocess.run([*compiler, *flags.split(), '-g', '-O0', '-c', '-o', 'part.o', file], stderr=subprocess.DEVNULL).returncode != 0:
        return None
    out = subprocess.run(['readelf', '-wi', 'part.o'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode(errors='replace')
    found, at, said = set(), None, {}
    def note():
        if at == 'DW_TAG_subprogram' and 'low_pc' in said and 'decl_line' in said and (is_c(file) or not re.match('main$|__', said['name'])):
            found.add((said['name'], int(said['decl_line'])))
    for line in out.splitlines():
        if m := re.search(r'Abbrev Number: \d+ \((\w+)\)', line):
            note()
            at, said = m.group(1), {}
        elif m := re.search(r'DW_AT_(name|decl_line|low_pc) *: *(?:\(.*?\): )?(.*?)\s*$', line):
            said.setdefault(m.group(1), m.group(2))
    note()
    return found

def share(n, of): return n / of if of else 1.0

def compare(name, flags, as_json, files):
    ours, unread = functions(files, flags)
    row = {'case': 'sir', 'program': name, 'files': len(files), 'unread': unread}
    for who in 'ctags', 'dwarf':
        mine = theirs = both = n = 0
        for file in ours:
            there = ctags(file) if who == 'ctags' else dwarf(file, flags)
            if there is None:
                continue
            if who == 'ctags' and (compiled := dwarf(file, flags)) is not None:
                there &= compiled | ours[file]
            n += 1
            mine, theirs, both = mine + len(ours[file]), theirs + len(there), both + len(ours[file] & there)
            for f in sorted(ours[file] ^ there):
                print(who, 'lacks' if f in ours[file] else 'has', f, file, file=sys.stderr)
        row[who] = {'files': n, 'functions': theirs, 'ours': mine, 'recall': round(share(both, theirs), 4), 'precision': round(share(both, mine), 4)}
    if as_json == 'true':
        print(json.dumps(row), flush=True)
        return
    for who in 'ctags', 'dwarf':
        print('%-16s %-6s %4d files, %5d functions, %5d of ours: recall %.4f, precision %.4f' % (name, who, row[who]['files'], row[who]['functions'], row[who]['ours'], row[who]['recall'], row[who]['precision']), flush=True)

def write(name, flags, source, out, files):
    os.makedirs(out, exist_ok=True)
    sir = "<sirreq>%s</sirreq>" % ''.join("<resource in='file://%s' out='file://%s/%s'/>" % (f, out, os.path.basename(f)) for f in files)
    wanted = {'subprogram': [], 'loop': []}
    for r in answers([sir], '--write', out, '--flags', flags)[0].iter('codeRegion'):
        if r.get('type') in wanted:
            wanted[r.get('type')].append(r.get('id'))
    ids = wanted['subprogram'] + wanted['loop'][:max(0, PROBES - 1 - len(wanted['subprogram']))]
    got = answers([sir] + ["<instrreq><codeRegion from='%s'/><metric name='CALLS'/></instrreq>" % i for i in ids] + ["<instrreq flush='true'><measuring interval='1'/></instrreq>"], '--write', out, '--flags', flags)
    refused = set(re.findall(r'around ([0-9a-f]{8}-[0-9-]+)', ' '.join(e.text for a in got for e in a.iter('error'))))
    rounds = 0
    while got[-1].tag == 'errors' and refused and rounds < 60:
        rounds += 1
        ids = [i for i in ids if i not in refused]
        got = answers([sir] + ["<instrreq><codeRegion from='%s'/><metric name='CALLS'/></instrreq>" % i for i in ids] + ["<instrreq flush='true'><measuring interval='1'/></instrreq>"], '--write', out, '--flags', flags)
        more = set(re.findall(r'around ([0-9a-f]{8}-[0-9-]+)', ' '.join(e.text for a in got for e in a.iter('error'))))
        refused |= more
    print('%-16s written back: %d sources, %d regions, %d refused%s' % (name, len(files), len(ids), len(refused), '' if got[-1].tag == 'measurement' else '; ' + ' '.join(e.text for e in got[-1].iter('error'))[:300]), flush=True)
    sys.exit(got[-1].tag != 'measurement')

if sys.argv[1] == '--write':
    write(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], sys.argv[6:])
else:
    compare(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
EOT

# program NAME FLAGS FILE...: compares it; FLAGS are those of the compiler.
program() {
	local name=$1 flags=$2

	shift 2
	/usr/bin/python3 compare.py "$name" "$flags" "$json" "$@" 2>>differences
}

# same NAME PLAIN WRITTEN: what both have said.
same() {
	if [ -s "$2" ] && cmp -s "$2" "$3"; then
		printf '%-16s the same results: %d lines\n' "$1" "$(wc -l <"$2")"
	else
		printf '%-16s OTHER results\n' "$1" && diff "$2" "$3" | head -5
	fi
}

region=$top/node-agent/collect/core
mpi=$(mpicc --showme:compile 2>/dev/null)

# LAPACK's own tests of its double precision, of sources with a region around each function, and of those without.
lapack_written() {
	local set=("$work"/lapack/SRC/dge[qt]*.f "$work"/lapack/TESTING/LIN/d{chkaa.F,chkge.f,drvge.f,get0*.f}) other file folder

	/usr/bin/python3 compare.py --write lapack -std=legacy "$work" "$work/lapack-written" "${set[@]}" 2>>differences || return
	other=($(ls "$work"/lapack/TESTING/LIN/{al*,chkxer,icopy,ilaenv,xlaenv,xerbla}.f "$work"/lapack/TESTING/LIN/d*.f "$work"/lapack/TESTING/MATGEN/d*.f |
		grep -vE '/(dchkab|dchkrfp|ddrvrf.|derrrfp|derrab|dget0.*|dchkge|ddrvge|ddrv(gb|ge|po|sy)x|derr(ge|po|sy)x|derrvxx|debchvxx)\.f$'))
	mkdir -p objects && (cd objects && gfortran -w -std=legacy -O1 -c "${other[@]}" && gfortran -c "$region/evspace.f90") || return
	for folder in plain written; do
		mkdir -p "lapack-$folder.o"
		for file in "${set[@]}"; do
			[ $folder = plain ] || file=$work/lapack-written/${file##*/}
			gfortran -w -std=legacy -O1 -Iobjects -I"$work/lapack/TESTING/LIN" -c -o "lapack-$folder.o/${file##*/}.o" "$file" || return
		done
		gfortran -o "lapack-$folder.exe" lapack-$folder.o/*.o objects/*.o -llapack -lblas -ldl || return
		timeout 300 ./"lapack-$folder.exe" <"$work/lapack/TESTING/dtest.in" 2>&1 | grep -v 'Total time' >"lapack-$folder.out"
	done
	same lapack lapack-plain.out lapack-written.out
}

hpcc_written() {
	local set=($(find "$work/hpcc" -name '*.c' | grep -v hpl/testing/ptest/HPL_pddriver.c | sort)) flags="$mpi -DAdd_ -DF77_INTEGER=int -DStringSunStyle -I$work/hpcc/include -I$work/hpcc/hpl/include" folder file

	/usr/bin/python3 compare.py --write hpcc "$flags" "$work" "$work/hpcc-written" "${set[@]}" 2>>differences || return
	for folder in plain written; do
		mkdir -p "hpcc-$folder.o"
		for file in "${set[@]}"; do
			[ $folder = plain ] || set -- -iquote "${file%/*}" && [ $folder = plain ] || file=$work/hpcc-written/${file##*/}
			mpicc -w -O1 $flags -I"$region" "$@" -c -o "hpcc-$folder.o/${file##*/}.o" "$file" || return
		done
		mpicc -o "hpcc-$folder.exe" hpcc-$folder.o/*.o -lblas -lm -ldl || return
		mkdir -p "hpcc-$folder.run" && sed 's/^1000 /200 /' hpcc/_hpccinf.txt >"hpcc-$folder.run/hpccinf.txt"
		(cd "hpcc-$folder.run" && timeout 300 mpirun --allow-run-as-root -np 4 "$work/hpcc-$folder.exe" >/dev/null 2>&1)
		grep -hiE 'passed|failed|residual|success|errors' "hpcc-$folder.run/hpccoutf.txt" | grep -viE 'time|gflop|gb/s|seconds' >"hpcc-$folder.out"
	done
	same hpcc hpcc-plain.out hpcc-written.out
}

unpack hpcc && program hpcc "$mpi -DAdd_ -DF77_INTEGER=int -DStringSunStyle -I$work/hpcc/include -I$work/hpcc/hpl/include" $(find "$work/hpcc" -name '*.c' | sort)
unpack netpipe && program netpipe "$mpi -I$work/netpipe/src -DMPI" "$work"/netpipe/src/*.c
unpack lapack && program lapack "-std=legacy" "$work"/lapack/SRC/dg*.f "$work"/lapack/TESTING/LIN/d*.f
unpack netcdf-fortran && program netcdf-fortran "-I$work/netcdf-fortran/fortran" $(ls "$work"/netcdf-fortran/fortran/netcdf*_*.f90 | grep -vE '(externals|visibility|constants)\.f90') "$work"/netcdf-fortran/nf_test/[^l]*.[fF]
unpack mumps && program mumps "$mpi -std=legacy -Dpord -Dmetis -Dscotch -DAdd_ -DMUMPS_ARITH=MUMPS_ARITH_d -I$work/mumps/include -I$work/mumps/src -I$work/mumps/PORD/include" "$work"/mumps/src/{d*,mumps*,ana*,fac*,sol*,tools*,lr*}.[cF] "$work"/mumps/PORD/lib/*.c
lapack_written
hpcc_written
