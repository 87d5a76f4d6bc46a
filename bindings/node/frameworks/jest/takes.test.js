const { UidGenerator, UidringError } = require('uidring');

// Each file has a module of its own, in a process or a worker that goes on to the next.
test.each([1, 2, 3])('ids are taken, and a generator is left open: %i', async () => {
  const uids = await UidGenerator.fixed(7, { epoch: new Date('2026-01-01') });
  const uid = uids.take();
  expect(uids.take() > uid).toBe(true);
  expect(await uids.takeAsync()).toBeGreaterThan(uid);
  const ids = new BigInt64Array(10);
  uids.fill(ids);
  expect(ids[9] - ids[0]).toBe(9n);
  expect(uids.parts(uid).time.getTime()).toBeLessThanOrEqual(Date.now());
  await expect(UidGenerator.fixed(7, { leese: '10m' })).rejects.toThrow(UidringError);
});
