package io.uidring;

import java.lang.ref.Reference;
import java.sql.Connection;
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
 * process is killed. Numbers without any gap are counted in the transaction that inserts the row,
 * by {@link #nextIn(Connection, String)}.
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
     * Series that are counted in your own transactions, by {@link #nextIn(Connection, String)}, and
     * read by them. No store is open, so there are no other numbers, and nothing to close.
     *
     * @return series, one for each database
     */
    public static Series inTransactions() {
        return Events.opening(() -> new Series(Native.seriesInTransactions()));
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
     * Counts the next number of a gapless series in your own transaction.
     *
     * @param connection as for {@link #nextIn(Connection, String, String, LocalDate)}
     * @param name the name of the series
     * @return a number that is yours if the transaction commits
     * @throws UidringException as {@link #nextIn(Connection, String, String, LocalDate)}
     */
    public SeriesNumber nextIn(Connection connection, String name) {
        return nextIn(connection, name, null, null);
    }

    /**
     * Counts the next number of a scope in your own transaction.
     *
     * @param connection as for {@link #nextIn(Connection, String, String, LocalDate)}
     * @param name the name of the series
     * @param scope as for {@link #next(String, String, LocalDate)}
     * @return a number that is yours if the transaction commits
     * @throws UidringException as {@link #nextIn(Connection, String, String, LocalDate)}
     */
    public SeriesNumber nextIn(Connection connection, String name, String scope) {
        return nextIn(connection, name, scope, null);
    }

    /**
     * Counts the next number of a gapless series in your own transaction, that of the document
     * which has the number: both are stored, or neither is. Until it ends, all others that count in
     * the same period and scope wait.
     *
     * <p>Roll the transaction back after an exception. In a transaction of Spring's, the connection
     * is that of {@code DataSourceUtils.getConnection(dataSource)}.
     *
     * @param connection a connection to PostgreSQL, MySQL, MariaDB or SQLite that is not in
     *     auto-commit mode
     * @param name the name of the series
     * @param scope as for {@link #next(String, String, LocalDate)}
     * @param date as for {@link #next(String, String, LocalDate)}
     * @return a number that is yours if the transaction commits
     * @throws InvalidArgumentException if there is no such date, or no text is a scope like that
     * @throws UnavailableException if another transaction may count, as after a deadlock; what the
     *     driver threw is the cause
     * @throws RefusedException if the connection is in auto-commit mode or to another database, the
     *     series is not there or full, or the driver threw what is then the cause
     * @throws ClosedException after a {@link #close}
     */
    public SeriesNumber nextIn(Connection connection, String name, String scope, LocalDate date) {
        Objects.requireNonNull(connection, "the connection is null");
        Objects.requireNonNull(name, "the name of the series is null");
        try {
            return new Transactions(connection).next(handle, name, scope, text(date));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads a series by your own connection, for {@link #parse} and {@link #format}, which know it
     * from then on. Only series that were opened by {@link #inTransactions} need it, before they
     * have counted a number.
     *
     * @param connection as for {@link #nextIn(Connection, String, String, LocalDate)}, in any mode
     * @param name the name of the series
     * @throws RefusedException if the database has no such series
     * @throws UidringException as {@link #nextIn(Connection, String, String, LocalDate)}
     */
    public void readIn(Connection connection, String name) {
        Objects.requireNonNull(connection, "the connection is null");
        Objects.requireNonNull(name, "the name of the series is null");
        try {
            new Transactions(connection).read(handle, name);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The text of a number, as {@link #next(String, String, LocalDate)} writes it.
     *
     * @param name the name of the series
     * @param number the number itself, counted from the first of its period
     * @param scope as for {@link #next(String, String, LocalDate)}
     * @param date as for {@link #next(String, String, LocalDate)}
     * @return the text that people see
     * @throws InvalidArgumentException if no number of the series is like that
     * @throws RefusedException if the store has no such series
     * @throws UnavailableException if the store cannot be reached
     */
    public String format(String name, long number, String scope, LocalDate date) {
        Objects.requireNonNull(name, "the name of the series is null");
        try {
            String day = text(date);
            return Waits.apart(() -> Native.format(handle, name, number, scope, day));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Gives a series a wider number at once: the way on where a period has given all its numbers.
     *
     * @param name the name of the series
     * @param pattern the pattern as it was, but for the number
     * @throws InvalidArgumentException if there is no such pattern
     * @throws RefusedException if more than the number would be another
     * @throws UnavailableException if the store cannot be reached
     */
    public void widen(String name, String pattern) {
        Objects.requireNonNull(name, "the name of the series is null");
        Objects.requireNonNull(pattern, "the pattern is null");
        try {
            Waits.apart(() -> Native.widen(handle, name, pattern));
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
                    parts[2], Optional.ofNullable(parts[3]));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * The state of a series, for operators.
     *
     * @param name the name of the series
     * @param scope the scope of which it tells the numbers; null for a series without scopes
     * @return the state at this moment
     * @throws RefusedException if the store has no such series
     * @throws UnavailableException if the store cannot be reached
     */
    public SeriesStatus status(String name, String scope) {
        Objects.requireNonNull(name, "the name of the series is null");
        try {
            return SeriesStatus.of(Waits.apart(() -> Native.seriesStatus(handle, name, scope)));
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
