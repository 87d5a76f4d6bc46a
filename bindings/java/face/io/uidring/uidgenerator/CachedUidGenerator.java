package io.uidring.uidgenerator;

import com.baidu.fsg.uid.UidGenerator;
import com.baidu.fsg.uid.exception.UidGenerateException;
import com.baidu.fsg.uid.worker.WorkerIdAssigner;
import io.uidring.UidringException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;

/**
 * A generator with the properties and the methods of Baidu's {@code CachedUidGenerator} and
 * {@code DefaultUidGenerator}, made by uidring. In a Spring configuration, put the name of this
 * class in the place of theirs:
 *
 * <pre>{@code
 * <bean id="uidGenerator" class="io.uidring.uidgenerator.CachedUidGenerator">
 * }</pre>
 *
 * <p>The worker id comes from the bean's {@code workerIdAssigner}, as before, or from the database
 * that {@code address} names: there, each start inserts a row into the table {@code WORKER_NODE},
 * as theirs does, so programs with either share the table.
 *
 * <p>It starts at {@link #afterPropertiesSet}, or else at the first {@link #getUID}. Spring calls
 * {@link #close} when its context is closed, because a bean that is {@link AutoCloseable} asks for
 * that. Any number of threads may take ids at once. The properties are set before the start.
 */
public class CachedUidGenerator implements UidGenerator, AutoCloseable {
    /** Their default: the midnight in China with which 2016-05-20 began. */
    private static final long DEFAULT_EPOCH = 1_463_673_600;

    /** One digit is enough, as for them. */
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("u-M-d");

    private int timeBits = 28;
    private int workerBits = 22;
    private int seqBits = 13;
    private long epochSeconds = DEFAULT_EPOCH;
    private WorkerIdAssigner workerIdAssigner;
    private String address;
    private Map<String, String> options = Map.of();

    private volatile io.uidring.UidGenerator uids;
    private boolean isClosed;

    /** With the properties that are the defaults of theirs. */
    public CachedUidGenerator() {}

    /**
     * Takes an id, and starts the generator if that has not been done.
     *
     * @return a positive id, which is never given again
     * @throws UidGenerateException if there is no id; its cause is a {@link UidringException}
     */
    @Override
    public long getUID() {
        io.uidring.UidGenerator started = uids;
        try {
            return (started == null ? start() : started).take();
        } catch (UidringException error) {
            throw new UidGenerateException(error);
        }
    }

    /**
     * Decodes an id with the bits and the epoch of this bean, which need not have started.
     *
     * @param uid the id
     * @return the same text as that of Baidu's class, such as
     *     {@code {"UID":"180363646902239241","timestamp":"2017-01-19 12:15:46","workerId":"4",}
     *     {@code "sequence":"9"}}, with the time in the zone of this Java machine
     */
    @Override
    public String parseUID(long uid) {
        long sequence = uid & ~(-1L << seqBits);
        long worker = uid >>> seqBits & ~(-1L << workerBits);
        long seconds = epochSeconds + (uid >>> workerBits + seqBits);
        ZonedDateTime time = Instant.ofEpochSecond(seconds).atZone(ZoneId.systemDefault());
        StringBuilder text = new StringBuilder(120);
        // Numbers look as this machine's language writes them, but for those of the time.
        text.append(String.format("{\"UID\":\"%d\",\"timestamp\":\"", uid));
        append(text, time.getYear(), 4);
        append(text.append('-'), time.getMonthValue(), 2);
        append(text.append('-'), time.getDayOfMonth(), 2);
        append(text.append(' '), time.getHour(), 2);
        append(text.append(':'), time.getMinute(), 2);
        append(text.append(':'), time.getSecond(), 2);
        text.append(String.format("\",\"workerId\":\"%d\",\"sequence\":\"%d\"}", worker, sequence));
        return text.toString();
    }

    private static void append(StringBuilder text, int number, int digits) {
        String written = Integer.toString(number);
        text.append("0".repeat(Math.max(0, digits - written.length()))).append(written);
    }

    /**
     * Starts the generator: Spring calls it if the bean says
     * {@code init-method="afterPropertiesSet"}. Then a database that cannot be reached is told at
     * the start of the program, and not at the first id.
     *
     * @throws UidringException if the generator cannot start
     * @throws IllegalStateException if neither {@code workerIdAssigner} nor {@code address} is set,
     *     or both are
     */
    public void afterPropertiesSet() {
        start();
    }

    private synchronized io.uidring.UidGenerator start() {
        if (uids == null) {
            if (isClosed) {
                throw new UidGenerateException("the generator was closed before it had started");
            }
            uids = open();
        }
        return uids;
    }

