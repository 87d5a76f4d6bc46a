package io.uidring;

/** The store refuses, or something is used up. Somebody has to change something. */
public final class RefusedException extends UidringException {
    private static final long serialVersionUID = 1;

    // The native library makes one.
    RefusedException(String message, int filled) {
        super(message, filled);
    }
}
