package io.uidring;

import java.lang.ref.Reference;
import java.util.Objects;

/**
 * Makes texts of ids, such as {@code ord_5H7WY7KKXFH1JCEMMC78CF0N9T}, which tell nothing and cannot
 * be made up.
 *
 * <pre>{@code
 * Opaque orders = new Opaque(System.getenv("MASK_KEY"), "ord");
 * String shown = orders.encode(order);
 * long same = orders.decode(shown); // or an InvalidArgumentException
 * }</pre>
 *
 * <p>Each prefix has keys of its own: the text of an order is refused where that of a customer is
 * expected.
 */
public final class Opaque implements AutoCloseable {
    private final long handle;
    private final Memory memory;

    /**
     * Makes texts with a prefix.
     *
     * @param keys as for {@link Masked}; the first makes texts, and those of all are read
     * @param prefix what stands before the {@code _}, such as {@code ord}
     * @throws InvalidArgumentException if these are no keys, or it is no prefix; the message has
     *     nothing of the keys
     */
    public Opaque(String keys, String prefix) {
        Objects.requireNonNull(keys, "the keys are null");
        Objects.requireNonNull(prefix, "the prefix is null");
        NativeLibrary.load();
        handle = Native.newOpaque(keys, prefix);
        memory = new Memory(this, handle);
    }

    /**
     * The text of an id.
     *
     * @param id the id
     * @return the prefix, {@code _} and 26 characters
     * @throws InvalidArgumentException if the id is 0 or negative
     * @throws ClosedException after a {@link #close}
     */
    public String encode(long id) {
        try {
            return Native.encode(handle, id);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The id of a text.
     *
     * @param text the text
     * @return the id
     * @throws InvalidArgumentException if the text was made up, or is of another kind
     * @throws ClosedException after a {@link #close}
     */
    public long decode(String text) {
        try {
            return Native.decode(handle, Objects.requireNonNull(text, "the text is null"));
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
        memory.close(this, Native::closeOpaque);
    }
}
