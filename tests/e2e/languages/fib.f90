module numbers
  integer :: calls = 0
contains
  recursive function fib(n) result(f)
    integer, intent(in) :: n
    integer :: f
    calls = calls + 1
    if (n < 2) then
      f = n
    else
      f = fib(n - 1) + fib(n - 2)
    end if
  end function
end module
program main
  use numbers
  print *, fib(15), calls
end program
