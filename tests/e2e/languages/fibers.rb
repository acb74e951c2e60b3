# Fibers, enumerators with external next, threads, GC, exceptions, deep recursion
calls = 0
sum = 0
fibers = 30.times.map { |k| Fiber.new { |x| s = 0; 50.times { |i| s += Fiber.yield(i * k + (x || 0)); begin; raise "odd" if i.odd?; rescue; s += 1; end; GC.start if i == 25 && k % 10 == 0 }; s } }
51.times { |i| fibers.each { |f| sum += f.resume(i) } }
e = Enumerator.new { |y| 1000.times { |i| y << i; calls += 1 } }
1000.times { sum += e.next }
caught = 0
begin; e.next; rescue StopIteration; caught += 1; end
z = (1..3).each_entry.lazy.map { |x| x * 2 }.to_a.sum
def deep(n) = n == 0 ? 0 : 1 + [n].map { |x| deep(x - 1) }.first
ths = 4.times.map { |k| Thread.new { s = 0; f = Fiber.new { 100.times { |i| Fiber.yield i.to_s.size } ; 0 }; 101.times { s += f.resume }; 1000.times { |i| s += i * k; Thread.pass if i % 100 == 0 }; s } }
sum2 = ths.sum(&:value)
x = catch(:done) { [1,2,3].each { |v| [4,5].each { |w| throw :done, v * w if v == 2 } }; 0 }
puts [sum, calls, caught, z, deep(1000), sum2, x].join(" ")
