package io.uidring;

import java.lang.ref.Reference;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Dense numbers, counted per tag: 1, 2, 3 and so on. A process takes a range of them from the store
 * before it is needed, so a take costs what a UID costs.
 *
 * <pre>{@code
 * try (Segments segments = Segments.open("postgres://ids@db.example.com/ids")) {
 *     SegmentTag customers = segments.create("customers", "first=1001", "step=100");
 *     System.out.println(customers.take()); // 1001
 * }
 * }</pre>
 *
 * <p>Open one per process, and share it between all threads. What is said of threads and interrupts
 * at {@link UidGenerator} holds here as well, but that a take waits while numbers are being loaded,
 * if they are not loaded yet.
 */
public final class Segments implements AutoCloseable {
    private final long handle;
    private final Memory memory;
    private final ConcurrentHashMap<String, SegmentTag> tags = new ConcurrentHashMap<>();

    private Segments(long handle) {
        this.handle = handle;
        memory = Memory.ofOpened(this, handle);
    }

    /**
     * Opens the tags of a store.
     *
     * @param address as for {@link UidGenerator#open(String, String...)}; for the table of Leaf or
     *     tinyid in a MySQL database, the option {@code table} names it
     * @param options each {@code name=value}, such as {@code ahead=30s}
     * @return segments that are ready
     * @throws InvalidArgumentException if the address or an option is wrong
     * @throws UnavailableException if the store cannot be reached
     */
    public static Segments open(String address, String... options) {
        return openWith(address, Native.pairs(options));
    }

    /**
     * Opens the tags of a store with options from a map.
     *
     * @param address as for {@link #open(String, String...)}
     * @param options names and values
     * @return segments that are ready
     * @throws UidringException as {@link #open(String, String...)}
     */
    public static Segments open(String address, Map<String, String> options) {
        return openWith(address, Native.pairs(options));
    }

    private static Segments openWith(String address, String[] options) {
        Objects.requireNonNull(address, "the address is null");
        return Events.opening(() -> new Segments(Native.openSegments(address, options)));
    }

    /**
     * Creates a tag, or finds one that is as it is asked for.
     *
     * @param name the name of the tag
     * @param options each {@code name=value}, such as {@code first=1001}
     * @return the tag
     * @throws InvalidArgumentException if the name or an option is wrong
     * @throws RefusedException if the tag is there in another form
     * @throws UnavailableException if the store cannot be reached
     */
    public SegmentTag create(String name, String... options) {
        return createWith(name, Native.pairs(options));
    }

    /**
     * Creates a tag with options from a map, or finds one that is as it is asked for.
     *
     * @param name the name of the tag
     * @param options names and values
     * @return the tag
     * @throws UidringException as {@link #create(String, String...)}
     */
    public SegmentTag create(String name, Map<String, String> options) {
        return createWith(name, Native.pairs(options));
    }

    private SegmentTag createWith(String name, String[] options) {
        Objects.requireNonNull(name, "the name of the tag is null");
        try {
            SegmentTag tag = Waits.apart(() ->
                    new SegmentTag(this, name, Native.createTag(handle, name, options)));
            SegmentTag known = tags.putIfAbsent(name, tag);
            return known == null ? tag : known;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Finds a tag that is there. Keep it, and take from it.
     *
     * @param name the name of the tag
     * @return the tag
     * @throws RefusedException if the store has no such tag
     * @throws UnavailableException if the store cannot be reached
     */
    public SegmentTag tag(String name) {
        Objects.requireNonNull(name, "the name of the tag is null");
        SegmentTag known = tags.get(name);
        if (known != null) {
            return known;
        }
        try {
            // A tag that is not there is asked for again each time, because it may be created.
            SegmentTag tag = Waits.apart(() ->
                    new SegmentTag(this, name, Native.findTag(handle, name)));
            known = tags.putIfAbsent(name, tag);
            return known == null ? tag : known;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes a number of a tag: {@code tag(name).take()}.
     *
     * @param name the name of the tag
     * @return a positive number
     * @throws UidringException as {@link #tag} and {@link SegmentTag#take}
     */
    public long take(String name) {
        return tag(name).take();
    }

    /**
     * Ends all takes, and gives back what is left of each tag, which may take until the option
     * {@code shutdown_deadline}. A second close succeeds, unless the first has failed.
     *
     * @throws UnavailableException if numbers were not given back in time, and are lost; all takes
     *     have ended even so
     */
    @Override
    public void close() {
        memory.closeOpened(this, open -> {
            try {
                tags.values().forEach(SegmentTag::giveBack);
                Native.closeSegments(open);
            } finally {
                tags.values().forEach(SegmentTag::closed);
            }
        });
    }
}
