<?php

// Prints the microseconds of an id: one by one, and a thousand at once.

$ids = new Redis();
$ids->connect('127.0.0.1', (int) $argv[1]);
$ids->rawCommand('UID.NEXT');
$begin = hrtime(true);
for ($index = 0; $index < 5000; $index++) {
    (int) $ids->rawCommand('UID.NEXT');
}
$one = (hrtime(true) - $begin) / 5000;
$begin = hrtime(true);
for ($index = 0; $index < 100; $index++) {
    array_map('intval', $ids->rawCommand('UID.NEXT', '1000'));
}
$many = (hrtime(true) - $begin) / 100000;
printf("%.1f %.2f\n", $one / 1e3, $many / 1e3);
