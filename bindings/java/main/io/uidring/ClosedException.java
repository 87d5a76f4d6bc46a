package io.uidring;

/** The generator was closed. A thread that takes while another closes gets this. */
public final class ClosedException extends UidringException {
    private static final long serialVersionUID = 1;

    // The native library makes one.
    ClosedException(String message, int filled) {
        super(message, filled);
    }
}
