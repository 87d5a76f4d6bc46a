package io.uidring;

/**
 * There is no number for now: a store cannot be reached, or a limit is reached that time
 * lifts. The same call may succeed later.
 */
public final class UnavailableException extends UidringException {
    private static final long serialVersionUID = 1;

    // The native library makes one.
    UnavailableException(String message, int filled) {
        super(message, filled);
    }
}
