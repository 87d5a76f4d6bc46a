// Workers that load the library, take ids and exit without a close; the main thread has not loaded
// it. Prints the ids.
//
//     workers.mjs FILE COUNT HOW

import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { threads, until } from '../support.mjs';

if (isMainThread) {
  const [file, count, how] = process.argv.slice(2);
  const all = [];
  const one = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { file, how } });
      worker.on('message', (ids) => {
        all.push(...ids);
        if (how === 'terminate') worker.terminate();
      });
      worker.on('error', reject);
      worker.on('exit', resolve);
    });
  for (let left = Number(count); left > 0; left -= 10) {
    await Promise.all(Array.from({ length: Math.min(left, 10) }, one));
  }
  // Their generators end by themselves. The thread that tells events is the process'.
  await until(() => threads().every((name) => name === 'uidring-events'));
  console.log(all.join('\n'));
} else {
  const { UidGenerator } = await import('uidring');
  const { file, how } = workerData;
  const uids = await UidGenerator.open(file, { lease: '10m' });
  if (how === 'in flight') {
    // Answers are under way in each way there is when the environment ends.
    UidGenerator.open(file, { lease: '10m' });
    uids.close();
    const scarce = { layout: '32,20,3', maxLead: '0s', onLeadLimit: 'wait' };
    const waits = await UidGenerator.fixed(7, scarce);
    for (let round = 0; round < 30; round++) waits.takeAsync();
    for (let round = 0; round < 20; round++) UidGenerator.fixed(8);
    process.exit();
  }
  parentPort.postMessage([...uids.takeMany(500), uids.take()]);
  if (how === 'exit') process.exit();
}
