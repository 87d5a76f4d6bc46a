'use strict';

const native = require('./native.js');
const { ask, door } = require('./calls.js');
const { closedAtExit, closes, forgotten } = require('./closing.js');
const { own } = require('./own.js');
const { Taker, giveBack } = require('./taker.js');
const values = require('./values.js');

class Tag extends Taker {
  #name;

  constructor(key, taker, name) {
    if (key !== own) throw new TypeError('a Tag is made by create or tag of Segments');
    super(taker, 'number');
    this.#name = name;
  }

  get name() {
    return this.#name;
  }
}

class Segments {
  #segments;
  /** Those that were created or found: each has claims of its own, so there is one of a name. */
  #tags = new Map();
  #atExit;

  constructor(key, segments) {
    if (key !== own) throw new TypeError('Segments are made by Segments.open');
    this.#segments = segments;
    this.#atExit = closedAtExit(this, (holder) => {
      holder.#giveBack();
      native.closeSegmentsNow(holder.#segments);
    });
  }

  static async open(address, options) {
    const [at, texts] = [values.address(address), values.options(options)];
    return new Segments(own, await ask((number) => native.openSegments(door, number, at, texts)));
  }

  async create(name, options) {
    const [tag, texts] = [values.text('a tag', name), values.options(options)];
    const ours = this.#segments;
    return this.#known(
      tag,
      await ask((number) => native.createTag(door, number, ours, tag, texts)),
    );
  }

  async tag(name) {
    const tag = values.text('a tag', name);
    const ours = this.#segments;
    return (
      this.#tags.get(tag) ??
      this.#known(tag, await ask((number) => native.findTag(door, number, ours, tag)))
    );
  }

  #known(name, taker) {
    if (!this.#tags.has(name)) this.#tags.set(name, new Tag(own, taker, name));
    return this.#tags.get(name);
  }

  /** Takes a number of a tag by its name. */
  async take(name, options) {
    return (await this.tag(name)).takeAsync(options);
  }

  #giveBack() {
    this.#tags.forEach(giveBack);
  }

  async close() {
    this.#giveBack();
    await ask((number) => native.closeSegments(door, number, this.#segments));
    forgotten(this.#atExit);
  }
}
closes(Segments.prototype);

module.exports = { Segments, Tag };
