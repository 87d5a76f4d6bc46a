'use strict';

const native = require('./native.js');
const { ask, door } = require('./calls.js');
const { closedAtExit, closes, forgotten } = require('./closing.js');
const drivers = require('./drivers.js');
const { UidringError, guarded, invalid } = require('./errors.js');
const { own } = require('./own.js');
const values = require('./values.js');

/** A number of a series. As a text, and in JSON, it is its text. */
class SeriesNumber {
  constructor([text, value, period, shown, itsScope], scope) {
    this.text = text;
    this.value = BigInt(value);
    this.period = period;
    this.shown = shown;
    this.scope = itsScope ?? scope ?? null;
    Object.freeze(this);
  }

  toString() {
    return this.text;
  }

  toJSON() {
    return this.text;
  }
}

const name = (value) => values.text('a series', value);

/** The scope and the date that are meant, as the library reads them. */
function meant({ scope, date } = {}) {
  return [
    scope === undefined || scope === null ? null : values.text('a scope', scope),
    date === undefined || date === null ? null : values.day(date),
  ];
}

const refused = (message) => new UidringError('UIDRING_REFUSED', message);

class Series {
  #series;
  /** The kind of database, where the program may have transactions. */
  #database;
  #atExit;

  constructor(key, series, database, isOpen) {
    if (key !== own) throw new TypeError('Series are made by Series.open or inTransactions');
    this.#series = series;
    this.#database = database;
    if (isOpen) {
      this.#atExit = closedAtExit(this, (holder) => native.closeSeriesNow(holder.#series));
    }
  }

  static async open(address, options) {
    const [at, texts] = [values.address(address), values.options(options)];
    const series = await ask((number) => native.openSeries(door, number, at, texts));
    return new Series(own, series, values.databaseOf(at), true);
  }

  static inTransactions(database) {
    if (!['sqlite', 'postgres', 'mysql'].includes(database)) {
      throw invalid(
        `there is no kind of database ${JSON.stringify(database)}: there are sqlite, ` +
          'postgres and mysql',
      );
    }
    return new Series(own, native.seriesInTransactions(), database, false);
  }

  #ask(call, ...given) {
    return ask((number) => call(door, number, this.#series, ...given));
  }

  async create(series, pattern, options) {
    const texts = values.options(options);
    await this.#ask(native.createSeries, name(series), values.text('a pattern', pattern), texts);
  }

  async next(series, of) {
    const [scope, date] = meant(of);
    const known =
      date === null ? guarded(() => native.tryNext(this.#series, name(series), scope)) : null;
    if (known) return new SeriesNumber(known, scope);
    return new SeriesNumber(
      await this.#ask(native.nextNumbers, name(series), scope, date, 1),
      scope,
    );
  }

  async nextMany(series, count, of) {
    if (!Number.isSafeInteger(count) || count < 1 || count > 1_000_000) {
      throw invalid(`a call takes 1 to 1000000 numbers of a series, and not ${String(count)}`);
    }
    const [scope, date] = meant(of);
    const texts = await this.#ask(native.nextNumbers, name(series), scope, date, count);
    return Array.from(
      { length: texts.length / 4 },
      (_, at) => new SeriesNumber(texts.slice(4 * at, 4 * at + 4), scope),
    );
  }

  async nextIn(transaction, series, of) {
    const [scope, date] = meant(of);
    const { run, hasBegun } = drivers.of(transaction, this.#transactions());
    const given = [name(series), scope, date, this.#database, hasBegun];
    const work = native.asksStore(this.#series, name(series))
      ? await this.#ask(native.countIn, ...given)
      : guarded(() => native.countNow(this.#series, ...given));
    return new SeriesNumber(await drivers.finished(work, run), scope);
  }

  nextInSync(transaction, series, of) {
    const [scope, date] = meant(of);
    const { run, hasBegun } = drivers.of(transaction, this.#transactions());
    if (this.#atExit) {
      throw refused(
        'nextInSync is for series of inTransactions, which ask no store first: count ' +
          'by nextIn, or by those',
      );
    }
    const work = guarded(() =>
      native.countNow(this.#series, name(series), scope, date, this.#database, hasBegun),
    );
    return new SeriesNumber(drivers.finishedNow(work, run), scope);
  }

  async readIn(transaction, series) {
    const { run } = drivers.of(transaction, this.#transactions());
    const work = guarded(() => native.readNow(this.#series, name(series), this.#database));
    if (work !== null) await drivers.finished(work, run);
  }

  #transactions() {
    if (this.#database === null) {
      throw refused(
        'transactions are in SQLite, PostgreSQL and MySQL, and these series are in ' +
          'another store',
      );
    }
    return this.#database;
  }

  async parse(series, text) {
    return new SeriesNumber(
      await this.#ask(native.parseNumber, name(series), values.text('a number', text)),
    );
  }

  async format(series, number, of) {
    const value = values.whole('a number of a series is a whole number from 1 on', number);
    return this.#ask(native.formatNumber, name(series), value, ...meant(of));
  }

  async widen(series, pattern) {
    await this.#ask(native.widenSeries, name(series), values.text('a pattern', pattern));
  }

  async status(series, of) {
    return JSON.parse(await this.#ask(native.seriesStatus, name(series), meant(of)[0]));
  }

  async close() {
    await this.#ask(native.closeSeries);
    if (this.#atExit) forgotten(this.#atExit);
  }
}
closes(Series.prototype);

module.exports = { Series, SeriesNumber };
