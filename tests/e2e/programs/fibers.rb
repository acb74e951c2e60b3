durations = []
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
fibers = 6.times.map do |k|
  Fiber.new do
    i = 0
    while i < 10
      n = i + k
      [n].each do |m|
        b = now.()
        sleep(0.001 * (1 + m % 3)); Fiber.yield; sleep 0.001; Fiber.yield if m % 4 == 0
        durations << now.() - b
      end
      i += 1
    end
  end
end
alive = fibers
until alive.empty?
  alive.each { |f| f.resume }
  alive = alive.select(&:alive?)
end
puts durations
