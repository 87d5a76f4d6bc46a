package io.uidring;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Options with values of their own types: each call that takes a map takes its {@link #map}.
 *
 * <pre>{@code
 * Options options = new Options()
 *         .lease(Duration.ofMinutes(10))
 *         .user("ids")
 *         .password(System.getenv("IDS_PASSWORD"));
 * UidGenerator uids = UidGenerator.open("postgres://db.example.com/ids", options.map());
 * }</pre>
 *
 * <p>{@link #with(String, String)} sets any option, also in the spelling of a framework: {@code
 * max_lead}, {@code max-lead} and {@code maxLead} are one. What is wrong is refused by the call
 * that takes the options.
 */
public final class Options {
    private final Map<String, String> values = new LinkedHashMap<>();

    /** Without any option. */
    public Options() {}

    /**
     * The names and values that were set.
     *
     * @return a view
     */
    public Map<String, String> map() {
        return Collections.unmodifiableMap(values);
    }

    /**
     * Sets an option.
     *
     * @param name its name
     * @param value its value, as the page of all bindings writes it
     * @return this
     */
    public Options with(String name, String value) {
        Objects.requireNonNull(name, "the name of an option is null");
        values.put(name, Objects.requireNonNull(value,
                () -> "the value of the option " + name + " is null: leave it out instead"));
        return this;
    }

    /**
     * Sets an option that is a length of time.
     *
     * @param name its name
     * @param value its value; what is below a millisecond is refused
     * @return this
     * @throws InvalidArgumentException if it is negative, or no whole number of milliseconds
     */
    public Options with(String name, Duration value) {
        Objects.requireNonNull(value,
                () -> "the value of the option " + name + " is null: leave it out instead");
        if (value.isNegative() || value.toNanosPart() % 1_000_000 != 0) {
            throw new InvalidArgumentException("the option " + name + " cannot be " + value
                    + ": it is a whole number of milliseconds, and not negative", 0);
        }
        return with(name, value.toSeconds() + "s" + value.toMillisPart() + "ms");
    }

    /**
     * Sets an option that is a number.
     *
     * @param name its name
     * @param value its value
     * @return this
     */
    public Options with(String name, long value) {
        return with(name, Long.toString(value));
    }

    /**
     * Sets an option that is switched on or off.
     *
     * @param name its name
     * @param value its value
     * @return this
     */
    public Options with(String name, boolean value) {
        return with(name, Boolean.toString(value));
    }

    /**
     * Sets {@code user}.
     *
     * @param user the user of the server, if the address does not name it
     * @return this
     */
    public Options user(String user) {
        return with("user", user);
    }

    /**
     * Sets {@code password}.
     *
     * @param password the password, if it is not in the address; it may have any characters
     * @return this
     */
    public Options password(String password) {
        return with("password", password);
    }

    /**
     * Sets {@code only_for_tests}: a server is taken that may forget what it has confirmed, so that
     * ids come again.
     *
     * @return this
     */
    public Options onlyForTests() {
        return with("only_for_tests", true);
    }

    /**
     * Sets {@code test_time}, for tests of {@link UidGenerator#fixed}: the clock stands still.
     *
     * @param time what it shows
     * @return this
     */
    public Options testTime(Instant time) {
        return with("test_time", time.toString());
    }

    /**
     * Sets {@code test_sequence}.
     *
     * @param sequence that of the first id at {@code test_time}
     * @return this
     */
    public Options testSequence(long sequence) {
        return with("test_sequence", sequence);
    }

    /**
     * Sets {@code timeout}.
     *
     * @param length how long one call to the store may take
     * @return this
     */
    public Options timeout(Duration length) {
        return with("timeout", length);
    }

    /**
     * Sets {@code start_deadline}.
     *
     * @param length how long to wait for the store at the start
     * @return this
     */
    public Options startDeadline(Duration length) {
        return with("start_deadline", length);
    }

    /**
     * Sets {@code shutdown_deadline}.
     *
     * @param length how long to wait for the store at the end
     * @return this
     */
    public Options shutdownDeadline(Duration length) {
        return with("shutdown_deadline", length);
    }

    /**
     * Sets {@code lease}.
     *
     * @param length how long a worker id is leased, instead of using one up
     * @return this
     */
    public Options lease(Duration length) {
        return with("lease", length);
    }

    /**
     * Sets {@code partition}.
     *
     * @param index which part of the worker ids, from 0
     * @param count how many parts there are
     * @return this
     */
    public Options partition(int index, int count) {
        return with("partition", index + "/" + count);
    }

    /**
     * Sets {@code worker_ids}.
     *
     * @param first the first worker id to take
     * @param last the last one
     * @return this
     */
    public Options workerIds(long first, long last) {
        return with("worker_ids", first + "-" + last);
    }

    /**
     * Sets {@code exact_time}.
     *
     * @param isOn whether each UID has the time of its take
     * @return this
     */
    public Options exactTime(boolean isOn) {
        return with("exact_time", isOn);
    }

    /**
     * Sets {@code max_lead}.
     *
     * @param length how far the time of UIDs may run ahead of the clock
     * @return this
     */
    public Options maxLead(Duration length) {
        return with("max_lead", length);
    }

    /**
     * Sets {@code max_lag}.
     *
     * @param length how far the time of UIDs may fall behind the clock
     * @return this
     */
    public Options maxLag(Duration length) {
        return with("max_lag", length);
    }

    /**
     * Sets {@code on_lead_limit}.
     *
     * @param what what happens when {@code max_lead} is used up: {@code new-worker}, {@code wait}
     *     or {@code fail}
     * @return this
     */
    public Options onLeadLimit(String what) {
        return with("on_lead_limit", what);
    }

    /**
     * Sets {@code max_new_workers}.
     *
     * @param count how many further worker ids may be used up in an hour
     * @return this
     */
    public Options maxNewWorkers(long count) {
        return with("max_new_workers", count);
    }

    /**
     * Sets {@code slots}.
     *
     * @param count how many blocks the ring holds: a power of two
     * @return this
     */
    public Options slots(int count) {
        return with("slots", count);
    }

    /**
     * Sets {@code preset}.
     *
     * @param name a layout that is known by a name, such as {@code twitter}
     * @return this
     */
    public Options preset(String name) {
        return with("preset", name);
    }

    /**
     * Sets {@code layout}.
     *
     * @param time the bits of the time
     * @param worker those of the worker id
     * @param sequence those of the sequence
     * @return this
     */
    public Options layout(int time, int worker, int sequence) {
        return with("layout", time + "," + worker + "," + sequence);
    }

    /**
     * Sets {@code epoch}.
     *
     * @param time when the time field begins
     * @return this
     */
    public Options epoch(Instant time) {
        return with("epoch", time.toString());
    }

    /**
     * Sets {@code tick}.
     *
     * @param length what the time field counts
     * @return this
     */
    public Options tick(Duration length) {
        return with("tick", length);
    }

    /**
     * Sets {@code state}.
     *
     * @param file the file that keeps up to which time a worker id of your own was used
     * @return this
     */
    public Options state(Path file) {
        return with("state", file.toString());
    }

    /**
     * Sets {@code max_wait}.
     *
     * @param length how long a take of a number waits while numbers are being loaded
     * @return this
     */
    public Options maxWait(Duration length) {
        return with("max_wait", length);
    }

    /**
     * Sets {@code ahead}.
     *
     * @param length for how long numbers are kept in memory, at least
     * @return this
     */
    public Options ahead(Duration length) {
        return with("ahead", length);
    }

    /**
     * Sets {@code refresh}.
     *
     * @param length in which time the store is asked about once
     * @return this
     */
    public Options refresh(Duration length) {
        return with("refresh", length);
    }

    /**
     * Sets {@code max_in_memory}.
     *
     * @param count the most numbers of a tag or scope in memory
     * @return this
     */
    public Options maxInMemory(long count) {
        return with("max_in_memory", count);
    }

    /**
     * Sets {@code loads}.
     *
     * @param count how many tags or scopes are loaded at a time
     * @return this
     */
    public Options loads(int count) {
        return with("loads", count);
    }

    /** The names alone, as a value may be a password. */
    @Override
    public String toString() {
        return "Options" + values.keySet();
    }
}
