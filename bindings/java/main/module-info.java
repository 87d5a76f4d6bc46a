/** Unique, positive 64-bit ids, made inside the process: {@link io.uidring.UidGenerator}. */
module io.uidring {
    // For what a close says while the program ends.
    requires static java.logging;

    exports io.uidring;
}
