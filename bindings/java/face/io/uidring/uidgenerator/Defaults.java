package io.uidring.uidgenerator;

/** What their generator has where a program sets nothing. */
final class Defaults {
    static final int TIME_BITS = 28;
    static final int WORKER_BITS = 22;
    static final int SEQ_BITS = 13;

    /** The midnight in China with which 2016-05-20 began. */
    static final long EPOCH_SECONDS = 1_463_673_600;

    private Defaults() {}
}
