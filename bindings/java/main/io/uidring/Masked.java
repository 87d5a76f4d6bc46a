package io.uidring;

import java.lang.ref.Reference;
import java.util.Objects;

/**
 * Masks ids as numbers that tell nothing: neither time, nor worker, nor order, nor how many there
 * are. It takes the ids of a {@link UidGenerator} and dense numbers.
 *
 * <pre>{@code
 * Masked masked = new Masked(System.getenv("MASK_KEY"));
 * long shown = masked.mask(order);
 * long same = masked.unmask(shown);
 * }</pre>
 *
 * <p>Each id has one form under a key, and each number from 1 to 2<sup>63</sup>-1 is the form of
 * some id: nothing tells one that was made up. {@link Opaque} does.
 */
public final class Masked implements AutoCloseable {
    private final long handle;
    private final Memory memory;

    /**
     * Masks with a key.
     *
     * @param keys 64 hexadecimal digits, as {@code openssl rand -hex 32} prints them, or the text
     *     of a file of keys, of which the first masks
     * @throws InvalidArgumentException if these are no keys; the message has nothing of them
     */
    public Masked(String keys) {
        Objects.requireNonNull(keys, "the keys are null");
        NativeLibrary.load();
        handle = Native.newMasked(keys);
        memory = new Memory(this, handle);
    }

    /**
     * The masked form of an id.
     *
     * @param id the id
     * @return a positive number
     * @throws InvalidArgumentException if the id is 0 or negative
     * @throws ClosedException after a {@link #close}
     */
    public long mask(long id) {
        try {
            return Native.mask(handle, id);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The masked forms of many ids, each in a fraction of the time.
     *
     * @param ids the ids
     * @return as many positive numbers, in the same order
     * @throws InvalidArgumentException if an id is 0 or negative
     * @throws ClosedException after a {@link #close}
     */
    public long[] mask(long[] ids) {
        try {
            return Native.maskMany(handle, Objects.requireNonNull(ids, "the ids are null"));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The id of a masked form.
     *
     * @param masked the masked form
     * @return the id
     * @throws InvalidArgumentException if the number is 0 or negative
     * @throws ClosedException after a {@link #close}
     */
    public long unmask(long masked) {
        try {
            return Native.unmask(handle, masked);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Overwrites the library's copy of the keys; the text that was passed stays in memory until
     * Java frees it, and what Java has copied of it for the call is not overwritten either. A
     * second close succeeds.
     */
    @Override
    public void close() {
        memory.close(this, Native::closeMasked);
    }
}
