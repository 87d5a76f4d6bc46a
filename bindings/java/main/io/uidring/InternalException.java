package io.uidring;

/**
 * Something failed that should not have: a mistake in uidring. The message says what, and the
 * generator may be used on.
 */
public final class InternalException extends UidringException {
    private static final long serialVersionUID = 1;

    // The native library makes one.
    InternalException(String message, int filled) {
        super(message, filled);
    }
}
