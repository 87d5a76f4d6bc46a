/// <reference types="node" />
import { EventEmitter } from 'node:events';

/** A whole number as a bigint, or as a text of digits, as ids are in JSON. */
export type Whole = bigint | string;

/** The path of a SQLite file, or the address of a server such as `postgres://ids@db/ids`. */
export type Address = string | URL;

/** A length of time, such as `500ms`, `10s`, `1h30m` or `1d`. */
export type Length = string;

/** What a call fails with. The message says what happened and what to do. */
export class UidringError extends Error {
  constructor(code: Code, message: string, options?: ErrorOptions);
  readonly code: Code;
  /** Whether the same call may succeed later. */
  readonly isTransient: boolean;
  /** After a `fill` or `takeMany` that failed half-way: how many ids were taken. */
  filled?: number;
  /** After a `takeMany` that failed half-way: the ids that were taken. They are yours. */
  numbers?: BigInt64Array;
}

/** What a caller can do about an error. */
export type Code =
  | 'UIDRING_INVALID_ARGUMENT'
  | 'UIDRING_UNAVAILABLE'
  | 'UIDRING_REFUSED'
  | 'UIDRING_CLOSED'
  | 'UIDRING_FORKED'
  | 'UIDRING_INTERNAL';

/** What operators should know. */
export interface UidringEvent {
  level: 'error' | 'warn' | 'info' | 'debug';
  name: string;
  /** The name, what it says, and the fields, in one line. */
  text: string;
  time: Date;
  fields: Record<string, string | number>;
}

/**
 * Tells each event by its name, such as `lease_lost`, and all of them as `event`. Where nobody
 * listens, those that warn are warnings of the process.
 */
export const events: EventEmitter;

/** Who asks a server, where the address does not say it. */
export interface Login {
  user?: string;
  password?: string;
  /** For tests alone: take a server that may forget what it has confirmed. */
  onlyForTests?: boolean;
}

/** The layout of UIDs, and how they are taken. */
export interface UidOptions {
  exactTime?: boolean;
  maxLead?: Length;
  maxLag?: Length;
  onLeadLimit?: 'new-worker' | 'wait' | 'fail';
  maxNewWorkers?: number;
  slots?: number;
  preset?:
    | 'default'
    | 'uid-generator'
    | 'uid-generator-starter'
    | 'twitter'
    | 'sharding-sphere'
    | 'seata'
    | 'js-safe'
    | 'discord'
    | 'instagram'
    | 'tsid';
  layout?: string;
  order?: 'time-first' | 'worker-first';
  epoch?: string | Date;
  tick?: Length;
  maxForwardJump?: Length;
  startDeadline?: Length;
  shutdownDeadline?: Length;
}

export interface OpenOptions extends UidOptions, Login {
  lease?: Length;
  partition?: string;
  workerIds?: string;
  uidGenerator?: boolean;
  timeout?: Length;
}

export interface FixedOptions extends UidOptions {
  /** The file that keeps up to which time the worker id was used. */
  state?: string | URL;
  /** For a test: the time at which the clock stands still. */
  testTime?: string | Date;
  /** The sequence of the first id at `testTime`. */
  testSequence?: number;
}

/** What a UID holds. */
export interface Parts {
  time: Date;
  worker: number;
  sequence: number;
}

/** What ends a wait. */
export interface Waits {
  signal?: AbortSignal;
}

/** What a store has answered last. */
export interface StoreState {
  name: string;
  reachable: boolean;
  since: string | null;
  asked_at?: string | null;
  error: string | null;
}

/** A state. Lengths are in milliseconds, and times are texts in RFC 3339. */
export interface State {
  state: 'running' | 'failing' | 'closed' | 'forked';
  /** Why takes fail. */
  obstacle: string | null;
  store: StoreState | null;
  [name: string]: unknown;
}

/** The state of a generator. */
export interface UidStatus extends State {
  layout: string;
  worker_id: number | null;
  lead_ms: number;
  lag_ms: number;
  available: number;
  taken: number;
  lost: number;
}

