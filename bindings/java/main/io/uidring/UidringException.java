package io.uidring;

/**
 * Why a call failed. The message says what happened and what to do, with the causes. The subclass
 * says what a caller can do.
 */
public abstract sealed class UidringException extends RuntimeException
        permits InvalidArgumentException,
                UnavailableException,
                RefusedException,
                ClosedException,
                ForkedException,
                InternalException {
    private static final long serialVersionUID = 1;

    /** How many elements of an array are new. */
    private int filled;

    UidringException(String message, int filled) {
        super(message);
        this.filled = filled;
    }

    void setFilled(int filled) {
        this.filled = filled;
    }

    /**
     * How many elements from the start of the array that was passed to a {@code fill} are new and
     * the caller's to use. The others are as they were. It is 0 for calls without an array.
     *
     * @return the number of new elements
     */
    public int filled() {
        return filled;
    }
}
