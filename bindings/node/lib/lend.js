'use strict';

const native = require('./native.js');
const { ask, door, forget, listen } = require('./calls.js');
const { closedAtExit, closes, forgotten } = require('./closing.js');
const { guarded, invalid } = require('./errors.js');
const { own } = require('./own.js');
const values = require('./values.js');

class WorkerId {
  #lent;
  #loss;
  #atExit;

  constructor(key, lent, loss) {
    if (key !== own) throw new TypeError('a WorkerId is made by WorkerId.lend');
    this.#lent = lent;
    this.#loss = loss;
    this.#atExit = closedAtExit(this, (holder) => native.closeLentNow(holder.#lent));
  }

  static async lend(address, pool, bits, { onLoss, ...options } = {}) {
    const given = [values.address(address), values.text('a pool', pool)];
    if (!Number.isInteger(bits) || bits < 0 || bits > 64) {
      throw invalid(`the ids of a pool have 1 to 22 bits, and not ${String(bits)}`);
    }
    if (onLoss !== undefined && typeof onLoss !== 'function') {
      throw invalid(`onLoss is a function, and not of the type ${typeof onLoss}`);
    }
    const texts = values.options(options);
    const loss = listen((_, told) => {
      forget(loss);
      onLoss?.({ timeLeftMs: Number(told[0]), text: told[1] });
    });
    try {
      const lent = await ask((number) => native.lend(door, number, loss, ...given, bits, texts));
      return new WorkerId(own, lent, loss);
    } catch (error) {
      forget(loss);
      throw error;
    }
  }

  get id() {
    return guarded(() => native.lentId(this.#lent));
  }

  get isHeld() {
    return native.isLentHeld(this.#lent);
  }

  status() {
    return JSON.parse(guarded(() => native.lentStatus(this.#lent)));
  }

  async close() {
    forget(this.#loss);
    await ask((number) => native.closeLent(door, number, this.#lent));
    forgotten(this.#atExit);
  }
}
closes(WorkerId.prototype);

module.exports = { WorkerId };
