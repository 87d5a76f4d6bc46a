// What a program in TypeScript may write. It is compiled, and not run.

import pg from 'pg';
import {
  Masked,
  Segments,
  Series,
  UidGenerator,
  UidringError,
  WorkerId,
  events,
  type Code,
  type UidringEvent,
} from 'uidring';

export async function takes(): Promise<string> {
  await using uids = await UidGenerator.open('/srv/uidring.db', { lease: '10m', exactTime: true });
  const uid: bigint = uids.take();
  const later: bigint = await uids.takeAsync({ signal: AbortSignal.timeout(100) });
  const many: BigInt64Array = uids.takeMany(10);
  uids.fill(many);
  const { time, worker }: { time: Date; worker: number } = uids.parts(uid);
  const state: 'running' | 'failing' | 'closed' | 'forked' = uids.status().state;
  return `${uids.takeText()} ${later} ${time.toISOString()} ${worker} ${state}`;
}

export function isLater(error: unknown): Code | undefined {
  return error instanceof UidringError && error.isTransient ? error.code : undefined;
}

export async function numbers(client: pg.Client): Promise<string> {
  await using segments = await Segments.open('/srv/uidring.db', { maxWait: '1s', table: 'leaf' });
  const customers = await segments.create('customers', { first: 1001, step: '20k' });
  const first: bigint = await customers.takeAsync();
  const invoices = Series.inTransactions('postgres');
  const number = await invoices.nextIn(client, 'invoices', { scope: 'shop-7' });
  await invoices.nextIn(
    async (text, values) => (await client.query(text, values)).rows,
    'invoices',
  );
  using masked = new Masked('00'.repeat(32));
  const worker = await WorkerId.lend('/srv/uidring.db', 'shop', 10, {
    onLoss: ({ timeLeftMs }) => process.exit(timeLeftMs > 0 ? 1 : 2),
  });
  return `${number.text} ${number.value} ${masked.mask(first)} ${worker.id}`;
}

events.on('lease_lost', (event: UidringEvent) => console.log(event.fields['worker']));

// @ts-expect-error there is no such option
await UidGenerator.open('/srv/uidring.db', { leese: '10m' });
// @ts-expect-error a worker id of one's own has no lease
await UidGenerator.fixed(7, { lease: '10m' });
// @ts-expect-error a number is rounded from 2^53 on
(await UidGenerator.fixed(7n)).parts(240510429044957184);
// @ts-expect-error it is opened
new UidGenerator();
