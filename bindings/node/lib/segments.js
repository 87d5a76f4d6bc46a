'use strict';

const native = require('./native.js');
const { ask, door } = require('./calls.js');
const { Claims } = require('./claims.js');
const { closedAtExit, closes, forgotten } = require('./closing.js');
const { guarded } = require('./errors.js');
const { own } = require('./own.js');
const values = require('./values.js');

class Tag {
  #claims;
  #name;

  constructor(key, taker, name) {
    if (key !== own) throw new TypeError('a Tag is made by create or tag of Segments');
    this.#claims = new Claims(taker, 'number');
    this.#name = name;
  }

  get name() {
    return this.#name;
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

  /** For the end of its segments. */
  static giveBack(tag) {
    tag.#claims.giveBack();
  }
}
const { giveBack } = Tag;
delete Tag.giveBack;

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
    for (const tag of this.#tags.values()) guarded(() => giveBack(tag));
  }

  async close() {
    this.#giveBack();
    await ask((number) => native.closeSegments(door, number, this.#segments));
    forgotten(this.#atExit);
  }
}
closes(Segments.prototype);

module.exports = { Segments, Tag };
