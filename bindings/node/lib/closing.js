'use strict';
// Closes at the end of the program what is still open: a leased worker id and the numbers that are
// left are given back then, where others can have them.

/** What is open, each with what closes it and waits. What the program has lost is not kept. */
const open = new Set();
const forget = new FinalizationRegistry((known) => open.delete(known));

/** Has `close` called with `holder` at the end of the program, until `forgotten` of the result. */
function closedAtExit(holder, close) {
  const known = { holder: new WeakRef(holder), close };
  open.add(known);
  forget.register(holder, known, known);
  return known;
}

function forgotten(known) {
  open.delete(known);
  forget.unregister(known);
}

process.on('exit', () => {
  for (const { holder, close } of open) {
    const still = holder.deref();
    try {
      if (still !== undefined) close(still);
    } catch (error) {
      process.emitWarning(error.message, { type: 'UidringWarning', code: error.code });
    }
  }
});

/** What a class has that is closed: `close`, and what `using` and `await using` call. */
function closes(prototype) {
  const define = (symbol, value) =>
    symbol &&
    Object.defineProperty(prototype, symbol, { value, configurable: true, writable: true });
  define(Symbol.asyncDispose, function asyncDispose() {
    return this.close();
  });
  // It cannot wait.
  define(Symbol.dispose, function dispose() {
    this.close().catch((error) =>
      process.emitWarning(error.message, { type: 'UidringWarning', code: error.code }),
    );
  });
}

module.exports = { closedAtExit, closes, forgotten };
