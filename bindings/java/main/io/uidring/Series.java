package io.uidring;

import java.lang.ref.Reference;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Numbers that people see, such as {@code SO20261124-000042}: those of orders, invoices and
 * tickets.
 *
 * <pre>{@code
 * try (Series series = Series.open("postgres://ids@db.example.com/ids")) {
 *     series.create("orders", "SO{yyyy}{MM}{dd}-{n:6}");
 *     System.out.println(series.next("orders").text()); // SO20261124-000001
 * }
 * }</pre>
 *
 * <p>Open one per process, and share it between all threads. A number may be missing where a
 * process is killed. Numbers without any gap have to be counted in the transaction that inserts the
 * row, which this class cannot do.
 */
public final class Series implements AutoCloseable {
    private final long handle;
    private final Memory memory;

    /** The series that have been used, by name. */
    private final Map<String, Used> used = new ConcurrentHashMap<>();

    /** A series that has been used, as the native library finds it without its name. */
    private static final class Used {
        private final long handle;
        private final Memory memory;

        Used(long handle) {
            this.handle = handle;
            memory = new Memory(this, handle);
        }

        /** After a close of all series. */
        void closed() {
            memory.closed(this);
        }
    }

    private Series(long handle) {
        this.handle = handle;
        memory = Memory.ofOpened(this, handle);
    }

    /**
     * Opens the series of a store.
     *
     * @param address as for {@link UidGenerator#open(String, String...)}
     * @param options each {@code name=value}, such as {@code max_wait=2s}
     * @return series that are ready
     * @throws InvalidArgumentException if the address or an option is wrong
     * @throws UnavailableException if the store cannot be reached
     */
    public static Series open(String address, String... options) {
        return openWith(address, Native.pairs(options));
    }

    /**
     * Opens the series of a store with options from a map.
     *
     * @param address as for {@link #open(String, String...)}
     * @param options names and values
     * @return series that are ready
     * @throws UidringException as {@link #open(String, String...)}
     */
    public static Series open(String address, Map<String, String> options) {
        return openWith(address, Native.pairs(options));
    }

    private static Series openWith(String address, String[] options) {
        Objects.requireNonNull(address, "the address is null");
        return Events.opening(() -> new Series(Native.openSeries(address, options)));
    }

    /**
     * Creates a series, or finds one that is as it is asked for.
     *
     * @param name the name of the series
     * @param pattern how its numbers look, such as {@code SO{yyyy}{MM}{dd}-{n:6}}
     * @param options each {@code name=value}, such as {@code time_zone=Europe/Berlin}
     * @throws InvalidArgumentException if the name, the pattern or an option is wrong
     * @throws RefusedException if the series is there in another form
     * @throws UnavailableException if the store cannot be reached
     */
    public void create(String name, String pattern, String... options) {
        createWith(name, pattern, Native.pairs(options));
    }

    /**
     * Creates a series with options from a map, or finds one that is as it is asked for.
     *
     * @param name the name of the series
     * @param pattern how its numbers look
     * @param options names and values
     * @throws UidringException as {@link #create(String, String, String...)}
     */
    public void create(String name, String pattern, Map<String, String> options) {
        createWith(name, pattern, Native.pairs(options));
    }

