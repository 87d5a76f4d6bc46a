package io.uidring;

/** An argument or an option is wrong. Nothing was done. */
public final class InvalidArgumentException extends UidringException {
    private static final long serialVersionUID = 1;

    // The native library makes one.
    InvalidArgumentException(String message, int filled) {
        super(message, filled);
    }
}
