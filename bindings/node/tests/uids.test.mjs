import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { UidGenerator, UidringError } from 'uidring';
import { newFile, sleep } from './support.mjs';

const closed = { name: 'UidringError', code: 'UIDRING_CLOSED' };

/** One that has 8 ids a second, and no later ones. */
const scarce = { layout: '32,20,3', maxLead: '0s', onLeadLimit: 'wait' };

function takeAll(uids) {
  try {
    for (;;) uids.take();
  } catch (error) {
    return error;
  }
}

test('each way to take gives a larger id than the one before', async (t) => {
  const uids = await UidGenerator.open(newFile(t));
  let last = 0n;
  const check = (id) => {
    assert.ok(id > last, `${id} after ${last}`);
    last = id;
  };
  const ways = [
    () => check(uids.take()),
    () => check(BigInt(uids.takeText())),
    () => uids.takeMany(7).forEach(check),
    () => {
      for (const array of [new BigInt64Array(1000), new BigUint64Array(33)]) {
        uids.fill(array);
        array.forEach(check);
      }
    },
    async () => check(await uids.takeAsync()),
    async () => (await uids.takeManyAsync(5000)).forEach(check),
  ];
  for (let round = 0; round < 400; round++) await ways[(round * 7 + (round >> 3)) % ways.length]();
  for (let round = 0; round < 20000; round++) check(uids.take());
  assert.equal(uids.takeMany(0).length, 0);
  assert.equal(uids.status().taken >= 20000, true);
  await uids.close();
});

test('an id of a claim is not given when it has become too old', async (t) => {
  const uids = await UidGenerator.open(newFile(t));
  // So that a claim has thousands.
  for (let round = 0; round < 9000; round++) uids.take();
  await sleep(3500);
  const ids = [uids.take(), ...uids.takeMany(20)];
  for (const id of ids) assert.ok(Date.now() - uids.parts(id).time < 2500, uids.parts(id).time);
  await uids.close();
});

test('an id is never given after a close, though a claim has some', async () => {
  const uids = await UidGenerator.fixed(7);
  for (let round = 0; round < 100; round++) uids.take();
  const closing = uids.close();
  await closing;
  for (const take of ['take', 'takeText']) assert.throws(() => uids[take](), closed);
  assert.throws(() => uids.fill(new BigInt64Array(3)), closed);
  await assert.rejects(uids.takeAsync(), closed);
  assert.throws(() => uids.workerId, closed);
  assert.equal(uids.status().state, 'closed');
  await uids.close();
});

test('in exact time an id has the time of its take', async () => {
  const options = { exactTime: true, preset: 'twitter' };
  const uids = await UidGenerator.fixed(7n, options);
  let last = 0n;
  // More than some ticks have.
  for (let round = 0; round < 30_000; round++) assert.ok(uids.take() > 0n);
  for (let round = 0; round < 200; round++) {
    const before = Date.now();
    const id = uids.take();
    assert.ok(id > last);
    last = id;
    const { time } = uids.parts(id);
    assert.ok(time >= before && time <= Date.now(), `${time.toISOString()}`);
  }
  await uids.close();
});

test('an id is decoded', async () => {
  const uids = await UidGenerator.fixed('7', { epoch: new Date('2026-01-01') });
  const expected = { time: new Date('2026-11-21T01:31:39Z'), worker: 3, sequence: 0 };
  assert.deepEqual(uids.parts(240510429044957184n), expected);
  assert.deepEqual(uids.parts('240510429044957184'), expected);
  assert.equal(uids.layout, 'layout=30,20,13 tick=1000ms epoch=2026-01-01T00:00:00Z');
  assert.equal(uids.workerId, 7);
  for (const [wrong, said] of [
    [0n, /^a UID is a whole number from 1 to 9223372036854775807, not 0$/],
    [-1n, /^a UID is a whole number from 1 to 9223372036854775807, not a negative number$/],
    [1n << 64n, /not one beyond 64 bits$/],
    ['a', /^a UID is a whole number .* as a bigint or a text of digits, and not a$/],
    [2 ** 60, /, and not 1152921504606847000$/],
  ]) {
    assert.throws(() => uids.parts(wrong), { code: 'UIDRING_INVALID_ARGUMENT', message: said });
  }
  await uids.close();
});

