'use strict';

const native = require('./native.js');
const { ask, door } = require('./calls.js');
const { closes } = require('./closing.js');
const { guarded } = require('./errors.js');
const { own } = require('./own.js');
const values = require('./values.js');

class PastGenerator {
  #past;

  constructor(key, past) {
    if (key !== own) throw new TypeError('a PastGenerator is made by PastGenerator.open');
    this.#past = past;
  }

  static async open(address, options) {
    const [at, texts] = [values.address(address), values.options(options)];
    return new PastGenerator(own, await ask((number) => native.openPast(door, number, at, texts)));
  }

  async takeAt(time) {
    const at = [values.unixMs(time)];
    const [uid] = await ask((number) => native.takeTimes(door, number, this.#past, at));
    return uid;
  }

  async takeTimes(times) {
    const all = Array.from(times, values.unixMs);
    if (all.length === 1) return BigInt64Array.of(await this.takeAt(all[0]));
    const uids = await ask((number) => native.takeTimes(door, number, this.#past, all));
    return new BigInt64Array(uids.buffer, uids.byteOffset, uids.length);
  }

  parts(uid) {
    const id = values.uid(uid);
    return values.parts(guarded(() => native.pastParts(this.#past, id)));
  }

  get layout() {
    return guarded(() => native.pastLayout(this.#past));
  }

  get workerId() {
    return guarded(() => native.pastWorkerId(this.#past));
  }

  status() {
    return JSON.parse(guarded(() => native.pastStatus(this.#past)));
  }

  async close() {
    guarded(() => native.closePast(this.#past));
  }
}
closes(PastGenerator.prototype);

module.exports = { PastGenerator };
