local calls = 0
local function insert(t, v)
  calls = calls + 1
  if not t then return {v = v, s = tostring(v)} end
  if v < t.v then t.l = insert(t.l, v) elseif v > t.v then t.r = insert(t.r, v) end
  return t
end
local function total(t) if not t then return 0 end return total(t.l) + t.v + #t.s + total(t.r) end
local root, state = nil, 12345
for i = 1, 10000 do
  state = (state * 1103515245 + 12345) % 0x40000000
  root = insert(root, math.floor(state / 1024))
  if i % 1000 == 0 then collectgarbage() end
end
local caught = 0
for i = 1, 2000 do if not pcall(function() if i % 2 == 1 then error("odd") end end) then caught = caught + 1 end end
-- errors and yields across C: gsub, sort, metamethods
for i = 1, 500 do if not pcall(table.sort, {3, 1, 2, i}, function(a, b) if i % 2 == 1 then error("x") end return a < b end) then caught = caught + 1 end end
local sum = 0
local cos = {}
for k = 1, 20 do cos[k] = coroutine.wrap(function(a) local s = 0 for i = 1, 100 do pcall(function() s = s + coroutine.yield(i * k) end) end return s end) end
for i = 1, 101 do for k = 1, 20 do sum = sum + cos[k](i) end end
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
local function cdeep(n) if n == 0 then return 0 end local _, r = pcall(cdeep, n - 1) return 1 + (tonumber(r) or 0) end
print(total(root), calls, caught, deep(15000), sum, cdeep(150))
