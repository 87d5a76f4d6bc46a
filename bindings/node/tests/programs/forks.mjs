// Processes of `cluster` or `child_process.fork`, each with a generator of its own. Prints the ids.
//
//     forks.mjs cluster|fork FILE COUNT

import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { UidGenerator } from 'uidring';

const [how, file, count] = process.argv.slice(2);

async function take() {
  const uids = await UidGenerator.open(file, { lease: '10m' });
  for (let round = 0; round < 100; round++) uids.take();
  return [...uids.takeMany(500), uids.take()].map(String);
}

if (process.send) {
  process.send(await take(), () => process.disconnect());
} else {
  // The parent has opened one before it forks.
  const all = await take();
  if (how === 'cluster') cluster.setupPrimary({ args: [how, file] });
  const children = Array.from({ length: Number(count) }, async () => {
    const child =
      how === 'cluster' ? cluster.fork() : fork(fileURLToPath(import.meta.url), [how, file]);
    child.on('message', (ids) => all.push(...ids));
    const [code, signal] = await once(child, 'exit');
    if (code !== 0) throw new Error(`a child has ended with ${code ?? signal}`);
  });
  await Promise.all(children);
  console.log(all.join('\n'));
}
