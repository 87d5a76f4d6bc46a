'use strict';

const native = require('./native.js');
const { ask, door } = require('./calls.js');
const { Claims } = require('./claims.js');
const { closedAtExit, closes, forgotten } = require('./closing.js');
const { guarded } = require('./errors.js');
const { own } = require('./own.js');
const values = require('./values.js');

class UidGenerator {
  #taker;
  #claims;
  #atExit;

  constructor(key, taker) {
    if (key !== own) throw new TypeError('a UidGenerator is made by UidGenerator.open or fixed');
    this.#taker = taker;
    this.#claims = new Claims(taker, 'UID');
    this.#atExit = closedAtExit(this, (holder) => native.closeUidsNow(holder.#taker));
  }

  static async open(address, options) {
    const [at, texts] = [values.address(address), values.options(options)];
    return new UidGenerator(own, await ask((number) => native.openUids(door, number, at, texts)));
  }

  static async fixed(worker, options) {
    const id = values.whole('a worker id is a whole number from 0 on', worker);
    const texts = values.options(options);
    return new UidGenerator(own, await ask((number) => native.fixedUids(door, number, id, texts)));
  }

  take() {
    return this.#claims.take();
  }

  takeText() {
    return String(this.#claims.take());
  }

  takeAsync(options) {
    return this.#claims.takeAsync(options);
  }

  takeMany(count) {
    return this.#claims.takeMany(count);
  }

  takeManyAsync(count, options) {
    return this.#claims.takeManyAsync(count, options);
  }

  fill(array) {
    this.#claims.fill(array);
  }

  parts(uid) {
    const id = values.uid(uid);
    return values.parts(guarded(() => native.uidParts(this.#taker, id)));
  }

  get layout() {
    return guarded(() => native.layout(this.#taker));
  }

  get workerId() {
    return guarded(() => native.workerId(this.#taker));
  }

  status() {
    return this.#claims.status();
  }

  async close() {
    await ask((number) => native.closeUids(door, number, this.#taker));
    forgotten(this.#atExit);
  }
}
closes(UidGenerator.prototype);

module.exports = { UidGenerator };
