// A service of Fastify that gives each order an id. JSON has no bigint, and a browser rounds a
// number, so the schema says that the id is a text.

import assert from 'node:assert/strict';
import Fastify from 'fastify';
import { UidGenerator } from 'uidring';

const uids = await UidGenerator.fixed(7);
const app = Fastify();
app.addHook('onClose', () => uids.close());

const order = { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } };
const schema = { body: order, response: { 200: order } };
app.post('/orders', { schema }, async ({ body }) => ({ id: uids.take(), name: body.name }));

const answer = await app.inject({ method: 'POST', url: '/orders', payload: { name: 'Ada' } });
assert.equal(answer.statusCode, 200, answer.body);
assert.equal(uids.parts(answer.json().id).worker, 7);
await app.close();
assert.equal(uids.status().state, 'closed');
