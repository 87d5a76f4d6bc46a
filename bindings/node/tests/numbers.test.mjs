// Dense numbers, series, masked ids, ids of the past, lent worker ids.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Masked, Opaque, PastGenerator, Segments, Series, SeriesNumber, WorkerId } from 'uidring';
import { newFile, run } from './support.mjs';

const closed = { name: 'UidringError', code: 'UIDRING_CLOSED' };
const invalid = { code: 'UIDRING_INVALID_ARGUMENT' };

test('dense numbers are counted per tag, without a gap', async (t) => {
  const file = newFile(t);
  const segments = await Segments.open(file);
  const customers = await segments.create('customers', { first: 1001, step: 100 });
  assert.equal(customers.name, 'customers');
  const taken = [];
  for (let round = 0; round < 100; round++) {
    taken.push(await customers.takeAsync(), ...(await customers.takeManyAsync(30)));
    taken.push(await segments.take('customers'));
  }
  assert.deepEqual(
    taken,
    Array.from({ length: 3200 }, (_, at) => BigInt(1001 + at)),
  );
  assert.equal(await segments.tag('customers'), customers);
  const status = customers.status();
  assert.deepEqual([status.state, status.tag, status.store.name], ['running', 'customers', file]);
  await segments.close();
  assert.throws(() => customers.take(), closed);
  // What was left of the claims came back.
  const again = await Segments.open(file);
  const numbers = await again.tag('customers');
  assert.equal(await numbers.takeAsync(), 4201n);
  assert.equal(numbers.takeText(), '4202');
  const array = new BigInt64Array(5);
  numbers.fill(array);
  assert.deepEqual([...array], [4203n, 4204n, 4205n, 4206n, 4207n]);
  await assert.rejects(again.tag('nobody'), { code: 'UIDRING_REFUSED' });
  await assert.rejects(again.create('customers', { setp: 1 }), invalid);
  await again[Symbol.asyncDispose]();
});

test('a program that ends without a close gives its numbers back', async (t) => {
  const file = newFile(t);
  for (const expected of ['1 2 3', '4 5 6']) {
    const { stdout, stderr } = await run('counts.mjs', [file]);
    assert.equal(stdout.trim(), expected, stderr);
  }
});

test('series number what people see', async (t) => {
  const file = newFile(t);
  const series = await Series.open(file);
  await series.create('orders', 'SO{yyyy}{MM}{dd}-{n:6}', { timeZone: 'Europe/Berlin' });
  const of = { date: '2026-11-24' };
  const first = await series.next('orders', of);
  assert.ok(first instanceof SeriesNumber);
  assert.deepEqual(
    { ...first },
    {
      text: 'SO20261124-000001',
      value: 1n,
      period: '2026-11-24',
      shown: '2026-11-24',
      scope: null,
    },
  );
  assert.equal(`${first}`, 'SO20261124-000001');
  assert.equal(JSON.stringify({ first }), '{"first":"SO20261124-000001"}');
  const more = await series.nextMany('orders', 3, of);
  assert.deepEqual(
    more.map(String),
    [2, 3, 4].map((n) => `SO20261124-00000${n}`),
  );
  const today = await Promise.all(Array.from({ length: 50 }, () => series.next('orders')));
  const values = today.map(({ value }) => value).sort((one, other) => Number(one - other));
  assert.deepEqual(
    values,
    Array.from({ length: 50 }, (_, at) => BigInt(at + 1)),
  );
  assert.equal((await series.parse('orders', 'SO20261124-000002')).value, 2n);
  assert.equal(await series.format('orders', 42n, of), 'SO20261124-000042');
  await series.create('bills', '{scope}-{n:1}');
  const shop = { scope: 'shop7' };
  assert.equal((await series.nextMany('bills', 20, shop)).length, 9);
  await assert.rejects(series.next('bills', shop), { code: 'UIDRING_REFUSED' });
  await series.widen('bills', '{scope}-{n:2}');
  const next = await series.next('bills', shop);
  assert.deepEqual([next.text, next.scope], ['shop7-10', 'shop7']);
  assert.equal((await series.parse('bills', 'shop7-10')).scope, 'shop7');
  const status = await series.status('bills', shop);
  assert.deepEqual([status.state, status.series, status.scope], ['running', 'bills', 'shop7']);
  for (const wrong of [
    () => series.next('orders', { date: '24.11.2026' }),
    () => series.next('orders', { date: new Date() }),
    () => series.next('orders', { scope: '' }),
    () => series.nextMany('orders', 0),
    () => series.parse('orders', 'SO'),
    () => series.create('no', '{x}'),
    () => series.create('no', '{n}', { restart: 'yearly' }),
  ]) {
    await assert.rejects(wrong(), invalid);
  }
  await series.close();
  await assert.rejects(series.next('orders'), closed);
});

