package io.uidring;

/** Native methods that a library for tests has. */
final class NativeForTests {
    private NativeForTests() {}

    /** How many handles are not freed. */
    static native int handles();

    /** Fails in the way of a kind, by its code. */
    static native void fail(int kind);

    /** Has the next event fail while it is read. */
    static native void failNextEvent();
}
