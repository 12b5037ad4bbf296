! SPDX-License-Identifier: BSD-3-Clause
! The same from Fortran: what tests/user/regions.c says in its first thread.
program regions
  use evspace
  use mpi
  implicit none
  type(evspace_told_budget) :: budget
  type(evspace_told_view) :: figures
  integer :: i, rc

  if (evspace_budget(budget)) stop 1
  call evspace_region('before', EVSPACE_BEGIN)
  call MPI_Init(rc)
  call evspace_phase('setup')
  call evspace_phase('solve   ')
  do i = 0, 4
    call evspace_region('exchange', EVSPACE_BEGIN)
    call MPI_Barrier(MPI_COMM_WORLD, rc)
    call evspace_region('exchange', EVSPACE_END)
    call evspace_iteration(i)
    call evspace_block(i)
  end do
  call evspace_phase('')
  if (evspace_budget(budget)) stop 1
  if (evspace_view_latest('events', figures)) stop 1
  call MPI_Finalize(rc)
  call evspace_region('after', EVSPACE_END)
  print '(a)', 'regions: fine'
end program regions
