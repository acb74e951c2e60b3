class Node
  property left : Node?
  property right : Node?
  property value : Int32
  property text : String
  def initialize(@value : Int32)
    @text = @value.to_s * 2
  end
end
class C; class_property calls = 0; end
@[NoInline]
def insert(n : Node?, v : Int32) : Node
  C.calls += 1
  return Node.new(v) unless n
  if v < n.value
    n.left = insert(n.left, v)
  elsif v > n.value
    n.right = insert(n.right, v)
  end
  n
end
@[NoInline]
def total(n : Node?) : Int64
  return 0_i64 unless n
  total(n.left) + n.value + n.text.size + total(n.right)
end
@[NoInline]
def odd(i : Int32) : String
  raise "odd #{i}" if i.odd?
  i.to_s
end
@[NoInline]
def deep(n : Int32) : Int32
  return 0 if n == 0
  s = n.to_s
  deep(n - 1) + (s.size > 0 ? 1 : 0)
end
root : Node? = nil
state = 12345_i64
20000.times do |i|
  state = (state &* 1103515245 &+ 12345) & 0x3fffffff
  root = insert(root, (state >> 10).to_i)
  GC.collect if i % 1000 == 0
end
caught = 0
2000.times { |i| begin; odd(i); rescue; caught += 1; ensure; state += 1; end }
ch = Channel(Int32).new
8.times { |k| spawn { s = 0; 200.times { |i| s += i.to_s.size * k; Fiber.yield; GC.collect if i % 50 == 0 }; ch.send(s) } }
sum = 0
8.times { sum += ch.receive }
puts total(root), C.calls, caught, deep(5000), sum
