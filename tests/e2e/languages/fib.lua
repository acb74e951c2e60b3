local calls = 0
local function fib(n) calls = calls + 1; if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local parts = {}
for i = 1, 2000 do parts[#parts + 1] = tostring(i) end
print(fib(20), calls, #table.concat(parts), pcall(error, "odd"))
