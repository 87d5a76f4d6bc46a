package io.uidring.spring;

/** There is no store: the message says what to set. */
public class NoAddressException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    NoAddressException(String message) {
        super(message);
    }
}
