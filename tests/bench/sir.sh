#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The SIR of real programs against ctags and DWARF, and their sources written back: compiled, and with the same results.
#
#	tests/bench/sir.sh [--json] [--keep DIR] [--only PROGRAM]
#
# Sources are Debian's (apt-get source, so the network and some minutes): hpcc and netpipe in C, LAPACK, its tests and netcdf-fortran in
# Fortran, mumps in both. Of each, the functions that evspace mir has are compared with those of ctags, for all sources that are read, and
# with those of DWARF, for all that compile here: recall is the share of theirs that it has, precision that of its own that they have.
# Of ctags, what is not in DWARF of a source that compiles is left out: #if has done so. Pieces of sources that others include are left out, too.

set -u
top=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
build=${top_builddir:-$top/build}
export PATH=$build:$PATH EVSPACE_LIBDIR=$build/.libs OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1
json=false keep= only=
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=true ;;
	--keep) keep=$2 && shift ;;
	--only) only=$2 && shift ;;
	*) echo "usage: sir.sh [--json] [--keep DIR] [--only PROGRAM]" >&2 && exit 2 ;;
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
	ls "$1"_*.orig.tar.* >/dev/null 2>&1 || sources source --download-only "$1"
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
    compiler = ['mpicc', '-w'] if is_c(file) else ['gfortran', '-w', '-std=legacy', '-J.']
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

# built NAME COMPILER FLAGS LINK FILE...: NAME-written.exe of the files with a region around each function, and around loops, and NAME-plain.exe of those without.
built() {
	local name=$1 compiler=$2 flags=$3 link=$4 folder file from

	shift 4
	/usr/bin/python3 compare.py --write "$name" "$flags" "$work" "$work/$name-written" "$@" 2>>differences || return
	for folder in plain written; do
		mkdir -p "$name-$folder.o"
		for file; do
			from=$file
			[ $folder = plain ] || from=$work/$name-written/${file##*/}
			$compiler -w -O1 $flags -I"$region" -I"${file%/*}" -c -o "$name-$folder.o/${file##*/}.o" "$from" || return
		done
		$compiler -o "$name-$folder.exe" $name-$folder.o/*.o $link || return
	done
}

# ran NAME COMMAND...: what both programs print, PROGRAM in the command, each in a folder of its own, without times.
ran() {
	local name=$1 folder

	shift
	for folder in plain written; do
		mkdir -p "$name-$folder.run"
		(cd "$name-$folder.run" && timeout 600 bash -c "${*//PROGRAM/$work/$name-$folder.exe}" 2>&1) >"$name-$folder.out"
	done
	same "$name" "$name-plain.out" "$name-written.out"
}

mpirun="mpirun --allow-run-as-root -np"

# LAPACK's own tests of its double precision.
lapack_written() {
	local other lin=$work/lapack/TESTING/LIN

	other=($(ls "$lin"/{al*,chkxer,icopy,ilaenv,xlaenv,xerbla}.f "$lin"/d*.f "$work"/lapack/TESTING/MATGEN/d*.f |
		grep -vE '/(dchkab|dchkrfp|ddrvrf.|derrrfp|derrab|dget0.*|dchkge|ddrvge|ddrv(gb|ge|po|sy)x|derr(ge|po|sy)x|derrvxx|debchvxx)\.f$'))
	mkdir -p objects && (cd objects && gfortran -w -std=legacy -O1 -c "${other[@]}" && gfortran -c "$region/evspace.f90") || return
	built lapack gfortran "-std=legacy -Iobjects" "objects/*.o -llapack -lblas -ldl" "$work"/lapack/SRC/dge[qt]*.f "$lin"/d{chkaa.F,chkge.f,drvge.f,get0*.f} &&
		ran lapack "PROGRAM <$work/lapack/TESTING/dtest.in | grep -v 'Total time'"
}

# Its own checks of results.
hpcc_written() {
	built hpcc mpicc "$mpi $hpcc_flags" "-lblas -lm -ldl" $(find "$work/hpcc" -name '*.c' | grep -v hpl/testing/ptest/HPL_pddriver.c | sort) &&
		ran hpcc "sed 's/^1000 /200 /' $work/hpcc/_hpccinf.txt >hpccinf.txt; $mpirun 4 PROGRAM >/dev/null; grep -hiE 'passed|failed|success|errors' hpccoutf.txt | grep -viE 'time|gflop|gb/s|seconds'"
}

# Its check that what comes is what was sent.
netpipe_written() {
	built netpipe mpicc "$mpi -DMPI" "-ldl" "$work"/netpipe/src/{netpipe,mpi}.c &&
		ran netpipe "$mpirun 2 PROGRAM -i -n 50 -u 10000 2>&1 | grep -a bytes"
}

