/** Unique, positive 64-bit ids, made inside the process: {@link io.uidring.UidGenerator}. */
module io.uidring {
    // For what a close says while the program ends.
    requires static java.logging;
    // For the connections that gapless numbers are counted on.
    requires static transitive java.sql;

    exports io.uidring;
}
