'use strict';

const { Claims } = require('./claims.js');

/** Gives back what is left of a tag, before its end. For the package alone. */
let giveBack;

/** What ids and numbers are taken from: the base of UidGenerator and Tag. */
class Taker {
  #claims;

  static {
    giveBack = (tag) => tag.#claims.giveBack();
  }

  constructor(taker, what) {
    this.#claims = new Claims(taker, what);
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

  status() {
    return this.#claims.status();
  }
}

module.exports = { Taker, giveBack };