    private io.uidring.UidGenerator open() {
        Map<String, String> all = new HashMap<>();
        all.put("layout", timeBits + "," + workerBits + "," + seqBits);
        all.put("epoch", Instant.ofEpochSecond(epochSeconds).toString());
        if (workerIdAssigner == null && address != null) {
            all.put("uid_generator", "true");
            all.putAll(options);
            return io.uidring.UidGenerator.open(address, all);
        }
        if (workerIdAssigner != null && address == null) {
            all.putAll(options);
            return io.uidring.UidGenerator.fixed(workerIdAssigner.assignWorkerId(), all);
        }
        throw new IllegalStateException("set either workerIdAssigner or address: the one gives "
                + "worker ids, the other names the database that has the table WORKER_NODE");
    }

    /** Ends the generator. A second call does nothing. */
    public void destroy() {
        close();
    }

    /** Ends the generator. A second call does nothing. */
    @Override
    public synchronized void close() {
        isClosed = true;
        if (uids != null) {
            uids.close();
        }
    }

    /**
     * The state of the generator, for operators. It starts it if that has not been done.
     *
     * @return a JSON object
     */
    public String status() {
        return start().status();
    }

    /**
     * Where the worker id comes from, asked once at the start. It must not give a worker id that
     * another start had, unless the option {@code state} names a file that keeps used times.
     *
     * @param workerIdAssigner such as Baidu's {@code DisposableWorkerIdAssigner}
     */
    public void setWorkerIdAssigner(WorkerIdAssigner workerIdAssigner) {
        this.workerIdAssigner = workerIdAssigner;
    }

    /**
     * The database with the table {@code WORKER_NODE}, instead of a worker id assigner.
     *
     * @param address such as {@code mysql://user:password@host/database}
     */
    public void setAddress(String address) {
        this.address = address;
    }

    /**
     * More options of {@link io.uidring.UidGenerator#open(String, Map)}, such as {@code max_lead}.
     *
     * @param options names and values
     */
    public void setOptions(Map<String, String> options) {
        this.options = Map.copyOf(options);
    }

    /**
     * The width of the time field, which counts seconds.
     *
     * @param timeBits the bits; 0 and less leave the default of 28
     */
    public void setTimeBits(int timeBits) {
        if (timeBits > 0) {
            this.timeBits = timeBits;
        }
    }

    /**
     * The width of the worker field.
     *
     * @param workerBits the bits; 0 and less leave the default of 22
     */
    public void setWorkerBits(int workerBits) {
        if (workerBits > 0) {
            this.workerBits = workerBits;
        }
    }

    /**
     * The width of the sequence field.
     *
     * @param seqBits the bits; 0 and less leave the default of 13
     */
    public void setSeqBits(int seqBits) {
        if (seqBits > 0) {
            this.seqBits = seqBits;
        }
    }

    /**
     * The day with whose begin the time field begins, in the zone of this Java machine. So all
     * programs that share the ids need the same zone, as with Baidu's class.
     *
     * @param epochStr such as {@code 2016-09-20}; a blank text leaves the default
     * @throws IllegalArgumentException if it is no day
     */
    public void setEpochStr(String epochStr) {
        if (epochStr == null || epochStr.isBlank()) {
            return;
        }
        try {
            LocalDate day = LocalDate.parse(epochStr, DAY);
            epochSeconds = day.atStartOfDay(ZoneId.systemDefault()).toEpochSecond();
        } catch (DateTimeParseException error) {
            throw new IllegalArgumentException(
                    "epochStr is a day such as 2016-09-20, and not \"" + epochStr + '"', error);
        }
    }

    /**
     * Has no effect: the ring of this generator needs no larger size.
     *
     * @param boostPower positive
     * @throws IllegalArgumentException if it is not positive, as from Baidu's class
     */
    public void setBoostPower(int boostPower) {
        if (boostPower <= 0) {
            throw new IllegalArgumentException("Boost power must be positive!");
        }
    }

    /**
     * Has no effect: this generator decides when it refills its ring.
     *
     * @param paddingFactor any
     */
    public void setPaddingFactor(int paddingFactor) {}

    /**
     * Has no effect: this generator refills its ring when that is needed.
     *
     * @param scheduleInterval positive
     * @throws IllegalArgumentException if it is not positive, as from Baidu's class
     */
    public void setScheduleInterval(long scheduleInterval) {
        if (scheduleInterval <= 0) {
            throw new IllegalArgumentException("Schedule interval must positive!");
        }
    }
}
