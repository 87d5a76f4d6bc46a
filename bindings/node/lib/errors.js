'use strict';
// What each call fails with.

class UidringError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.code = code;
  }

  /** Whether the same call may succeed later. */
  get isTransient() {
    return this.code === 'UIDRING_UNAVAILABLE';
  }
}
Object.defineProperty(UidringError.prototype, 'name', { value: 'UidringError' });

/** What the library has thrown, as an error of the package. */
function ours(error) {
  const isOurs = typeof error?.code === 'string' && error.code.startsWith('UIDRING_');
  return isOurs && !(error instanceof UidringError)
    ? new UidringError(error.code, error.message)
    : error;
}

/** What a function of the library returns. */
function guarded(call) {
  try {
    return call();
  } catch (error) {
    throw ours(error);
  }
}

const invalid = (message) => new UidringError('UIDRING_INVALID_ARGUMENT', message);

module.exports = { UidringError, guarded, invalid, ours };
