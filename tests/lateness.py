# SPDX-License-Identifier: BSD-3-Clause
# Of the collectives in `evspace events --json` (stdin): what `evspace colop --json` (the files named) must say of them, by the
# definitions (docs/collectives.md), with all events at hand. Prints what differs, and then exits with 1; else one line a file.
# Times of several hosts may be moved within what their clocks may be off: so much may differ.
import json
import statistics
import sys

ALL = {'MPI_Barrier', 'MPI_Allreduce', 'MPI_Allgather', 'MPI_Allgatherv', 'MPI_Alltoall', 'MPI_Alltoallv', 'MPI_Alltoallw',
       'MPI_Reduce_scatter', 'MPI_Reduce_scatter_block'}
FOR_ROOT = {'MPI_Bcast', 'MPI_Scatter', 'MPI_Scatterv'}
BY_ROOT = {'MPI_Reduce', 'MPI_Gather', 'MPI_Gatherv'}
SCAN = {'MPI_Scan', 'MPI_Exscan'}
KEYS = ('operations', 'bytes', 'spread', 'inside', 'waited')


def operations():
    """Of each communicator and number the parts of its members, by their start."""
    parts = {}
    for line in sys.stdin:
        e = json.loads(line)
        if e.get('type') == 'tuple' and e['end_ns'] and e['comm'] and not (e['running'] or e['completion'] or e['failed']):
            parts.setdefault((e['comm'], e['seq_or_tag']), []).append(e)
    places = {}
    for (comm, _), members in parts.items():
        places.setdefault(comm, set()).update(m['rank'] for m in members)
    for (comm, number), members in parts.items():
        size = members[0]['comm_size'] or len(places[comm])
        if len(members) == size:
            members.sort(key=lambda m: (m['start_ns'], m['rank']))
            for m in members:
                m['host'] = m['name'].split('/')[2]
                m['place'] = sorted(places[comm]).index(m['rank'])
            yield comm, number, members


def bound(a, b):
    return 0 if a['host'] == b['host'] else a['error_ns'] + b['error_ns']


def causes(op, members):
    """Who is awaited, and for each member whom it waits for, by their places in the list; None: nobody."""
    n = range(len(members))
    root = members[0]['root']
    if op in ALL:
        awaited = list(n)
        return awaited, [awaited[-1]] * len(members)
    if op in FOR_ROOT or op in BY_ROOT:
        awaited = [i for i in n if (members[i]['place'] == root) == (op in FOR_ROOT)]
        last = awaited[-1] if awaited else None
        return awaited, [last if op in FOR_ROOT or i not in awaited else None for i in n]
    if op in SCAN:
        return list(n), [max((k for k in n if members[k]['place'] < members[i]['place']), default=None) for i in n]
    return [], [None] * len(members)


