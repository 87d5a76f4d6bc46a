package io.uidring;

/**
 * The process was forked from the one that opened the generator. A Java program does not fork
 * itself, so this is for code that runs a Java machine inside another program.
 */
public final class ForkedException extends UidringException {
    private static final long serialVersionUID = 1;

    // The native library makes one.
    ForkedException(String message, int filled) {
        super(message, filled);
    }
}
