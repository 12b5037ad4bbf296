! SPDX-License-Identifier: BSD-3-Clause
! One-sided operations from Fortran, in every kind of epoch, on windows made in every way.
#include "door.inc"

subroutine all_windows()
  implicit none

  call fenced()
  call locked()
  call posted()
  call allocated_ones()
end subroutine all_windows

subroutine fenced()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 8
  integer, volatile :: memory(N), out(N), got(N)
  integer :: i, rc
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at
  T_WIN :: win

  memory = [(rank * 10 + i, i = 1, N)]
  out = [(rank * 100 + i, i = 1, N)]
  got = 0
  bytes = 4 * N
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, rc)
  call said('MPI_Win_create', rc)
  call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, rc)
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, rc)
  call said('MPI_Win_fence', rc)
  at = 0
  call MPI_Put(out, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, win, rc)
  call said('MPI_Put', rc)
  at = 2
  call MPI_Accumulate(out, 2, MPI_INTEGER, left, at, 2, MPI_INTEGER, MPI_SUM, win, rc)
  call said('MPI_Accumulate', rc)
  call MPI_Win_fence(0, win, rc)
  call said_ints('MPI_Put, MPI_Accumulate', memory)
  at = 0
  call MPI_Get(got, N, MPI_INTEGER, right, at, N, MPI_INTEGER, win, rc)
  call said('MPI_Get', rc)
  call MPI_Win_fence(0, win, rc)
  call said_ints('MPI_Get', got)
  at = 4
  call MPI_Get_accumulate(out, 1, MPI_INTEGER, got, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, &
    MPI_SUM, win, rc)
  call said('MPI_Get_accumulate', rc)
  call MPI_Win_fence(0, win, rc)
  at = 5
  call MPI_Fetch_and_op(out(1), got(2), MPI_INTEGER, left, at, MPI_REPLACE, win, rc)
  call said('MPI_Fetch_and_op', rc)
  call MPI_Win_fence(0, win, rc)
  at = 6
  call MPI_Compare_and_swap(out(1), out(2), got(3), MPI_INTEGER, left, at, win, rc)
  call said('MPI_Compare_and_swap', rc)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, rc)
  call said_ints('fetched', got(1:3))
  call said_ints('at the end', memory)
  call MPI_Put(out, 2, MPI_INTEGER, size, at, 2, MPI_INTEGER, win, rc)
  call said('MPI_Put to a wrong rank', rc)
  call MPI_Win_free(win, rc)
  call said('MPI_Win_free', rc)
  call said_flag('is null', win == MPI_WIN_NULL)
end subroutine fenced

subroutine locked()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, parameter :: N = 8
  integer, volatile :: memory(N), out(N), got(N)
  integer :: i, rc
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at
  T_WIN :: win
  T_REQUEST :: r(2)

  memory = 0
  out = [(rank * 100 + i, i = 1, N)]
  got = 0
  bytes = 4 * N
  at = 0
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win, rc)
  call said('MPI_Win_lock', rc)
  call MPI_Put(out, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, win, rc)
  call MPI_Win_flush(right, win, rc)
  call said('MPI_Win_flush', rc)
  call MPI_Get(got, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, win, rc)
  call MPI_Win_flush_local(right, win, rc)
  call said('MPI_Win_flush_local', rc)
  call MPI_Win_unlock(right, win, rc)
  call said('MPI_Win_unlock', rc)
  call said_ints('locked', got)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call MPI_Win_lock_all(0, win, rc)
  call said('MPI_Win_lock_all', rc)
  at = 2
  call MPI_Rput(out, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, r(1), rc)
  call said('MPI_Rput', rc)
  at = 3
  call MPI_Raccumulate(out, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, MPI_SUM, win, r(2), rc)
  call said('MPI_Raccumulate', rc)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, rc)
  call MPI_Win_flush_all(win, rc)
  call said('MPI_Win_flush_all', rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  at = 0
  call MPI_Rget(got, 4, MPI_INTEGER, right, at, 4, MPI_INTEGER, win, r(1), rc)
  call said('MPI_Rget', rc)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, rc)
  at = 5
  call MPI_Rget_accumulate(out, 1, MPI_INTEGER, got(8), 1, MPI_INTEGER, right, at, 1, &
    MPI_INTEGER, MPI_SUM, win, r(1), rc)
  call said('MPI_Rget_accumulate', rc)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, rc)
  call MPI_Win_flush_local_all(win, rc)
  call said('MPI_Win_flush_local_all', rc)
  call MPI_Win_sync(win, rc)
  call said('MPI_Win_sync', rc)
  call MPI_Win_unlock_all(win, rc)
  call said('MPI_Win_unlock_all', rc)
  call MPI_Barrier(MPI_COMM_WORLD, rc)
  call said_ints('got', got)
  call said_ints('at the end', memory)
  call MPI_Win_free(win, rc)