class Kind:
    """Sums over the operations of one kind, and over those of each rank."""

    def __init__(self, size):
        self.size, self.sums, self.off, self.most, self.ranks = size, dict.fromkeys(KEYS, 0), 0, 0, {}

    def rank(self, rank):
        return self.ranks.setdefault(rank, {'caused': 0, 'waited': 0, 'sure': 0, 'possible': 0, 'late': []})

    def take(self, op, members):
        first, last = members[0], members[-1]
        off = 2 * max(m['error_ns'] for m in members) + 4
        awaited, waits_for = causes(op, members)
        self.off = max(self.off, off)
        self.sums['operations'] += 1
        self.sums['bytes'] += sum(m['bytes'] for m in members)
        self.sums['spread'] += last['start_ns'] - first['start_ns']
        self.sums['inside'] += max(m['end_ns'] for m in members + [{'end_ns': last['start_ns']}]) - last['start_ns']
        self.most = max(self.most, last['start_ns'] - first['start_ns'] - bound(first, last))
        for i, m in enumerate(members):
            cause = waits_for[i]
            self.rank(m['rank'])
            if cause is None or cause == i:
                continue
            by = members[cause]
            ns = min(by['start_ns'], m['end_ns']) - m['start_ns']
            if ns > bound(m, by):
                self.sums['waited'] += ns
                self.rank(m['rank'])['waited'] += ns
                self.rank(by['rank'])['caused'] += ns
        self.judge(members, awaited, off)

    def judge(self, members, awaited, off):
        """Who came last of those that are awaited, as far as clocks can tell."""
        if not awaited or len(members) < 2:
            return
        last = members[awaited[-1]]
        others = sorted(m['start_ns'] for m in members if m is not last)
        late = (2 * last['start_ns'] - others[(len(others) - 1) // 2] - others[len(others) // 2]) / 2
        before = members[awaited[-2]] if len(awaited) > 1 else None
        least = bound(last, before) if before else max(bound(last, m) for m in members)
        ahead = last['start_ns'] - before['start_ns'] if before else late
        close = [members[i] for i in awaited if members[i]['start_ns'] >= last['start_ns'] - 2 * off]
        if ahead > least:
            self.rank(last['rank'])['late'].append(late)
        self.rank(last['rank'])['sure'] += len(close) == 1 and ahead > least + 2 * off
        for m in close:
            self.rank(m['rank'])['possible'] += ahead > -2 * off


def low(times, n, z):
    """The lower end of Wilson's interval."""
    p = times / n
    return (p + z * z / 2 / n - z * (p * (1 - p) / n + z * z / 4 / n / n) ** 0.5) / (1 + z * z / n)


class Said:
    def __init__(self, path, kinds, whole, span):
        rows = [json.loads(line) for line in open(path)]
        self.rows = {t: [r for r in rows if r['type'] == t] for t in ('class', 'member', 'often', 'summary')}
        self.path, self.kinds, self.whole, self.span, self.wrong = path, kinds, whole, span, []

    def differs(self, what, said, wanted, off=0.0):
        if not wanted - off <= said <= wanted + off:
            self.wrong.append(f'{self.path}: {what}: {said}, not {wanted} (+- {off})')

    @staticmethod
    def key(row):
        return row['comm'], row['op'], row['bytes_below']

    def check(self):
        self.differs('operations', self.rows['summary'][0]['whole'], self.whole)
        for row in self.rows['class']:
            kind = self.kinds.get(self.key(row))
            if kind:
                self.check_kind(row, kind)
            elif row['comm']:
                self.wrong.append(f'{self.path}: there is no {self.key(row)}')
        self.check_others()
        self.check_often()

    def check_kind(self, row, kind):
        key, n = self.key(row), kind.sums['operations']
        waits = n * kind.size * 2 * kind.off
        self.differs((key, 'operations'), row['operations'], n)
        self.differs((key, 'bytes'), row['bytes'], kind.sums['bytes'])
        self.differs((key, 'spread_ns'), row['spread_ns'], kind.sums['spread'] / n, kind.off)
        self.differs((key, 'most_ns'), row['most_ns'], kind.most, 2 * kind.off)
        self.differs((key, 'inside_ns'), row['inside_ns'], kind.sums['inside'] / n, kind.off)
        self.differs((key, 'waited_ns'), row['waited_ns'], kind.sums['waited'], waits)
        for m in (m for m in self.rows['member'] if self.key(m) == key):
            own = kind.rank(m['rank'])
            self.differs((key, m['rank'], 'waited_ns'), m['waited_ns'], own['waited'], waits)
            self.differs((key, m['rank'], 'caused_ns'), m['caused_ns'], own['caused'], waits)
            if not own['sure'] <= m['times'] <= own['possible']:
                self.wrong.append(f'{self.path}: {key} rank {m["rank"]}: {m["times"]} times, not {own["sure"]} to {own["possible"]}')

    def check_others(self):
        """Communicators that come and go are told of together: their sums are those of all of this form."""
        for row in (r for r in self.rows['class'] if not r['comm']):
            form = (row['op'], row['bytes_below'], row['members'])
            mine = [k for key, k in self.kinds.items() if (key[1], key[2], k.size) == form]
            said = [r for r in self.rows['class'] if (r['op'], r['bytes_below'], r['members']) == form]
            self.differs((form, 'operations'), sum(r['operations'] for r in said), sum(k.sums['operations'] for k in mine))
            self.differs((form, 'waited_ns'), sum(r['waited_ns'] for r in said), sum(k.sums['waited'] for k in mine),
                         sum(k.sums['operations'] * k.size * 2 * k.off for k in mine))

    def check_often(self):
        z = statistics.NormalDist().inv_cdf(1 - 0.01 / (1 + len(self.rows['member'])) / 2)
        found = {(self.key(f), f['rank']): f for f in self.rows['often']}
        for key, kind in self.kinds.items():
            n = kind.sums['operations']
            for rank, own in kind.ranks.items():
                f, cost = found.get((key, rank)), own['caused'] / self.span
                if not f and cost > 0.0011 and own['sure'] and low(own['sure'], n, z) > 1 / kind.size + 0.01 and \
                        any(self.key(r) == key for r in self.rows['class']):
                    self.wrong.append(f'{self.path}: rank {rank} is late in {key}, {own["sure"]} times of {n}, and not found')
                if not f:
                    continue
                late = sorted(own['late'])
                self.differs((key, rank, 'cost_share'), f['cost_share'], cost, cost / 100 + 1e-5)
                if low(own['possible'], n, z) <= 1 / kind.size:
                    self.wrong.append(f'{self.path}: rank {rank} is not late in {key}: {own["possible"]} times of {n}')
                if len(late) > 5 and not late[len(late) // 10] - kind.off <= f['late_ns'] <= late[-1 - len(late) // 10] + kind.off:
                    self.wrong.append(f'{self.path}: rank {rank} in {key}: late by {f["late_ns"]}, not by about {statistics.median(late)}')


def main():
    kinds, whole, begin, end, ranks = {}, 0, None, 0, set()
    for comm, _, members in operations():
        op = members[0]['op']
        below = 1 << max(m['bytes'] for m in members).bit_length()
        kinds.setdefault((comm, op, below), Kind(len(members))).take(op, members)
        whole += 1
        begin = min(begin or members[0]['start_ns'], members[0]['start_ns'])
        end = max(end, max(m['end_ns'] for m in members))
        ranks.update(m['rank'] for m in members)
    failed = whole == 0
    for path in sys.argv[1:]:
        said = Said(path, kinds, whole, (end - begin) * len(ranks))
        said.check()
        print(*said.wrong[:20], sep='\n')
        waited = sum(k.sums['waited'] for k in kinds.values())
        off = sum(k.sums['operations'] * k.size * 2 * k.off for k in kinds.values())
        print(f'{path}: {whole} operations of {len(kinds)} kinds, waited {waited / 1e9:.3f} s, of which clocks may hide {off / 1e9:.6f} s; '
              f'{len(said.rows["often"])} late often')
        failed = failed or said.wrong or off > waited / 10
    sys.exit(1 if failed else 0)


main()
