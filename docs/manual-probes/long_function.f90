! One long function, which somebody disturbs unless there is an argument. Probed: the two lines with call rdam_.
module work
    use rdam
    use, intrinsic :: iso_c_binding
    implicit none
    real(8) :: entry = 1
    logical :: finished = .false.
    type(rdam_region), save :: ten_steps = rdam_region('ten steps')
    interface
        subroutine sleep_microseconds(time) bind(c, name='usleep')
            import :: c_int
            integer(c_int), value :: time
        end subroutine
    end interface
contains
    subroutine solve(steps, x) bind(c)
        integer(c_int), value :: steps
        real(8), intent(out) :: x
        integer :: i, k
        x = 1
        do i = 0, steps - 1
            if (mod(i, 10) == 0) call rdam_begin(ten_steps)
            do k = 1, 2000
                x = x * 0.999d0 + 1
            end do
            !$omp critical (table)
            x = x + entry
            !$omp end critical (table)
            if (mod(i, 10) == 9) call rdam_end(ten_steps)
        end do
    end subroutine

    ! Keeps the table for itself, now and then.
    subroutine update()
        logical :: over
        over = .false.
        do while (.not. over)
            !$omp critical (table)
            call sleep_microseconds(2000)
            entry = 1
            !$omp end critical (table)
            call sleep_microseconds(2000)
            !$omp atomic read
            over = finished
        end do
    end subroutine
end module

program long_function
    use work
    implicit none
    real(8) :: x
    !$omp parallel sections num_threads(2)
    !$omp section
    call solve(20000, x)
    !$omp atomic write
    finished = .true.
    !$omp section
    if (command_argument_count() == 0) call update()
    !$omp end parallel sections
    print '(f0.3)', x
end program
