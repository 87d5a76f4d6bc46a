// Worker threads, child processes, and how they end.

import assert from 'node:assert/strict';
import test from 'node:test';

import { UidGenerator } from 'uidring';
import { assertDistinct, newFile, run } from './support.mjs';

/** How many workers, ten at a time. */
const workers = Number(process.env.UIDRING_TEST_WORKERS ?? 10);

function lines({ code, signal, stdout, stderr }) {
  assert.equal(code, 0, `${signal} ${stderr}`);
  return stdout.trim().split('\n');
}

for (const how of ['return', 'exit', 'terminate']) {
  test(`workers that ${how} without a close leave nothing behind`, async (t) => {
    const ids = lines(await run('workers.mjs', [newFile(t), workers, how]));
    assert.equal(ids.length, workers * 501);
    assertDistinct(ids);
  });
}

test('answers that are under way when a worker exits are dropped', async (t) => {
  assert.deepEqual(lines(await run('workers.mjs', [newFile(t), 2 * workers, 'in flight'])), ['']);
});

for (const how of ['cluster', 'fork']) {
  test(`each process of ${how} has ids of its own`, async (t) => {
    const ids = lines(await run('forks.mjs', [how, newFile(t), 3]));
    assert.equal(ids.length, 4 * 501);
    assertDistinct(ids);
  });
}

test('at its end a program gives its lease back', async (t) => {
  const file = newFile(t);
  for (const how of ['return', 'exit', 'throw']) {
    const { code, stdout } = await run('ends.mjs', [file, how]);
    assert.equal(code, how === 'throw' ? 1 : 0);
    assert.equal(stdout.trim(), '1');
  }
});

test('what a program has forgotten is ended', async (t) => {
  const file = newFile(t);
  const { stdout, stderr, code } = await run('forgets.mjs', [file], { node: ['--expose-gc'] });
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), 'ended');
  const uids = await UidGenerator.open(file, { lease: '10m' });
  assert.equal(uids.workerId, 1);
  await uids.close();
});

test('events are told by name, and all of them', async (t) => {
  const one = await run('listens.mjs', [newFile(t), 'started']);
  const [started] = lines(one).map((line) => JSON.parse(line));
  assert.deepEqual([started.level, started.name, started.fields.worker], ['info', 'started', 1]);
  assert.match(started.text, /^started: the generator has started worker=1 kind=leased registry=/);
  assert.ok(Math.abs(new Date(started.time) - Date.now()) < 60_000);
  const all = lines(await run('listens.mjs', [newFile(t), 'event']));
  const names = all.map((line) => JSON.parse(line).name);
  assert.deepEqual(names, ['new_store', 'started', 'stopped']);
});

test('a warning that nobody listens to is one of the process', async (t) => {
  const { stderr } = await run('listens.mjs', [newFile(t)]);
  const warnings = stderr.split('\n').filter((line) => line.includes('UidringWarning'));
  assert.equal(warnings.length, 1, stderr);
  assert.match(warnings[0], /\[new_store\] UidringWarning: new_store: nothing was taken/);
  const heard = await run('listens.mjs', [newFile(t), 'event']);
  assert.equal(heard.stderr, '');
});