/** What ids and numbers are taken from. */
interface Taker {
  /** Takes one that there is now. Where there is none, it throws: in exact time, after 5 ms. */
  take(): bigint;
  /** The same as a text of digits, for JSON. */
  takeText(): string;
  /** Takes one, and waits for it in turn if there is none now. */
  takeAsync(options?: Waits): Promise<bigint>;
  /** Takes many that there are now. */
  takeMany(count: number): BigInt64Array;
  /** Takes many, and waits for them if there are not as many now. */
  takeManyAsync(count: number, options?: Waits): Promise<BigInt64Array>;
  /** Fills an array with ones that there are now. */
  fill(array: BigInt64Array | BigUint64Array): void;
}

/** Gives unique, positive 64-bit ids that sort by time. */
export class UidGenerator implements AsyncDisposable, Disposable {
  private constructor();
  /** Opens a generator with a worker id from a store. */
  static open(address: Address, options?: OpenOptions): Promise<UidGenerator>;
  /** Opens a generator with a worker id of your own, which no other may have at a time. */
  static fixed(worker: Whole | number, options?: FixedOptions): Promise<UidGenerator>;
  /** Decodes a UID of this generator's layout. */
  parts(uid: Whole): Parts;
  /** The layout of the UIDs, as options: `layout=30,20,13 tick=1000ms epoch=2026-...`. */
  readonly layout: string;
  /** The worker id in the UIDs that are given now. */
  readonly workerId: number;
  status(): UidStatus;
  /** Ends all takes, and gives a leased worker id back. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /** Begins to close, without waiting for the end of it. */
  [Symbol.dispose](): void;
}

export interface UidGenerator extends Taker {}

/** Gives ids of times that were, for rows that are older than their ids. */
export class PastGenerator implements AsyncDisposable, Disposable {
  private constructor();
  static open(address: Address, options?: OpenOptions): Promise<PastGenerator>;
  /** Takes a UID whose time is that of `time`, a Date or milliseconds since 1970. */
  takeAt(time: Date | number): Promise<bigint>;
  /** Takes a UID for each of the times, in their order. */
  takeTimes(times: Iterable<Date | number>): Promise<BigInt64Array>;
  parts(uid: Whole): Parts;
  readonly layout: string;
  readonly workerId: number;
  status(): State;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  [Symbol.dispose](): void;
}

/** How numbers are loaded. */
export interface LoadOptions extends Login {
  maxWait?: Length;
  ahead?: Length;
  refresh?: Length;
  maxInMemory?: number | string;
  loads?: number;
  shutdownDeadline?: Length;
  timeout?: Length;
}

export interface SegmentOptions extends LoadOptions {
  table?: 'own' | 'leaf' | 'tinyid' | 'cosid';
}

export interface NewTag {
  first?: Whole | number;
  step?: number | string;
  maxStep?: number | string;
  description?: string;
}

/** The numbers of one tag: 1, 2, 3. */
export class Tag {
  private constructor();
  readonly name: string;
  status(): State;
}

export interface Tag extends Taker {}

