<?php
// usleep in fibers inside array_map, which calls through C: the duration of each such call
$durations = [];
$fibers = [];
for ($k = 0; $k < 6; $k++) $fibers[] = new Fiber(function () use ($k, &$durations) {
    for ($i = 0; $i < 10; $i++) array_map(function ($n) use (&$durations) {
        $begin = hrtime(true);
        usleep(1000 * (1 + $n % 3));
        Fiber::suspend();
        usleep(1000);
        if ($n % 4 == 0) Fiber::suspend();
        $durations[] = hrtime(true) - $begin;
    }, [$i + $k]);
});
foreach ($fibers as $f) $f->start();
for (;;) { $any = false; foreach ($fibers as $f) if (!$f->isTerminated()) { $f->resume(); $any = true; } if (!$any) break; }
foreach ($durations as $d) echo $d, "\n";
