use Coro; use Time::HiRes qw(usleep clock_gettime CLOCK_MONOTONIC);
package T; sub TIESCALAR { my $n = $_[1]; bless \$n } 
my @durations;
sub FETCH { my $n = ${$_[0]}; my $b = Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()); Time::HiRes::usleep(1000 * (1 + $n % 3)); Coro::cede(); Time::HiRes::usleep(1000); Coro::cede() if $n % 4 == 0; push @durations, int(1e9 * (Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) - $b)); $n }
package main;
my @all = map { my $k = $_; Coro::async { for my $i (0 .. 9) { tie my $x, 'T', $i + $k; my $y = $x; } } } 0 .. 5;
$_->join for @all;
print "$_\n" for @durations;
