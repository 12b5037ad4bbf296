! SPDX-License-Identifier: BSD-3-Clause
! A program's own elements from Fortran: as evspace-element.h, which says what each function does, for any compiler
! with the standard's type(*). Compile it with the program (the file is in pkg-config's includedir), and link -levspace-element.
!
!	use, intrinsic :: iso_c_binding
!	use evspace_element
!	type, bind(C) :: step
!	  integer(c_int64_t) :: iteration
!	  real(c_double) :: residual
!	end type step
!	type(evspace_element_plan) :: plan
!	type(evspace_element_handle) :: out
!
!	plan = evspace_element_plan(name='residual', fields='iteration i64, residual f64')
!	out = evspace_element_make(plan, status, why)
!	call evspace_element_write(out, step(n, r), status)
!	call evspace_element_close(out)
!
! A status is that of C: 0 or 1 for what went well, -1 for what did not, as with an element that is not open. Blanks at
! the end of a text do not count.
module evspace_element
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: evspace_element_make, evspace_element_open, evspace_element_close, evspace_element_write, &
    evspace_element_next, evspace_element_at, evspace_element_newest

  integer, parameter, public :: EVSPACE_ELEMENT_TEXT = 1408

  ! Which element, and what it is to be; without a value: the default.
  type, public :: evspace_element_plan
    character(len=64) :: name = '', run = ''
    character(len=EVSPACE_ELEMENT_TEXT) :: fields = ''
    integer(c_size_t) :: bytes = 0
    integer(c_int32_t) :: capacity = 0
    integer(c_int) :: wait_ms = 0
  end type evspace_element_plan

  ! An element that is open.
  type, public :: evspace_element_handle
    private
    type(c_ptr) :: to = c_null_ptr
  end type evspace_element_handle

  ! What is known of a tuple besides its fields.
  type, bind(C), public :: evspace_element_tuple
    integer(c_int64_t) :: number, lost, time_ns
  end type evspace_element_tuple

  ! struct evspace_element_plan
  type, bind(C) :: plan_of_c
    type(c_ptr) :: name, run, fields
    integer(c_size_t) :: bytes
    integer(c_int32_t) :: capacity
    integer(c_int) :: wait_ms
  end type plan_of_c

  interface
    function c_make(plan, why, n) bind(C, name='evspace_element_make')
      import :: c_ptr, c_char, c_size_t, plan_of_c
      type(plan_of_c), intent(in) :: plan
      character(kind=c_char), intent(inout) :: why(*)
      integer(c_size_t), value :: n
      type(c_ptr) :: c_make
    end function c_make
    function c_open(plan, why, n) bind(C, name='evspace_element_open')
      import :: c_ptr, c_char, c_size_t, plan_of_c
      type(plan_of_c), intent(in) :: plan
      character(kind=c_char), intent(inout) :: why(*)
      integer(c_size_t), value :: n
      type(c_ptr) :: c_open
    end function c_open
    subroutine c_close(element) bind(C, name='evspace_element_close')
      import :: c_ptr
      type(c_ptr), value :: element
    end subroutine c_close
    function c_write(element, tuple) bind(C, name='evspace_element_write')
      import :: c_ptr, c_int
      type(c_ptr), value :: element
      type(*), intent(in) :: tuple
      integer(c_int) :: c_write
    end function c_write
    function c_next(element, tuple, about, timeout_ms) bind(C, name='evspace_element_next')
      import :: c_ptr, c_int, evspace_element_tuple
      type(c_ptr), value :: element
      type(*), intent(inout) :: tuple
      type(evspace_element_tuple), intent(out) :: about
      integer(c_int), value :: timeout_ms
      integer(c_int) :: c_next
    end function c_next
    function c_at(element, number, tuple, about) bind(C, name='evspace_element_at')
      import :: c_ptr, c_int, c_int64_t, evspace_element_tuple
      type(c_ptr), value :: element
      integer(c_int64_t), value :: number
      type(*), intent(inout) :: tuple
      type(evspace_element_tuple), intent(out) :: about
      integer(c_int) :: c_at
    end function c_at
    function c_newest(element, tuple, about) bind(C, name='evspace_element_newest')
      import :: c_ptr, c_int, evspace_element_tuple
      type(c_ptr), value :: element
      type(*), intent(inout) :: tuple
      type(evspace_element_tuple), intent(out) :: about
      integer(c_int) :: c_newest
    end function c_newest
  end interface

