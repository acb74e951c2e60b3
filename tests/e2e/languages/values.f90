! Says of each call of a wrapped function, before it, what it passes: the addresses of what is passed by reference.
module passed
  use iso_c_binding
  implicit none
  integer(8) :: sum = 0
contains
  recursive function mixed(n, f, text, list, value, far) result(depth)
    integer, intent(in) :: n
    real(8), intent(in) :: f
    character(len=*), intent(in) :: text
    real, intent(in) :: list(:)
    integer, value :: value
    integer(8), value :: far
    integer :: depth, less
    real(8) :: more
    sum = sum + n + int(f) + len(text) + size(list) + value + mod(far, 1000_8)
    depth = value
    if (n <= 0) return
    less = n - 1
    more = f * 1.5d0
    write (*, '(a,z16.16,a,z16.16,a,i0,a,i0,a,i0)') 'CALL mixed n=0x', loc(less), ' f=0x', loc(more), ' value=', value + 1, &
      ' far=', far - 1, ' _text=', len(text) + 1
    depth = mixed(less, more, text//'x', list, value + 1, far - 1) + 1
  end function

  ! In C's way.
  subroutine plain(i, d, f, flag, small, far) bind(c)
    integer(c_int), value :: i
    real(c_double), value :: d
    real(c_float), value :: f
    logical(c_bool), value :: flag
    integer(c_int8_t), value :: small
    integer(c_int64_t), value :: far
    sum = sum + i + int(d) + int(f) + small + far
    if (flag) sum = sum + 1
  end subroutine

  ! The result is in memory, whose address and length come first.
  function text(source, n) result(made)
    character(len=*), intent(in) :: source
    integer, value :: n
    character(len=10) :: made
    n = n + 1
    sum = sum + n
    made = source
  end function

  complex(8) function turned(z, n)
    complex(8), value :: z
    integer, value :: n
    turned = z * n
  end function
end module

program values
  use passed
  implicit none
  integer :: n, i
  real :: list(3) = [1., 2., 3.]
  real(8) :: f = 1.25d0
  character(len=10) :: made
  n = 5
  write (*, '(a,z16.16,a,z16.16,a,i0,a,i0,a,i0)') 'CALL mixed n=0x', loc(n), ' f=0x', loc(f), ' value=', -7, ' far=', 2_8**62, &
    ' _text=', 3
  sum = sum + mixed(n, f, 'abc', list, -7, 2_8**62)
  do i = 0, 3
    write (*, '(a,i0,a,f0.6,a,f0.6,a,l1,a,i0,a,i0)') 'CALL plain i=', i, ' d=', i * 1.5d0, ' f=', i + 0.5, &
      ' flag=', mod(i, 2) == 0, ' small=', -i, ' far=', 2_8**40 + i
    call plain(i, i * 1.5d0, i + 0.5, logical(mod(i, 2) == 0, c_bool), int(-i, c_int8_t), 2_8**40 + i)
    write (*, '(a,i0,a,i0)') 'CALL text n=', i, ' _source=', 5
    made = text('hello', i)
    write (*, '(a,i0)') 'CALL turned n=', i
    sum = sum + int(turned((1d0, 2d0), i))
  end do
  write (*, '(i0,1x,a)') sum, made
end program
