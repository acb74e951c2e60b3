program fibonacci;
{$mode objfpc}
uses cthreads, sysutils;
var calls, caught, i, sum: longint;
function fib(n: longint): longint;
begin
  inc(calls);
  if n < 2 then fib := n else fib := fib(n - 1) + fib(n - 2);
end;
function thrower(n: longint): longint;
begin
  if odd(n) then raise Exception.Create('odd');
  thrower := n;
end;
begin
  sum := 0;
  for i := 1 to 1000 do
    try sum := sum + thrower(i); except on Exception do inc(caught); end;
  writeln(fib(15), ' ', calls, ' ', caught, ' ', sum);
end.
