my $calls = 0;
sub fib { my $n = shift; $calls++; return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
my $caught = grep { !eval { die "odd\n" if $_ % 2; 1 } } 1 .. 1000;
print join(" ", fib(15), $calls, $caught), "\n";
