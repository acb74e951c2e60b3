$calls = 0
def fib(n)
  $calls += 1
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end
caught = (1..1000).count { |i| begin; raise "odd" if i.odd?; false; rescue; true; end }
puts fib(15), $calls, caught, (1..10_000).map(&:to_s).join.size
