/** Unique, positive 64-bit ids, made inside the process: {@link io.uidring.UidGenerator}. */
module io.uidring {
    exports io.uidring;
}
