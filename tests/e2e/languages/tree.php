<?php
class Node { public $l, $r, $v, $s; function __construct($v) { $this->v = $v; $this->s = (string)$v; } }
$calls = 0;
function insert($n, $v) { global $calls; $calls++; if (!$n) return new Node($v); if ($v < $n->v) $n->l = insert($n->l, $v); else if ($v > $n->v) $n->r = insert($n->r, $v); return $n; }
function total($n) { return $n ? total($n->l) + $n->v + strlen($n->s) + total($n->r) : 0; }
function odd($i) { if ($i & 1) throw new Exception("odd $i"); return $i; }
function deep($n) { return $n == 0 ? 0 : 1 + deep($n - 1); }
function cdeep($n) { return $n == 0 ? 0 : 1 + array_map('cdeep', [$n - 1])[0]; }
$root = null; $state = 12345; $caught = 0;
for ($i = 0; $i < 10000; $i++) { $state = ($state * 1103515245 + 12345) & 0x3fffffff; $root = insert($root, $state >> 10); $a = new stdClass; $a->self = $a; if ($i % 1000 == 0) gc_collect_cycles(); }
for ($i = 0; $i < 2000; $i++) { try { odd($i); } catch (Exception $e) { $caught++; } finally { $state++; } }
for ($i = 0; $i < 500; $i++) { $x = [3, 1, 2, $i]; try { usort($x, function ($a, $b) use ($i) { odd($i); return $a <=> $b; }); } catch (Exception $e) { $caught++; } }
function gen($n) { for ($i = 0; $i < $n; $i++) $x = yield $i => $i; }
$sum = 0; foreach (gen(1000) as $k => $v) $sum += $k + $v;
$fibers = []; for ($k = 0; $k < 20; $k++) { $fibers[$k] = new Fiber(function ($k) { $s = 0; for ($i = 0; $i < 50; $i++) $s += array_sum(array_map(fn($x) => Fiber::suspend($x * $k), [1, 2])); if ($k % 2) throw new Exception("f"); return $s; }); $sum += $fibers[$k]->start($k); }
for ($i = 0; $i < 100; $i++) foreach ($fibers as $f) { if ($f->isTerminated()) continue; try { $sum += (int)$f->resume($i); } catch (Exception $e) { $caught++; } if ($i == 50) gc_collect_cycles(); }
echo total($root), " $calls $caught ", deep(20000), " ", cdeep(200), " $sum\n";
try { (function() { throw new Error("last"); })(); } finally { echo "end\n"; }
