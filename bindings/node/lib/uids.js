'use strict';

const native = require('./native.js');
const { ask, door } = require('./calls.js');
const { closedAtExit, closes, forgotten } = require('./closing.js');
const { guarded } = require('./errors.js');
const { own } = require('./own.js');
const { Taker } = require('./taker.js');
const values = require('./values.js');

class UidGenerator extends Taker {
  #taker;
  #atExit;

  constructor(key, taker) {
    if (key !== own) throw new TypeError('a UidGenerator is made by UidGenerator.open or fixed');
    super(taker, 'UID');
    this.#taker = taker;
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

  async close() {
    await ask((number) => native.closeUids(door, number, this.#taker));
    forgotten(this.#atExit);
  }
}
closes(UidGenerator.prototype);

module.exports = { UidGenerator };
