! SPDX-License-Identifier: BSD-3-Clause
! The conformance suite in Fortran: as the one in C, by the door that it is compiled for.
! Usage: suite FOLDER [threads | spawn]: by MPI_Init_thread, or else by MPI_Init; what spawns
! processes for itself, or all the rest.
#include "door.inc"

program suite
  USE_MPI
  use say
  implicit none
  INCLUDE_MPI
  T_COMM :: parent
  integer :: rc, provided
  character(len=16) :: option

  call get_command_argument(0, program)
  call get_command_argument(1, folder)
  call get_command_argument(2, option)
  if (option == 'threads') then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, rc)
  else
    call MPI_Init(rc)
  end if
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, rc)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, rc)
  call MPI_Comm_size(MPI_COMM_WORLD, size, rc)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  call MPI_Comm_get_parent(parent, rc)
  if (parent == MPI_COMM_NULL) then
    call parts_run()
  else
    call report_open('/child')
    call across(parent, 0)
  end if
  call MPI_Finalize(rc)
  call said('MPI_Finalize', rc)
  close (10)

contains

  subroutine report_open(name)
    character(len=*), intent(in) :: name
    character(len=12) :: number

    write (number, '(i0)') rank
    open (10, file=trim(folder) // name // trim(number) // '.txt', status='replace')
  end subroutine report_open

  subroutine parts_run()
    call report_open('/rank')
    if (option == 'spawn') then
      call all_children()
      call all_ports()
      return
    end if
    call all_messages()
    call all_requests()
    call all_collectives()
    call all_communicators()
    call all_windows()
    call all_files()
  end subroutine parts_run

end program suite
