package com.github.wujun234.uid.worker;

/** Gives a worker id to each start of a program. */
public interface WorkerIdAssigner {
    /**
     * Gives a worker id.
     *
     * @return a worker id that no other running program has, nor had before
     */
    long assignWorkerId();

    /**
     * Gives another worker id after the clock went back. Nothing of uidring calls it: its ids go on
     * with their time.
     *
     * @return a worker id
     */
    long assignFakeWorkerId();
}
