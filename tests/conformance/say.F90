! SPDX-License-Identifier: BSD-3-Clause
! What the parts of the Fortran suite share: their place on a ring, and how they write down what
! they saw.
#include "door.inc"

module say
  implicit none
  integer :: rank, size, left, right
  character(len=400) :: folder, program

contains

  ! What a call returned: fine, or its error class.
  subroutine said(name, rc)
    USE_MPI
    implicit none
    INCLUDE_MPI
    character(len=*), intent(in) :: name
    integer, intent(in) :: rc
    integer :: class, ignored

    if (rc == MPI_SUCCESS) then
      write (10, '(a)') name // ': fine'
    else
      call MPI_Error_class(rc, class, ignored)
      write (10, '(a,i0)') name // ': error class ', class
    end if
  end subroutine said

  subroutine said_ints(name, numbers)
    character(len=*), intent(in) :: name
    integer, intent(in) :: numbers(:)

    write (10, '(a,*(1x,i0))') name // ':', numbers
  end subroutine said_ints

  subroutine said_flag(name, flag)
    character(len=*), intent(in) :: name
    logical, intent(in) :: flag

    write (10, '(a,l2)') name // ':', flag
  end subroutine said_flag

  subroutine said_status(name, st)
    USE_MPI
    implicit none
    INCLUDE_MPI
    character(len=*), intent(in) :: name
    STATUS(st)
    integer :: bytes, elements, rc

    call MPI_Get_count(st, MPI_BYTE, bytes, rc)
    call MPI_Get_elements(st, MPI_INTEGER, elements, rc)
    write (10, '(a,4(a,i0))') name, ': source ', SOURCE_OF(st), ' tag ', TAG_OF(st), &
      ' bytes ', bytes, ' elements ', elements
  end subroutine said_status

  ! Of a status from a file: bytes and elements alone, the rest is undefined.
  subroutine said_moved(name, rc, st)
    USE_MPI
    implicit none
    INCLUDE_MPI
    character(len=*), intent(in) :: name
    integer, intent(in) :: rc
    STATUS(st)
    integer :: bytes, ignored

    call said(name, rc)
    call MPI_Get_count(st, MPI_BYTE, bytes, ignored)
    write (10, '(a,i0)') name // ': bytes ', bytes
  end subroutine said_moved

  ! A number that tells from whom, what and where in the buffer, in all of @numbers.
  subroutine fill(numbers, from, what)
    integer, intent(out) :: numbers(:)
    integer, intent(in) :: from, what
    integer :: i

    numbers = [(from * 10007 + what * 101 + i, i = 1, ubound(numbers, 1))]
  end subroutine fill

end module say
