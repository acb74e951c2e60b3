1;
function r = deep(n) if n == 0 r = 0; else r = 1 + deep(n - 1); end, end
function odd(i) if mod(i, 2) error("x:odd", "odd"); end, end
caught = 0; for i = 1:300, try odd(i); catch e, caught++; end, end
unwind_protect, s = 0; for i = 1:2000, s += i; end, unwind_protect_cleanup, s++; end_unwind_protect
m = mod(reshape(1:10000, 100, 100), 17); d = sum(svd(m)); c = cellfun(@(x) numel(x), {1:3, "ab", {}});
for i = 1:50, try cellfun(@odd, {i, 2}); catch, caught++; end, end
printf("%d %d %d %.6f %d\n", caught, s, deep(200), d, sum(c));