# Its test in Fortran 77, which writes a file and reads it back; with netCDF's library in C (libnetcdf-dev).
netcdf_written() {
	local of=$work/netcdf-fortran objects=netcdf-objects

	mkdir -p $objects && (cd $objects && gfortran -c "$region/evspace.f90" && gcc -w -c -I"$of/libsrc" "$of"/fortran/nf_lib.c) || return
	built netcdf gfortran "$netcdf_flags -I$objects" "$objects/*.o ${NETCDF_LIBS--lnetcdf} -ldl" "$of"/nf_test/ftest.F \
		$(ls "$of"/fortran/nf_{attio,control,dim,fortv2,genatt,geninq,genvar,misc,var1io,varaio,vario,varmio,varsio}.[fF]90) &&
		ran netcdf "cp $of/nf_test/ref_fills.nc .; PROGRAM"
}

# The sparse solver, with its own ordering.
mumps_written() {
	local src=$work/mumps/src objects=mumps-objects pord=($work/mumps/PORD/lib/*.c)

	mkdir -p $objects && (cd $objects && gfortran -c "$region/evspace.f90") || return
	built mumps "mpif90 -std=legacy" "$mumps_flags -I$objects" "$objects/*.o -ldmumps -lmumps_common -lpord -lscalapack-openmpi -llapack -lblas -ldl" \
		"$work"/mumps/examples/dsimpletest.F "${pord[@]}" &&
		ran mumps "$mpirun 2 PROGRAM <$work/mumps/examples/input_simpletest_real | grep -A9 -i solution"
}

is_meant() {
	[ -z "$only" ] || [ "$only" = "$1" ]
}

# What its other sources use, and its build makes.
netcdf_modules() {
	local of=$work/netcdf-fortran/fortran file

	mkdir -p netcdf-modules && cat "$of"/netcdf{3,4,2}.inc >"$of/netcdf.inc"
	for file in typeSizes.f90 module_netcdf_{nc_data.F90,nc_interfaces.f90,nf_data.F90,nf_interfaces.F90} module_netcdf4_{nc_interfaces.f90,nf_interfaces.F90} module_netcdf_{fortv2_c_interfaces,f03}.f90 ../nf_test/module_tests.F90; do
		gfortran -w $netcdf_flags -Jnetcdf-modules -fsyntax-only "$of/$file" || return
	done
}

netcdf_flags="-cpp -DHAVE_TS29113_SUPPORT -DHAVE_F2008 -DNF_INT1_IS_C_SIGNED_CHAR=1 -DNF_INT2_IS_C_SHORT=1 -DNF_INT_IS_C_INT=1 -DNCBYTE_T=byte -DNCSHORT_T=integer*2 -DNF_INT1_T=byte -DNF_INT2_T=integer*2 -DSIZEOF_PTRDIFF_T=8 -fallow-argument-mismatch -I$work/netcdf-fortran/fortran -I$work/netcdf-modules"
hpcc_flags="-DHPL_NO_MPI_DATATYPE -DAdd_ -DF77_INTEGER=int -DStringSunStyle -I$work/hpcc/include -I$work/hpcc/hpl/include"
mumps_flags="$mpi -Dpord -DAdd_ -DMUMPS_ARITH=MUMPS_ARITH_d -I$work/mumps/include -I$work/mumps/src -I$work/mumps/PORD/include"

is_meant hpcc && unpack hpcc && program hpcc "$mpi $hpcc_flags" $(find "$work/hpcc" -name '*.c' | sort)
is_meant netpipe && unpack netpipe && program netpipe "$mpi -I$work/netpipe/src -DMPI" "$work"/netpipe/src/*.c
is_meant lapack && unpack lapack && program lapack "-std=legacy" "$work"/lapack/SRC/dg*.f "$work"/lapack/TESTING/LIN/d*.f
is_meant netcdf && unpack netcdf-fortran && netcdf_modules && program netcdf "$netcdf_flags" "$work"/netcdf-fortran/fortran/nf_{attio,control,dim,fortv2,genatt,geninq,genvar,misc,nc,nc4,var1io,varaio,vario,varmio,varsio}.*90 \
	$(ls "$work"/netcdf-fortran/fortran/netcdf*_*.f90 | grep -vE '(externals|visibility|constants)\.f90') "$work"/netcdf-fortran/nf_test/[^l]*.[fF]
# its build makes that one
is_meant mumps && unpack mumps && echo '#define MUMPS_INTSIZE32' >mumps/include/mumps_int_def.h && program mumps "$mumps_flags" "$work"/mumps/src/{d*,mumps*,ana*,fac*,sol*,tools*,lr*}.[cF] "$work"/mumps/PORD/lib/*.c
for written in hpcc netpipe lapack netcdf mumps; do
	! is_meant $written || ${written}_written || echo "$written: not written back, compiled and run" >&2
done
