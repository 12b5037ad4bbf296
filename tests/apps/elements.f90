! SPDX-License-Identifier: BSD-3-Clause
! Reads the element `answer`, and writes and reads `step`, in Fortran (evspace-element.f90).
program elements
  use, intrinsic :: iso_c_binding
  use evspace_element
  implicit none

  type, bind(C) :: step
    integer(c_int64_t) :: n
    real(c_double) :: residual
  end type step
  type, bind(C) :: only
    integer(c_int32_t) :: n
  end type only

  type(evspace_element_plan) :: plan
  type(evspace_element_handle) :: in, out, other
  type(evspace_element_tuple) :: about
  type(step) :: s
  type(only) :: answer
  character(len=200) :: why
  integer(c_int64_t) :: i
  integer :: status

  in = evspace_element_open(evspace_element_plan(name='answer', fields='n i32', bytes=c_sizeof(answer)), status, why)
  call must(status == 0)
  call evspace_element_next(in, answer, about, 0, status)
  call must(status == 1)
  print '(a, i0, a, i0)', 'answer ', answer%n, ' is number ', about%number
  call evspace_element_next(in, answer, about, 0, status)
  call must(status == 0)
  call evspace_element_close(in)

  plan = evspace_element_plan(name='step', fields='n i64, residual f64', bytes=c_sizeof(s), capacity=3)
  out = evspace_element_make(plan, status, why)
  call must(status == 0)
  do i = 1, 5
    call evspace_element_write(out, step(i, 2d0**(-i)), status)
    call must(status == 0)
  end do
  in = evspace_element_open(plan, status)
  call must(status == 0)
  call evspace_element_newest(in, s, about, status)
  call must(status == 1 .and. about%number == 4)
  print '(a, i0, 1x, f7.5)', 'newest: ', s%n, s%residual
  call evspace_element_at(in, 2_c_int64_t, s, about, status)
  call must(status == 1)
  print '(a, i0)', 'third: ', s%n
  call evspace_element_at(in, 0_c_int64_t, s, about, status)
  call must(status == 0)

  ! what is wrong is said
  other = evspace_element_open(evspace_element_plan(name='step', fields='n i32'), status, why)
  call must(status == -1)
  print '(a)', trim(why)
  ! `other` is not open, and soon nothing is
  call evspace_element_write(other, s, status)
  call must(status == -1)
  call evspace_element_close(other)
  call evspace_element_close(in)
  call evspace_element_close(out)
  call evspace_element_write(out, s, status)
  call must(status == -1)
  call evspace_element_next(in, s, about, 0, status)
  call must(status == -1 .and. about%lost == 0)
  call evspace_element_at(in, 0_c_int64_t, s, about, status)
  call must(status == -1)
  call evspace_element_newest(in, s, about, status)
  call must(status == -1)
contains
  subroutine must(fine)
    logical, intent(in) :: fine

    if (fine) return
    print '(2a)', 'failed: ', trim(why)
    error stop 1
  end subroutine must
end program elements
