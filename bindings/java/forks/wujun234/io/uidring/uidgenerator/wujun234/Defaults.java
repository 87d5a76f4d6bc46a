package io.uidring.uidgenerator.wujun234;

/** What their generator has where a program sets nothing. */
final class Defaults {
    static final int TIME_BITS = 30;
    static final int WORKER_BITS = 16;
    static final int SEQ_BITS = 7;

    /** The midnight in China with which 2019-02-20 began. */
    static final long EPOCH_SECONDS = 1_550_592_000;

    private Defaults() {}
}
