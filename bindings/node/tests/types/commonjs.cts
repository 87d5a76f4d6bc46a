// What a program of CommonJS may write. It is compiled, and not run.

import uidring = require('uidring');

export async function take(): Promise<bigint> {
  const uids: uidring.UidGenerator = await uidring.UidGenerator.fixed(7, {
    state: 'uidring.state',
  });
  const uid = uids.take();
  await uids.close();
  return uid;
}
