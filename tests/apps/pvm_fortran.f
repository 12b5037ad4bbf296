C SPDX-License-Identifier: BSD-3-Clause
C A PVM program in Fortran 77: two tasks exchange messages and meet in a group; each prints to a
C file of its own what it has called, as tests/apps/pvm_counts.h has it.
      program pvmf
      implicit none
      include 'fpvm3.h'
      integer tid, parent, other, numt, info, bufid, i, inst, polls
      integer ints(8), bytes, tag, from, sum
      double precision doubles(4)
      character*256 dir, path
      external PvmSum

      call getarg(1, dir)
      call getarg(0, path)
      call pvmfmytid(tid)
      call check(tid)
      call pvmfparent(parent)
      if (parent .lt. 0) then
        call pvmfcatchout(0, info)
        open(7, file=trim(dir)//'/dir')
        write(7, '(a)') trim(dir)
        close(7)
        call pvmfspawn('pvm_fortran', PVMTASKDEFAULT, '*', 1, other,
     &    numt)
        if (numt .ne. 1) call check(-1)
        call pvmfinitsend(PVMRAW, bufid)
        call pvmfpack(STRING, dir, 256, 1, info)
        call check(info)
        call pvmfsend(other, 1, info)
        call check(info)
      else
        other = parent
        call pvmfrecv(parent, 1, bufid)
        call check(bufid)
        call pvmfunpack(STRING, dir, 256, 1, info)
        call check(info)
      end if

      do i = 1, 8
        ints(i) = i * i
      end do
      do i = 1, 4
        doubles(i) = 0.5d0 * i
      end do
      call pvmfinitsend(PVMRAW, bufid)
      call pvmfpack(INTEGER4, ints, 8, 1, info)
      call check(info)
      call pvmfpack(REAL8, doubles, 4, 1, info)
      call check(info)
      call pvmfsend(other, 2, info)
      call check(info)
      polls = 0
 10   call pvmfnrecv(other, 2, bufid)
      call check(bufid)
      if (bufid .eq. 0) then
        polls = polls + 1
        goto 10
      end if
      call pvmfbufinfo(bufid, bytes, tag, from, info)
      if (bytes .ne. 64 .or. tag .ne. 2) call check(-1)
      call pvmfunpack(INTEGER4, ints, 8, 1, info)
      call check(info)
      call pvmfunpack(REAL8, doubles, 4, 1, info)
      call check(info)
      sum = ints(7) + ints(8)
      if (ints(8) .ne. 64 .or. doubles(4) .ne. 2d0) call check(-1)
      call pvmfpsend(other, 3, doubles, 4, REAL8, info)
      call check(info)
      call pvmfprecv(other, 3, doubles, 4, REAL8, from, tag, bytes,
     &  info)
      call check(info)

      call pvmfjoingroup('pairs', inst)
      call check(inst)
      call pvmfbarrier('pairs', 2, info)
      call check(info)
      call pvmfreduce(PvmSum, ints, 8, INTEGER4, 4, 'pairs', 0, info)
      call check(info)
      call pvmfbarrier('pairs', 2, info)
      call check(info)
      if (inst .eq. 0 .and. ints(8) .ne. 128) call check(-1)
      call pvmflvgroup('pairs', info)
      call check(info)

      write(path, '(a,a,z5.5)') trim(dir), '/counts.', tid
      open(8, file=path)
      if (parent .lt. 0) then
        call line(tid, 'pvm_mytid', 1, 0)
        call line(tid, 'pvm_spawn', 1, 0)
        call line(tid, 'pvm_pkbyte', 1, 256)
        call line(tid, 'pvm_send', 2, 320)
      else
        call line(tid, 'pvm_mytid', 1, 0)
        call line(tid, 'pvm_recv', 1, 256)
        call line(tid, 'pvm_upkbyte', 1, 256)
        call line(tid, 'pvm_send', 1, 64)
      end if
      call line(tid, 'pvm_pkint', 1, 32)
      call line(tid, 'pvm_pkdouble', 1, 32)
      call line(tid, 'pvm_nrecv', 1, 64)
      call line(tid, 'pvm_upkint', 1, 32)
      call line(tid, 'pvm_upkdouble', 1, 32)
      call line(tid, 'pvm_psend', 1, 32)
      call line(tid, 'pvm_precv', 1, 32)
      call line(tid, 'pvm_joingroup', 1, 0)
      call line(tid, 'pvm_barrier', 2, 0)
      call line(tid, 'pvm_reduce', 1, 32)
      call line(tid, 'pvm_lvgroup', 1, 0)
      call line(tid, 'pvm_exit', 1, 0)
      close(8)
      write(path, '(a,a,z5.5)') trim(dir), '/polls.', tid
      open(8, file=path)
      write(8, '(i0,1x,i0)') tid, polls
      close(8)
      call pvmfexit(info)
      if (parent .lt. 0) write(*, '(a,i0)') 'sum ', sum
      end

      subroutine check(info)
      integer info
      if (info .lt. 0) then
        write(0, '(a,i0)') 'pvm_fortran: not so: ', info
        stop 1
      end if
      end

      subroutine line(tid, op, calls, bytes)
      integer tid, calls, bytes
      character*(*) op
      write(8, '(a,i0,a,a,a,i0,a,i0,a)') '{"rank":', tid, ',"op":"',
     &  op, '","calls":', calls, ',"bytes":', bytes, '}'
      end