end subroutine locked

subroutine posted()
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  integer, volatile :: memory(2), out(2)
  integer :: rc, tested
  logical :: flag
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at
  T_WIN :: win
  T_GROUP :: world, from, to

  memory = 0
  out = [rank, 5]
  bytes = 8
  at = 0
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, rc)
  call MPI_Comm_group(MPI_COMM_WORLD, world, rc)
  call MPI_Group_incl(world, 1, [left], from, rc)
  call MPI_Group_incl(world, 1, [right], to, rc)
  do tested = 0, 1
    call MPI_Win_post(from, 0, win, rc)
    call said('MPI_Win_post', rc)
    call MPI_Win_start(to, 0, win, rc)
    call said('MPI_Win_start', rc)
    call MPI_Put(out, 2, MPI_INTEGER, right, at, 2, MPI_INTEGER, win, rc)
    call MPI_Win_complete(win, rc)
    call said('MPI_Win_complete', rc)
    if (tested == 0) then
      call MPI_Win_wait(win, rc)
      call said('MPI_Win_wait', rc)
    else
      flag = .false.
      do while (.not. flag)
        call MPI_Win_test(win, flag, rc)
      end do
    end if
    call said_ints('posted', memory)
  end do
  call MPI_Group_free(from, rc)
  call MPI_Group_free(to, rc)
  call MPI_Group_free(world, rc)
  call MPI_Win_free(win, rc)
end subroutine posted

subroutine allocated_ones()
  USE_MPI
  use say
#if defined(DOOR_F08)
  use, intrinsic :: iso_c_binding, only: c_ptr
#endif
  implicit none
  INCLUDE_MPI
  integer, volatile :: out(1), got(1), memory(4)
  integer :: rc
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at
  T_BASE :: base
  T_INFO :: info
  T_WIN :: win

  bytes = 16
  at = 1
  out = rank + 70
  got = 0
  memory = 0
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, rc)
  call said('MPI_Win_allocate', rc)
  call MPI_Win_fence(0, win, rc)
  call MPI_Put(out, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, rc)
  call MPI_Win_fence(0, win, rc)
  call MPI_Get(got, 1, MPI_INTEGER, rank, at, 1, MPI_INTEGER, win, rc)
  call MPI_Win_fence(0, win, rc)
  call said_ints('allocated', got)
  call MPI_Win_free(win, rc)
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, rc)
  call said('MPI_Win_allocate_shared', rc)
  call MPI_Win_fence(0, win, rc)
  call MPI_Win_free(win, rc)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, rc)
  call said('MPI_Win_create_dynamic', rc)
  call MPI_Info_create(info, rc)
  call MPI_Win_set_info(win, info, rc)
  call said('MPI_Win_set_info', rc)
  call MPI_Info_free(info, rc)
  call MPI_Win_attach(win, memory, bytes, rc)
  call said('MPI_Win_attach', rc)
  call MPI_Get_address(memory, at, rc)
  call MPI_Sendrecv_replace(at, 1, MPI_AINT, left, 1, right, 1, MPI_COMM_WORLD, &
    MPI_STATUS_IGNORE, rc)
  call MPI_Win_fence(0, win, rc)
  call MPI_Put(out, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, win, rc)
  call MPI_Win_fence(0, win, rc)
  call said_ints('dynamic', memory)
  call MPI_Win_detach(win, memory, rc)
  call said('MPI_Win_detach', rc)
  call MPI_Win_free(win, rc)
end subroutine allocated_ones