test('masked and opaque ids tell nothing, and are read', () => {
  const key = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
  const uid = 180363646902239241n;
  const masked = new Masked(key);
  assert.equal(masked.mask(uid), 7248484344334211842n);
  assert.equal(masked.mask(String(uid)), 7248484344334211842n);
  assert.equal(masked.unmask(7248484344334211842n), uid);
  const ids = BigInt64Array.of(uid, uid);
  assert.deepEqual(
    masked.maskMany(ids),
    BigInt64Array.of(7248484344334211842n, 7248484344334211842n),
  );
  assert.deepEqual(ids, BigInt64Array.of(uid, uid));
  const orders = new Opaque(key, 'ord');
  assert.equal(orders.encode(uid), 'ord_5H7WY7KKXFH1JCEMMC78CF0N9T');
  assert.equal(orders.decode('ord_5H7WY7KKXFH1JCEMMC78CF0N9T'), uid);
  for (const wrong of [
    () => masked.mask(0n),
    () => masked.mask(-1n),
    () => masked.maskMany([uid]),
    () => orders.decode('ord_5H7WY7KKXFH1JCEMMC78CF0N90'),
    () => new Masked('abc'),
    () => new Opaque(key, 'Ord!'),
  ]) {
    assert.throws(wrong, (error) => error.code === invalid.code && !error.message.includes(key));
  }
  masked.close();
  orders[Symbol.dispose]();
  assert.throws(() => masked.mask(uid), closed);
  assert.throws(() => orders.encode(uid), closed);
});

test('ids of the past have the time of their row', async (t) => {
  const past = await PastGenerator.open(newFile(t));
  const made = new Date('2026-05-02T10:15:00Z');
  const uid = await past.takeAt(made);
  assert.deepEqual(past.parts(uid), { time: made, worker: 1, sequence: 0 });
  assert.deepEqual(
    await past.takeTimes([made, made.getTime()]),
    BigInt64Array.of(uid + 1n, uid + 2n),
  );
  assert.equal((await past.takeTimes([])).length, 0);
  assert.deepEqual([past.workerId, past.status().taken], [1, 3]);
  assert.match(past.layout, /^layout=30,20,13/);
  await assert.rejects(past.takeAt(new Date(2100, 0)), invalid);
  await assert.rejects(past.takeAt('2026-05-02'), invalid);
  await past.close();
  await assert.rejects(past.takeAt(made), closed);
});

test('a worker id is lent until it is closed', async (t) => {
  const file = newFile(t);
  const worker = await WorkerId.lend(file, 'shop', 1, { lease: '1m', host: 'orders-3' });
  assert.deepEqual([worker.id, worker.isHeld, worker.status().state], [1, true, 'held']);
  await assert.rejects(WorkerId.lend(file, 'shop', 1), { code: 'UIDRING_UNAVAILABLE' });
  await assert.rejects(WorkerId.lend(file, 'shop', 2), invalid);
  await assert.rejects(WorkerId.lend(file, 'shop', 1.5), invalid);
  await worker.close();
  assert.equal(worker.isHeld, false);
  assert.throws(() => worker.id, closed);
});

test('a program learns that it is about to lose its worker id', async (t) => {
  const file = newFile(t);
  const { stdout, stderr } = await run('loses.mjs', [file]);
  const { timeLeftMs, text } = JSON.parse(stdout);
  assert.ok(timeLeftMs > 0 && timeLeftMs < 3000, stdout + stderr);
  assert.match(text, /^worker id 1 must not be used any more in /);
});
