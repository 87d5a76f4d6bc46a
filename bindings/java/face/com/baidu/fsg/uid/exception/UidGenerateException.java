package com.baidu.fsg.uid.exception;

/** Says that there is no id. */
public class UidGenerateException extends RuntimeException {
    // That of Baidu's class, so that one of them can be read as the other.
    private static final long serialVersionUID = -27048199131316992L;

    /** Without a message. */
    public UidGenerateException() {}

    /**
     * With a message and a cause.
     *
     * @param message what happened
     * @param cause why
     */
    public UidGenerateException(String message, Throwable cause) {
        super(message, cause);
    }

    /**
     * With a message.
     *
     * @param message what happened
     */
    public UidGenerateException(String message) {
        super(message);
    }

    /**
     * With a message that is formatted.
     *
     * @param format as for {@link String#format}
     * @param arguments what is put in
     */
    public UidGenerateException(String format, Object... arguments) {
        super(String.format(format, arguments));
    }

    /**
     * With a cause, whose class and message it repeats.
     *
     * @param cause why
     */
    public UidGenerateException(Throwable cause) {
        super(cause);
    }
}
