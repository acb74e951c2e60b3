! Regions in Fortran.
program regions_fortran
    use rdam
    use, intrinsic :: iso_c_binding
    implicit none
    type(rdam_region), save :: outer = rdam_region('outer loop'), inner = rdam_region('inner')
    integer :: i, total
    total = 0
    do i = 1, 40
        call rdam_begin(outer, [int(mod(i, 4), c_int64_t), 7_c_int64_t])
        call rdam_begin(inner)
        total = total + i * i
        call rdam_end(inner)
        call rdam_end(outer)
    end do
    print *, total
end program
