// Nanoseconds for an id, medians of rounds that take turns, and how they compare with a call of
// `crypto.randomUUID`. Fails where a take costs more than a quarter of one, or a `fill` of 1,000
// more than three.

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

import { Snowflake } from '@sapphire/snowflake';
import { nanoid } from 'nanoid';
import { monotonicFactory } from 'ulid';
import { UidGenerator } from 'uidring';
import { v4, v7 } from 'uuid';

const SnowflakeId = createRequire(import.meta.url)('snowflake-id').default;

const [uids, exact] = await Promise.all([
  UidGenerator.fixed(7, { maxLead: '365d' }),
  UidGenerator.fixed(8, { exactTime: true, preset: 'twitter' }),
]);
const [sapphire, ulid] = [new Snowflake(Date.UTC(2026, 0)), monotonicFactory()];
const snowflakeId = new SnowflakeId({ mid: 7, offset: (2026 - 1970) * 31536000 * 1000 });
const array = new BigInt64Array(1000);

const COUNT = 5_000;
/** What is measured, and how many ids a call gives. */
const rows = {
  'crypto.randomUUID()': [() => randomUUID()],
  'take()': [() => uids.take()],
  'takeText()': [() => uids.takeText()],
  'fill() of 1,000': [() => uids.fill(array), 1000],
  'take(), exact time': [() => exact.take()],
  'await takeAsync()': [() => uids.takeAsync(), 1, true],
  'uuid, v4()': [() => v4()],
  'uuid, v7()': [() => v7()],
  'ulid, monotonic': [() => ulid()],
  'nanoid()': [() => nanoid()],
  '@sapphire/snowflake': [() => sapphire.generate()],
  'snowflake-id': [() => snowflakeId.generate()],
};

/** Keeps the loop from being left out. */
let last;

/** The nanoseconds of a call, in a round. A body of its own for each, as in a program. */
function measure(call, isAsync) {
  const body = isAsync
    ? new Function(
        'call',
        'n',
        'return (async () => { let x; while (n--) x = await call(); return x; })();',
      )
    : new Function('call', 'n', 'let x; while (n--) x = call(); return x;');
  return async (count) => {
    const begin = process.hrtime.bigint();
    last = await body(call, count);
    return Number(process.hrtime.bigint() - begin) / count;
  };
}

const measures = Object.entries(rows).map(([name, [call, ids = 1, isAsync]]) => ({
  name,
  ids,
  run: measure(call, isAsync),
  count: ids === 1 ? COUNT : COUNT / 10,
  times: [],
}));
for (let round = 0; round < 40; round++) {
  for (const { run, count, times } of measures) {
    const time = await run(count);
    // The first rounds are those of the compiler.
    if (round >= 10) times.push(time);
  }
}
const median = (times) => times.sort((one, other) => one - other)[times.length >> 1];
for (const measured of measures) measured.call = median(measured.times);
const uuid = measures[0].call;
for (const { name, call, ids } of measures) {
  const [time, ratio] = [(call / ids).toFixed(1), (call / uuid).toFixed(3)];
  console.log(`${name.padEnd(22)} ${time.padStart(9)} ns an id   ${ratio} of a randomUUID a call`);
}
const ratio = (name) => measures.find((one) => one.name === name).call / uuid;
if (last === undefined || ratio('take()') > 0.25 || ratio('fill() of 1,000') > 3) {
  console.error('too slow');
  process.exitCode = 1;
}
await Promise.all([uids.close(), exact.close()]);
