class Counter
  class_property calls = 0
end

@[NoInline]
fun fib(n : Int32) : Int32
  Counter.calls += 1
  n < 2 ? n : fib(n - 1) + fib(n - 2)
end

caught = 0
texts = [] of String
1000.times { |i| begin; raise "odd" if i.odd?; texts << i.to_s; rescue; caught += 1; end }
puts fib(15), Counter.calls, caught, texts.size
