{ Says of each call of a wrapped function, before it, what it passes. }
{$mode objfpc}
program values;
uses cmem;
type
  TPair = record whole: longint; part: double; end;
  TBig = record a, b, c, d: int64; end;
  TColour = (red, green, blue);
  TRange = 0..100;
  PInteger = ^longint;
  TShape = class
    base: longint;
    function area(n: longint; f: double; const name: ansistring): longint;
  end;
var
  sum: int64;
  global, n, i, changed, made: longint;
  pair: TPair;
  big: TBig;
  shape: TShape;

function TShape.area(n: longint; f: double; const name: ansistring): longint;
begin
  sum := sum + base + n + trunc(f) + length(name);
  area := base;
end;

{ Records, texts and open arrays between integers and floating-point numbers, and more than there are registers. }
function mixed(n: longint; f: double; text: shortstring; const long: ansistring; pair: TPair; small: shortint; flag: boolean; g: single;
               colour: TColour; range: TRange; far: int64; money: currency): longint;
begin
  sum := sum + n + trunc(f) + length(text) + length(long) + pair.whole + small + ord(flag) + trunc(g) + ord(colour) + range + far + trunc(money);
  if n <= 0 then exit(small);
  writeln('CALL mixed n=', n - 1, ' f=', f * 1.5 :0:6, ' small=', small - 1, ' flag=', ord(not flag), ' g=', g / 2 :0:6, ' colour=',
          (ord(colour) + 1) mod 3, ' range=', range + 1, ' far=', far + sum mod 3);
  mixed := mixed(n - 1, f * 1.5, text, long, pair, small - 1, not flag, g / 2, TColour((ord(colour) + 1) mod 3), range + 1, far + sum mod 3, money) + 1;
end;

{ The result is in memory, whose address comes first; a parameter is changed at once. }
function makes(n: longint; var changed: longint; out made: longint; const big: TBig; copied: TBig; pointer: PInteger; other: int64): TBig;
begin
  n := n + other;
  made := n;
  changed := changed + pointer^;
  makes := big;
  makes.a := n + copied.d;
end;

function open(n: longint; list: array of longint; last: longint): longint;
begin
  open := n + high(list) + last;
end;

function encloses(k: longint): longint;
  function nested(a: longint; d: double): longint;
  begin
    nested := a + k + trunc(d);
  end;
begin
  writeln('CALL nested a=', k * 2, ' d=', 1.5 :0:6);
  encloses := nested(k * 2, 1.5);
end;

function address(p: pointer): ansistring;
begin
  address := '0x' + hexstr(ptruint(p), 16);
end;

begin
  n := paramcount + 1;
  global := 5;
  pair.whole := n;
  pair.part := 2;
  fillchar(big, sizeof(big), 0);
  shape := TShape.create;
  shape.base := n + 3;
  writeln('CALL mixed n=', n + 4, ' f=', 1.25 :0:6, ' small=', -3, ' flag=1 g=', 2.5 :0:6, ' colour=1 range=7 far=', int64(1) shl 62);
  sum := sum + mixed(n + 4, 1.25, 'abc', 'defg', pair, -3, true, 2.5, green, 7, int64(1) shl 62, 12.5);
  for i := 0 to 3 do
  begin
    changed := i;
    writeln('CALL makes n=', n + i, ' changed=', address(@changed), ' made=', address(@made), ' pointer=', address(@global), ' other=', 99 - i);
    big := makes(n + i, changed, made, big, big, @global, 99 - i);
    sum := sum + big.a + made;
    writeln('CALL open n=', i, ' last=', n + i);
    sum := sum + open(i, [1, 2, 3], n + i);
    writeln('CALL area this=', address(shape), ' n=', i, ' f=', i * 0.25 :0:6);
    sum := sum + shape.area(i, i * 0.25, 'square');
    sum := sum + encloses(n + i);
  end;
  writeln(sum);
end.
