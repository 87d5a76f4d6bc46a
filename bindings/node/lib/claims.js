'use strict';
// Takes out of a claim.
//
// One call of the library claims many ids, and a take is an addition here:
//
//   place     0                                           length
//             ├───────────────────────────────────────────┤
//   id        first                      ▲ place
//
// The library lowers its word when the ids have become too old, or the generator has ended. So an
// id may be given as long as the word holds what it held before the claim. It is read as a number
// of 64 bits of the other kind, which is never NaN: as a bigint, each look would need memory.
//
// A take that begins after another has returned gives the larger id. A claim follows another only
// when nothing can be taken from that one any more. And nothing is taken from the library, where
// ids are larger than those of the claim, while a claim has ids: `direct` counts the takes that
// wait there, and while there are any, nothing is claimed.

const { isBigInt64Array, isBigUint64Array } = require('node:util/types');
const { performance } = require('node:perf_hooks');
const native = require('./native.js');
const { begin, door, end } = require('./calls.js');
const { UidringError, guarded, invalid, ours } = require('./errors.js');
const values = require('./values.js');

/** How many ids are claimed at once, at most: as many as by a local taker of the library. */
const LONGEST = 4096;

/** How long a take goes on trying in exact time. */
const SOON_MS = 5;

class Claims {
  #taker;
  #what;
  /** The library's word. Null where each id is taken when it is needed, as in exact time. */
  #word;
  #first = 0n;
  #step = 1;
  #place = 0;
  #length = 0;
  #end = 0;
  /** How many ids the next claim has. */
  #wanted = 1;
  #direct = 0;
  #claimed = new BigUint64Array(4);
  #ends = new Float64Array(this.#claimed.buffer);

  /** `what` is taken: "UID", or "number". */
  constructor(taker, what) {
    this.#taker = taker;
    this.#what = what;
    const word = guarded(() => native.claimsEnd(taker));
    this.#word = word && new Float64Array(word);
  }

  take() {
    const place = this.#place;
    if (place < this.#length && this.#word[0] === this.#end) {
      this.#place = place + 1;
      return BigInt.asIntN(64, this.#first + BigInt(place * this.#step));
    }
    const id = this.#takeNext() ?? this.#takeSoon();
    if (id === null) throw this.#none();
    return id;
  }

  /** In exact time a tick may be full, and the next one comes at once. */
  #takeSoon() {
    if (this.#word !== null) return null;
    const end = performance.now() + SOON_MS;
    let id = null;
    while (id === null && performance.now() < end) id = this.#takeNext();
    return id;
  }

  /** An id if there is one now, or null. */
  #tryTake() {
    return this.#hasSome() ? this.take() : this.#takeNext();
  }

  #hasSome() {
    return this.#place < this.#length && this.#word[0] === this.#end;
  }

  /** The first id of another claim, or null. */
  #takeNext() {
    return guarded(() => {
      if (this.#word === null || this.#direct > 0) return native.tryTake(this.#taker);
      // What expires is lost, so a program that takes seldom claims one id at a time.
      const isUsedUp = this.#word[0] === this.#end;
      this.#wanted = isUsedUp ? Math.min(2 * this.#wanted, LONGEST) : 1;
      this.#length = 0;
      if (!native.claim(this.#taker, this.#wanted, this.#claimed)) return null;
      const [first, length, step] = this.#claimed;
      this.#first = first;
      this.#length = Number(length);
      this.#step = Number(step);
      this.#end = this.#ends[3];
      // The first id may be given, whatever happens.
      this.#place = 1;
      return first;
    });
  }

  #none() {
    const { obstacle } = this.status();
    const why = obstacle === null ? '' : `: ${obstacle}`;
    const message = `there is no ${this.#what} now, and takeAsync waits for one${why}`;
    return new UidringError('UIDRING_UNAVAILABLE', message);
  }

  async takeAsync({ signal } = {}) {
    signal?.throwIfAborted();
    const id = this.#tryTake();
    return id === null ? this.#wait(signal) : id;
  }

  #wait(signal) {
    return new Promise((resolve, reject) => {
      const poll = () => {
        try {
          const id = native.pollTake(taking);
          if (id !== null) finish(resolve, id);
        } catch (error) {
          finish(reject, ours(error));
        }
      };
      const finish = (settle, value) => {
        end(number);
        native.endTake(taking);
        signal?.removeEventListener('abort', abort);
        this.#direct -= 1;
        settle(value);
      };
      const abort = () => finish(reject, signal.reason);
      const number = begin(poll);
      const taking = native.beginTake(door, number, this.#taker);
      this.#direct += 1;
      signal?.addEventListener('abort', abort);
      poll();
    });
  }

  /** Fills an array with the ids that there are now. */
  fill(array) {
    if (!isBigInt64Array(array) && !isBigUint64Array(array)) {
      throw invalid('fill takes a BigInt64Array or a BigUint64Array');
    }
    const filled = this.#fillFrom(array, 0);
    if (filled < array.length) throw Object.assign(this.#none(), { filled });
  }

  takeMany(count) {
    const ids = new BigInt64Array(values.count(count));
    const filled = this.#fillFrom(ids, 0);
    if (filled < count) throw this.#halfway(this.#none(), ids, filled);
    return ids;
  }

  async takeManyAsync(count, { signal } = {}) {
    signal?.throwIfAborted();
    const ids = new BigInt64Array(values.count(count));
    let filled = 0;
    try {
      while ((filled = this.#fillFrom(ids, filled)) < count) {
        ids[filled] = await this.takeAsync({ signal });
        filled += 1;
      }
    } catch (error) {
      throw this.#halfway(error, ids, filled);
    }
    return ids;
  }

  /** Those that were taken are the caller's. */
  #halfway(error, ids, filled) {
    return error instanceof UidringError
      ? Object.assign(error, { filled, numbers: ids.slice(0, filled) })
      : error;
  }

  /** Fills an array from an element on. Returns how many elements have ids then. */
  #fillFrom(array, from) {
    let at = from;
    while (at < array.length && this.#hasSome()) array[at++] = this.take();
    if (at === array.length) return at;
    const fill = isBigInt64Array(array) ? native.fill : native.fillUnsigned;
    try {
      return fill(this.#taker, array, at);
    } catch (error) {
      throw ours(error);
    }
  }

  /** Gives back what is left, before the end of a tag. */
  giveBack() {
    if (this.#hasSome()) guarded(() => native.giveBack(this.#taker, this.#place));
    this.#length = 0;
    this.#direct += 1;
  }

  status() {
    return JSON.parse(guarded(() => native.status(this.#taker)));
  }
}

module.exports = { Claims };