contains

  ! @to: a copy for C, NULL if there is none to be made.
  function text_of_c(text, copy) result(to)
    character(len=*), intent(in) :: text
    character(kind=c_char), intent(inout), target :: copy(EVSPACE_ELEMENT_TEXT + 1)
    type(c_ptr) :: to
    integer :: i

    to = c_null_ptr
    do i = 1, min(len_trim(text), EVSPACE_ELEMENT_TEXT)
      copy(i) = text(i:i)
    end do
    copy(min(len_trim(text), EVSPACE_ELEMENT_TEXT) + 1) = c_null_char
    if (len_trim(text) > 0) to = c_loc(copy)
  end function text_of_c

  function element_get(plan, status, why, writes) result(element)
    type(evspace_element_plan), intent(in) :: plan
    integer, intent(out) :: status
    character(len=*), intent(out), optional :: why
    logical, intent(in) :: writes
    type(evspace_element_handle) :: element
    character(kind=c_char), target :: name(EVSPACE_ELEMENT_TEXT + 1), run(EVSPACE_ELEMENT_TEXT + 1), &
      fields(EVSPACE_ELEMENT_TEXT + 1)
    character(kind=c_char) :: said(512)
    type(plan_of_c) :: c
    integer :: i

    c = plan_of_c(text_of_c(plan%name, name), text_of_c(plan%run, run), text_of_c(plan%fields, fields), &
      plan%bytes, plan%capacity, plan%wait_ms)
    said = c_null_char
    if (writes) then
      element%to = c_make(c, said, size(said, kind=c_size_t))
    else
      element%to = c_open(c, said, size(said, kind=c_size_t))
    end if
    status = merge(0, -1, c_associated(element%to))
    if (.not. present(why)) return
    why = ''
    do i = 1, min(len(why), size(said))
      if (said(i) == c_null_char) return
      why(i:i) = said(i)
    end do
  end function element_get

  function evspace_element_make(plan, status, why) result(element)
    type(evspace_element_plan), intent(in) :: plan
    integer, intent(out) :: status
    character(len=*), intent(out), optional :: why
    type(evspace_element_handle) :: element

    element = element_get(plan, status, why, .true.)
  end function evspace_element_make

  function evspace_element_open(plan, status, why) result(element)
    type(evspace_element_plan), intent(in) :: plan
    integer, intent(out) :: status
    character(len=*), intent(out), optional :: why
    type(evspace_element_handle) :: element

    element = element_get(plan, status, why, .false.)
  end function evspace_element_open

  subroutine evspace_element_close(element)
    type(evspace_element_handle), intent(inout) :: element

    call c_close(element%to)
    element%to = c_null_ptr
  end subroutine evspace_element_close

  subroutine evspace_element_write(element, tuple, status)
    type(evspace_element_handle), intent(in) :: element
    type(*), intent(in) :: tuple
    integer, intent(out) :: status

    status = -1
    if (c_associated(element%to)) status = c_write(element%to, tuple)
  end subroutine evspace_element_write

  ! @timeout_ms: -1 for ever.
  subroutine evspace_element_next(element, tuple, about, timeout_ms, status)
    type(evspace_element_handle), intent(in) :: element
    type(*), intent(inout) :: tuple
    type(evspace_element_tuple), intent(out) :: about
    integer, intent(in) :: timeout_ms
    integer, intent(out) :: status

    status = -1
    about = evspace_element_tuple(0, 0, 0)
    if (c_associated(element%to)) status = c_next(element%to, tuple, about, int(timeout_ms, c_int))
  end subroutine evspace_element_next

  subroutine evspace_element_at(element, number, tuple, about, status)
    type(evspace_element_handle), intent(in) :: element
    integer(c_int64_t), intent(in) :: number
    type(*), intent(inout) :: tuple
    type(evspace_element_tuple), intent(out) :: about
    integer, intent(out) :: status

    status = -1
    about = evspace_element_tuple(0, 0, 0)
    if (c_associated(element%to)) status = c_at(element%to, number, tuple, about)
  end subroutine evspace_element_at

  subroutine evspace_element_newest(element, tuple, about, status)
    type(evspace_element_handle), intent(in) :: element
    type(*), intent(inout) :: tuple
    type(evspace_element_tuple), intent(out) :: about
    integer, intent(out) :: status

    status = -1
    about = evspace_element_tuple(0, 0, 0)
    if (c_associated(element%to)) status = c_newest(element%to, tuple, about)
  end subroutine evspace_element_newest
end module evspace_element
