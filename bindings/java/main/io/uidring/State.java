package io.uidring;

/** What takes do, in a word. */
public enum State {
    /** They give numbers. */
    RUNNING,
    /** They fail, or wait for long, for the reason that is the obstacle. Later ones may succeed. */
    FAILING,
    /** They fail for good, because it was closed. */
    CLOSED,
    /** They fail for good, in a process that was forked from the one that opened it. */
    FORKED,
    /** A lent worker id may be used. */
    HELD,
    /** A lent worker id may not be used any more. */
    LOST
}
