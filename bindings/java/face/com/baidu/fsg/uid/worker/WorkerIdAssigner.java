package com.baidu.fsg.uid.worker;

/** Gives a worker id to each start of a program. */
public interface WorkerIdAssigner {
    /**
     * Gives a worker id.
     *
     * @return a worker id that no other running program has, nor had before
     */
    long assignWorkerId();
}
