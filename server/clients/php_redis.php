<?php
// phpredis: takes numbers in each way. `run` tells what is printed and what the arguments are.
[, $port, $flag] = $argv;
$token = $argv[3] ?? '';
$ca = $argv[4] ?? '';

function connected(): Redis
{
    global $port, $token, $ca;
    for ($left = 100; ; $left--) {
        try {
            $client = new Redis();
            $context = $ca ? ['stream' => ['cafile' => $ca]] : [];
            $host = ($ca ? 'tls://' : '') . 'localhost';
            $client->connect($host, (int) $port, 5, null, 0, 0, $context);
            if ($token !== '') {
                $client->auth($token);
            }
            return $client;
        } catch (RedisException $error) {
            if ($left === 0) {
                throw $error;
            }
            usleep(50000);
        }
    }
}

function show(string $what, $number): void
{
    echo "$what $number\n";
}

// Connects again where the connection was lost, which phpredis leaves to its users.
function take(): void
{
    global $client;
    for ($left = 100; ; $left--) {
        try {
            $uid = $client->rawCommand('UID.NEXT');
            if ($uid !== false) {
                show('uid', $uid);
                return;
            }
        } catch (RedisException $error) {
            $client = connected();
        }
        if ($left === 0) {
            throw new Exception('no UID: ' . $client->getLastError());
        }
        usleep(50000);
    }
}

$client = connected();
for ($i = 0; $i < 100; $i++) {
    take();
    show('orders', $client->rawCommand('TAG.NEXT', 'orders'));
    show('orders', $client->incr('orders'));
    show('invoices', $client->rawCommand('SERIES.NEXT', 'invoices'));
}
foreach ($client->rawCommand('UID.NEXT', 1000) as $uid) {
    show('uid', $uid);
}
$pipeline = $client->multi(Redis::PIPELINE);
for ($i = 0; $i < 1000; $i++) {
    $pipeline->rawCommand('UID.NEXT');
}
foreach ($pipeline->exec() as $uid) {
    show('uid', $uid);
}
// An error of the service is no exception in phpredis.
foreach (['TAG.NEXT nobody', 'UID.NEXT none', 'NO.SUCH'] as $wrong) {
    $words = explode(' ', $wrong);
    $client->clearLastError();
    $answer = $client->rawCommand(...$words);
    if ($answer !== false || !str_contains((string) $client->getLastError(), end($words))) {
        throw new Exception("$wrong: " . $client->getLastError());
    }
}
echo "waits\n";
while (!file_exists($flag)) {
    clearstatcache();
    take();
}
for ($i = 0; $i < 100; $i++) {
    take();
}