test('what is wrong is told with the name and the value', async (t) => {
  const file = newFile(t);
  for (const [open, message] of [
    [
      () => UidGenerator.open(file, { leese: '10m' }),
      /^there is no option "leese"; did you mean l/,
    ],
    [() => UidGenerator.open(file, { lease: '10' }), /^the option lease cannot be "10": a length/],
    [
      () => UidGenerator.open(file, { lease: [] }),
      /^the option lease is a text, a number, a valid/,
    ],
    [() => UidGenerator.open(file, 'lease=10m'), /^options are an object such as \{ lease:/],
    [() => UidGenerator.open(7), /^an address is a text or a URL, and not of the type number/],
    [() => UidGenerator.fixed(-1), /^a worker id is a whole number from 0 on/],
    [() => UidGenerator.fixed(1.5), /^a worker id is a whole number from 0 on, as a bigint or/],
    [() => UidGenerator.fixed(1 << 30), /worker/],
  ]) {
    const error = await open().then(assert.fail, (error) => error);
    assert.ok(error instanceof UidringError && error instanceof Error);
    assert.equal(error.code, 'UIDRING_INVALID_ARGUMENT');
    assert.match(error.message, message);
    assert.match(error.stack, /uids\.test\.mjs/);
    assert.equal(error.isTransient, false);
  }
  await assert.rejects(UidGenerator.open('/no/such/folder/uidring.db'), {
    code: 'UIDRING_REFUSED',
  });
  const nobody = 'postgres://ids:secret@127.0.0.1:9/ids';
  const error = await UidGenerator.open(nobody, { startDeadline: '0s' }).catch((error) => error);
  assert.equal(error.code, 'UIDRING_UNAVAILABLE');
  assert.ok(error.isTransient && !error.message.includes('secret'), error.message);
  const uids = await UidGenerator.fixed(1);
  const wrong = {
    code: 'UIDRING_INVALID_ARGUMENT',
    message: /^fill takes a BigInt64Array or a Big/,
  };
  assert.throws(() => uids.fill([1n]), wrong);
  assert.throws(() => uids.takeMany(-1), { message: 'a call takes 0 numbers or more, and not -1' });
  await uids.close();
  assert.throws(() => new UidGenerator(), TypeError);
});

test('an option may be spelt as in JavaScript, as in the page, and left out', async () => {
  for (const options of [{ maxLead: '1h' }, { max_lead: '1h' }, { 'max-lead': '1h' }]) {
    const uids = await UidGenerator.fixed(1, { ...options, lease: undefined, state: null });
    await uids.close();
  }
});

test('a take never waits, and one that waits leaves the loop alone', async () => {
  const uids = await UidGenerator.fixed(7, scarce);
  const error = takeAll(uids);
  assert.equal(error.code, 'UIDRING_UNAVAILABLE');
  assert.match(error.message, /^there is no UID now, and takeAsync waits for one/);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  const before = Date.now();
  const ids = await uids.takeManyAsync(20);
  clearInterval(timer);
  assert.ok(Date.now() - before > 900 && ticks > 10, `${ticks} ticks`);
  assert.ok(ids.every((id, at) => at === 0 || id > ids[at - 1]));
  // And in turn.
  takeAll(uids);
  const waiting = await Promise.all(Array.from({ length: 20 }, () => uids.takeAsync()));
  assert.ok(
    waiting.every((id, at) => at === 0 || id > waiting[at - 1]),
    waiting.join(),
  );
  await uids.close();
});

test('a call that fails half-way says what it has taken', async () => {
  const uids = await UidGenerator.fixed(7, scarce);
  takeAll(uids);
  await uids.takeAsync();
  const array = new BigInt64Array(100);
  const error = assert.throws(
    () => uids.fill(array),
    (error) => {
      assert.equal(error.code, 'UIDRING_UNAVAILABLE');
      assert.ok(error.filled < 100 && array.findIndex((id) => id === 0n) === error.filled);
      return true;
    },
  );
  assert.equal(error, undefined);
  await uids.takeAsync();
  assert.throws(
    () => uids.takeMany(100),
    (error) => {
      assert.equal(error.numbers.length, error.filled);
      return error.numbers.every((id) => id > 0n);
    },
  );
  await uids.close();
});

test('a signal ends a wait, and no id is lost', async () => {
  const uids = await UidGenerator.fixed(7, scarce);
  takeAll(uids);
  const abort = new AbortController();
  const waiting = [1, 2, 3].map(() => uids.takeAsync({ signal: abort.signal }));
  const other = uids.takeAsync();
  abort.abort();
  for (const wait of waiting) await assert.rejects(wait, { name: 'AbortError' });
  const reason = new Error('enough');
  await assert.rejects(uids.takeAsync({ signal: AbortSignal.abort(reason) }), reason);
  await assert.rejects(uids.takeManyAsync(2, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(uids.parts(await other).sequence, 0);
  await uids.close();
});

test('a close ends waits', async () => {
  const uids = await UidGenerator.fixed(7, scarce);
  takeAll(uids);
  const waiting = assert.rejects(uids.takeAsync(), closed);
  await uids.close();
  await waiting;
});

test('using and await using close', async (t) => {
  const file = newFile(t);
  const uids = await UidGenerator.open(file, { lease: '10m' });
  await uids[Symbol.asyncDispose]();
  assert.throws(() => uids.take(), closed);
  const other = await UidGenerator.open(pathToFileURL(file), { lease: '10m' });
  assert.equal(other.workerId, 1);
  await other.close();
  const third = await UidGenerator.fixed(7);
  third[Symbol.dispose]();
  while (third.status().state !== 'closed') await sleep(10);
});

test('the state is an object', async (t) => {
  const file = newFile(t);
  const uids = await UidGenerator.open(file, { lease: '10m' });
  uids.take();
  const status = uids.status();
  assert.deepEqual([status.state, status.obstacle, status.worker_id], ['running', null, 1]);
  assert.deepEqual([status.store.name, status.store.reachable], [file, true]);
  assert.ok(status.leased && status.lease_left_ms > 500_000);
  await uids.close();
});

test('a module of each kind gets the same', () => {
  const required = createRequire(import.meta.url)('uidring');
  assert.equal(required.UidGenerator, UidGenerator);
});