    private void createWith(String name, String pattern, String[] options) {
        Objects.requireNonNull(name, "the name of the series is null");
        Objects.requireNonNull(pattern, "the pattern is null");
        try {
            Waits.apart(() -> Native.createSeries(handle, name, pattern, options));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Takes the next number of today's period.
     *
     * @param name the name of the series
     * @return a number that nobody else gets
     * @throws UidringException as {@link #next(String, String, LocalDate)}
     */
    public SeriesNumber next(String name) {
        return next(name, null, null);
    }

    /**
     * Takes the next number of a scope. Each scope counts by itself, from 1 on, so the pattern has
     * to have {@code {scope}}: without it, numbers of two scopes have the same text.
     *
     * @param name the name of the series
     * @param scope what is counted by itself, such as a shop; null for a series without scopes
     * @param date the day whose period is counted; null for today in the zone of the series
     * @return a number that nobody else gets of this scope
     * @throws InvalidArgumentException if there is no such date, or no text is a scope like that
     * @throws UnavailableException if numbers are not loaded in time: the store cannot be reached
     * @throws RefusedException if the store has no such series, its numbers are used up, or its
     *     pattern has a scope and none is given
     * @throws ClosedException after a {@link #close}
     */
    public SeriesNumber next(String name, String scope, LocalDate date) {
        Objects.requireNonNull(name, "the name of the series is null");
        try {
            String day = text(date);
            byte[] number = day == null ? tryNext(name, scope) : null;
            if (number == null) {
                number = Waits.apart(() -> Native.next(handle, name, scope, day));
            }
            return new Packed(number, scope).next();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** The next number if it is in memory, for {@link Packed}; else null. */
    private byte[] tryNext(String name, String scope) {
        Used series = used.get(name);
        if (series == null) {
            long known = Native.usedSeries(handle, name);
            if (known == 0) {
                return null;
            }
            series = new Used(known);
            Used other = used.putIfAbsent(name, series);
            series = other == null ? series : other;
        }
        return Native.tryNext(series.handle, scope, new byte[Packed.ROOM]);
    }

    /**
     * Takes the next numbers. If fewer fit the pattern, it takes those.
     *
     * @param name the name of the series
     * @param count how many, from 1 to 1,000,000
     * @param scope as for {@link #next(String, String, LocalDate)}
     * @param date as for {@link #next(String, String, LocalDate)}
     * @return the numbers, ascending
     * @throws UidringException as {@link #next(String, String, LocalDate)}
     */
    public List<SeriesNumber> nextMany(String name, int count, String scope, LocalDate date) {
        Objects.requireNonNull(name, "the name of the series is null");
        try {
            String day = text(date);
            Packed packed = new Packed(
                    Waits.apart(() -> Native.nextMany(handle, name, count, scope, day)), scope);
            List<SeriesNumber> numbers = new ArrayList<>();
            while (packed.hasNext()) {
                numbers.add(packed.next());
            }
            return numbers;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads a number, and checks its check digit if the pattern has one.
     *
     * @param name the name of the series
     * @param text the text that people see
     * @return what it says
     * @throws InvalidArgumentException if the text is no number of the series
     * @throws RefusedException if the store has no such series
     * @throws UnavailableException if the store cannot be reached
     */
    public SeriesNumber parse(String name, String text) {
        Objects.requireNonNull(name, "the name of the series is null");
        Objects.requireNonNull(text, "the number is null");
        try {
            String[] parts = Waits.apart(() -> Native.parse(handle, name, text));
            return new SeriesNumber(text, Long.parseUnsignedLong(parts[0]), parts[1],
                    Optional.ofNullable(parts[2]));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The state of a series, for operators: numbers, and lengths in milliseconds. {@code state} and
     * {@code obstacle} are as in {@link UidGenerator#status}.
     *
     * @param name the name of the series
     * @param scope the scope of which it tells the numbers; null for a series without scopes
     * @return a JSON object
     * @throws RefusedException if the store has no such series
     * @throws UnavailableException if the store cannot be reached
     */
    public String status(String name, String scope) {
        Objects.requireNonNull(name, "the name of the series is null");
        try {
            return Waits.apart(() -> Native.seriesStatus(handle, name, scope));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Ends all takes, and gives back what is left of each scope, which may take until the option
     * {@code shutdown_deadline}. A second close succeeds, unless the first has failed.
     *
     * @throws UnavailableException if numbers were not given back in time, and are lost; all takes
     *     have ended even so
     */
    @Override
    public void close() {
        memory.closeOpened(this, open -> {
            try {
                Native.closeSeries(open);
            } finally {
                used.values().forEach(Used::closed);
            }
        });
    }

    private static String text(LocalDate date) {
        return date == null ? null : date.toString();
    }
}
