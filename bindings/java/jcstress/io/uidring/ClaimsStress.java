package io.uidring;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** What {@link Claims} promises to threads that take at once, whatever the machine reorders. */
final class ClaimsStress {
    private ClaimsStress() {}

    /** A generator of its own, from which several threads take. */
    abstract static class Taken {
        final long handle = Native.open();
        final Claims claims = new Claims(Waits.Source.UIDS, handle);
    }

    /**
     * Each id is given once, and none is left out, while claims of two are replaced.
     */
    @JCStressTest
    @Outcome(id = "true", expect = ACCEPTABLE, desc = "the ids are 1 to 6, in each thread's order")
    @State
    public static class Replaced extends Taken {
        private long a1;
        private long a2;
        private long a3;
        private long b1;
        private long b2;
        private long b3;

        @Actor
        public void one() {
            a1 = claims.take();
            a2 = claims.take();
            a3 = claims.take();
        }

        @Actor
        public void other() {
            b1 = claims.take();
            b2 = claims.take();
            b3 = claims.take();
        }

        @Arbiter
        public void all(Z_Result result) {
            long bits = 1L << a1 | 1L << a2 | 1L << a3 | 1L << b1 | 1L << b2 | 1L << b3;
            boolean isOrdered = a1 < a2 && a2 < a3 && b1 < b2 && b2 < b3;
            result.r1 = isOrdered && bits == 0b111_1110;
        }
    }

    /** A take that begins after another has returned gives the larger id. */
    @JCStressTest
    @Outcome(id = "true", expect = ACCEPTABLE, desc = "what came later is larger")
    @State
    public static class Ordered extends Taken {
        private volatile long given;
        private long seen;
        private long taken;

        @Actor
        public void one() {
            claims.take();
            given = claims.take();
        }

        @Actor
        public void other() {
            seen = given;
            taken = claims.take();
        }

        @Arbiter
        public void all(Z_Result result) {
            result.r1 = taken > seen;
        }
    }

    /** Of a claim that has become too old, nothing is given any more. */
    @JCStressTest
    @Outcome(id = "true", expect = ACCEPTABLE, desc = "what was claimed before is gone")
    @State
    public static class Expired extends Taken {
        /** How long one thread waits for the other, so that most claims expire half-used. */
        private static final int SPINS = 1_000;

        private volatile boolean isClaimed;
        private volatile boolean isExpired;
        private boolean wasExpired;
        private long first;
        private long second;

        @Actor
        public void filler() {
            for (int spin = 0; spin < SPINS && !isClaimed; spin++) {
                Thread.onSpinWait();
            }
            Native.expire(handle);
            isExpired = true;
        }

        @Actor
        public void taker() {
            // A claim has two ids.
            first = claims.take();
            isClaimed = true;
            for (int spin = 0; spin < SPINS && !isExpired; spin++) {
                Thread.onSpinWait();
            }
            wasExpired = isExpired;
            second = claims.take();
        }

        @Arbiter
        public void all(Z_Result result) {
            result.r1 = first < second && (!wasExpired || second > 1_000);
        }
    }

    /** An array is filled from several claims, and other threads get what is between. */
    @JCStressTest
    @Outcome(id = "true", expect = ACCEPTABLE, desc = "the ids are 1 to 7, in each thread's order")
    @State
    public static class Filled extends Taken {
        private final long[] array = new long[5];
        private long b1;
        private long b2;

        @Actor
        public void one() {
            claims.fill(array);
        }

        @Actor
        public void other() {
            b1 = claims.take();
            b2 = claims.take();
        }

        @Arbiter
        public void all(Z_Result result) {
            long bits = 1L << b1 | 1L << b2;
            boolean isOrdered = b1 < b2;
            for (int i = 0; i < array.length; i++) {
                bits |= 1L << array[i];
                isOrdered &= i == 0 || array[i - 1] < array[i];
            }
            result.r1 = isOrdered && bits == 0b1111_1110;
        }
    }
}