/** The dense numbers of a store. */
export class Segments implements AsyncDisposable, Disposable {
  private constructor();
  static open(address: Address, options?: SegmentOptions): Promise<Segments>;
  /** Creates a tag, or finds one that is as it is asked for. */
  create(name: string, options?: NewTag): Promise<Tag>;
  /** The numbers of a tag that is there. */
  tag(name: string): Promise<Tag>;
  /** Takes a number of a tag by its name. */
  take(name: string, options?: Waits): Promise<bigint>;
  /** Ends all takes, and gives back the numbers that are left. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  [Symbol.dispose](): void;
}

/** A number that people see. As a text, and in JSON, it is its text. */
export class SeriesNumber {
  private constructor();
  readonly text: string;
  readonly value: bigint;
  /** The period in which it was counted, such as `2026-11-24`, and the one that the text shows. */
  readonly period: string;
  readonly shown: string;
  readonly scope: string | null;
  toString(): string;
  toJSON(): string;
}

/** Which number of a series is meant. */
export interface Of {
  scope?: string;
  /** Of this day instead of today, such as `2026-11-24`. */
  date?: string;
}

export interface NewSeries {
  timeZone?: string;
  gapless?: boolean;
  restart?: 'day' | 'week' | 'month' | 'quarter' | 'year' | 'fiscal-year' | 'never';
  fiscalYearFrom?: string;
  first?: Whole | number;
  step?: number | string;
}

export type Database = 'sqlite' | 'postgres' | 'mysql';

/** Runs a statement in a transaction, and returns its rows. All columns are texts. */
export type Query<Rows> = (sql: string, values: (string | bigint)[]) => Rows;
type Rows = Iterable<readonly unknown[] | object> | null | undefined | void;

/** A client of pg, a connection of mysql2, better-sqlite3 or node:sqlite, or a function. */
export type Transaction = Query<Rows | Promise<Rows>> | { query: unknown } | { prepare: unknown };

/** The numbers that people see. */
export class Series implements AsyncDisposable, Disposable {
  private constructor();
  static open(address: Address, options?: LoadOptions): Promise<Series>;
  /** Series that are counted in your transactions alone. No store is open. */
  static inTransactions(database: Database): Series;
  /** Creates a series, or finds one that is as it is asked for. */
  create(name: string, pattern: string, options?: NewSeries): Promise<void>;
  next(name: string, of?: Of): Promise<SeriesNumber>;
  /** Takes 1 to a million numbers. Where fewer fit the pattern, it takes those. */
  nextMany(name: string, count: number, of?: Of): Promise<SeriesNumber[]>;
  /** Counts the next number in your own transaction: both are stored, or neither is. */
  nextIn(transaction: Transaction, name: string, of?: Of): Promise<SeriesNumber>;
  /** The same by a driver that waits, such as better-sqlite3. */
  nextInSync(transaction: Query<Rows> | { prepare: unknown }, name: string, of?: Of): SeriesNumber;
  /** Reads a series by your own transaction, for `parse` and `format` of `inTransactions`. */
  readIn(transaction: Transaction, name: string): Promise<void>;
  parse(name: string, text: string): Promise<SeriesNumber>;
  format(name: string, number: Whole | number, of?: Of): Promise<string>;
  /** Gives a full series a wider number at once. */
  widen(name: string, pattern: string): Promise<void>;
  status(name: string, of?: Of): Promise<State>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  [Symbol.dispose](): void;
}

/** Whether another transaction may not meet this error, of this package or of a driver. */
export function isTransient(error: unknown): boolean;

/** Ids as numbers that tell nothing. */
export class Masked implements Disposable {
  /** 64 hexadecimal digits, or the text of a file of keys. */
  constructor(keys: string);
  mask(id: Whole): bigint;
  maskMany<Ids extends BigInt64Array | BigUint64Array>(ids: Ids): Ids;
  unmask(masked: Whole): bigint;
  /** Forgets the keys. */
  close(): void;
  [Symbol.dispose](): void;
}

/** Ids as texts that cannot be made up. */
export class Opaque implements Disposable {
  constructor(keys: string, prefix: string);
  encode(id: Whole): string;
  decode(text: string): bigint;
  close(): void;
  [Symbol.dispose](): void;
}

export interface Loss {
  /** How long the id may still be used. */
  timeLeftMs: number;
  text: string;
}

export interface LoanOptions extends Login {
  lease?: Length;
  rest?: Length;
  host?: string;
  timeout?: Length;
  /** Called once, when the id is about to be lost. */
  onLoss?: (loss: Loss) => void;
}

/** A worker id that is lent, for a generator of another's. */
export class WorkerId implements AsyncDisposable, Disposable {
  private constructor();
  /** Lends an id of a pool, whose ids have so many bits. */
  static lend(
    address: Address,
    pool: string,
    bits: number,
    options?: LoanOptions,
  ): Promise<WorkerId>;
  readonly id: number;
  /** Whether ids may be made with it now. It asks no store. */
  readonly isHeld: boolean;
  status(): { state: 'held' | 'lost'; id: number; [name: string]: unknown };
  /** Returns it. Make no more ids with it before. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  [Symbol.dispose](): void;
}
