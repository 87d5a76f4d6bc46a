'use strict';

const { isBigInt64Array, isBigUint64Array } = require('node:util/types');
const native = require('./native.js');
const { guarded, invalid } = require('./errors.js');
const values = require('./values.js');

const id = (value) => values.whole('an id is a whole number from 1 to 9223372036854775807', value);
const keysOf = (keys) => values.text('a key', keys);

class Masked {
  #keys;

  constructor(keys) {
    this.#keys = guarded(() => native.openMasked(keysOf(keys)));
  }

  mask(value) {
    const plain = id(value);
    return guarded(() => native.mask(this.#keys, plain));
  }

  maskMany(ids) {
    if (!isBigInt64Array(ids) && !isBigUint64Array(ids)) {
      throw invalid('maskMany takes a BigInt64Array or a BigUint64Array');
    }
    const masked = ids.slice();
    guarded(() => native.maskMany(this.#keys, new BigUint64Array(masked.buffer)));
    return masked;
  }

  unmask(value) {
    const masked = id(value);
    return guarded(() => native.unmask(this.#keys, masked));
  }

  close() {
    guarded(() => native.closeMasked(this.#keys));
  }
}

class Opaque {
  #keys;

  constructor(keys, prefix) {
    this.#keys = guarded(() => native.openOpaque(keysOf(keys), values.text('a prefix', prefix)));
  }

  encode(value) {
    const plain = id(value);
    return guarded(() => native.encode(this.#keys, plain));
  }

  decode(value) {
    const text = values.text('an opaque id', value);
    return guarded(() => native.decode(this.#keys, text));
  }

  close() {
    guarded(() => native.closeOpaque(this.#keys));
  }
}

for (const { prototype } of [Masked, Opaque]) {
  const value = prototype.close;
  if (Symbol.dispose)
    Object.defineProperty(prototype, Symbol.dispose, { value, configurable: true });
}

module.exports = { Masked, Opaque };
