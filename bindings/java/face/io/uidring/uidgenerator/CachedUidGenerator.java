package io.uidring.uidgenerator;

import com.baidu.fsg.uid.UidGenerator;
import com.baidu.fsg.uid.exception.UidGenerateException;
import com.baidu.fsg.uid.worker.WorkerIdAssigner;
import io.uidring.Status;
import io.uidring.UidringException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

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
 * <p>It starts at {@link #afterPropertiesSet}, which Spring calls where the bean names it as its
 * {@code init-method}, or a bean of Java code as {@code @Bean(initMethod = "afterPropertiesSet")}.
 * Otherwise it starts at the first {@link #getUID}. Spring calls {@link #close} when its context is
 * closed, because a bean that is {@link AutoCloseable} asks for that. Any number of threads may
 * take ids at once. The properties are set before the start.
 */
public class CachedUidGenerator implements UidGenerator, AutoCloseable {
    /**
     * How many seconds the first id waits for an assigner in another thread. That may never answer
     * if it needs a lock which the caller holds.
     */
    private static final long PATIENCE = 60;

    /** One digit is enough, as for them. */
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("u-M-d");

    private int timeBits = Defaults.TIME_BITS;
    private int workerBits = Defaults.WORKER_BITS;
    private int seqBits = Defaults.SEQ_BITS;
    private long epochSeconds = Defaults.EPOCH_SECONDS;
    private WorkerIdAssigner workerIdAssigner;
    private String address;
    private Map<String, String> options = Map.of();

    private volatile io.uidring.UidGenerator uids;

    // The monitor of this object guards these.
    private FutureTask<io.uidring.UidGenerator> starting;
    private boolean isClosed;

    // The thread that runs `starting` uses these alone.
    private FutureTask<Long> assigning;
    private Long worker;

    /** Where the worker id assigner runs. */
    private enum AssignedIn {
        /** In the thread of the call, as Spring makes one bean at a time: others wait for it. */
        THIS_THREAD,
        /** In a new thread, which is in no transaction of the caller's. */
        NEW_THREAD
    }

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
            return (started == null ? start(AssignedIn.NEW_THREAD) : started).take();
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
     * the start of the program, and not at the first id. The worker id assigner runs in the thread
     * of this call, so do not call it in a transaction: a rollback would take the row of the worker
     * id away.
     *
     * @throws UidringException if the generator cannot start
     * @throws IllegalStateException if neither {@code workerIdAssigner} nor {@code address} is set,
     *     or both are
     */
    public void afterPropertiesSet() {
        start(AssignedIn.THIS_THREAD);
    }

    /** Starts the generator. Calls that come meanwhile wait for the same start. */
    private io.uidring.UidGenerator start(AssignedIn thread) {
        FutureTask<io.uidring.UidGenerator> start;
        synchronized (this) {
            if (uids != null) {
                return uids;
            }
            if (isClosed) {
                throw closedEarly();
            }
            if (starting == null) {
                starting = new FutureTask<>(() -> startNow(thread));
            }
            start = starting;
        }
        // Does nothing if another thread runs it, or has run it.
        start.run();
        return result(start, "another thread has not started the generator for " + PATIENCE + " s");
    }

    private io.uidring.UidGenerator startNow(AssignedIn thread) {
        try {
            io.uidring.UidGenerator opened = open(thread);
            synchronized (this) {
                if (!isClosed) {
                    uids = opened;
                    return opened;
                }
            }
            opened.close();
            throw closedEarly();
        } finally {
            synchronized (this) {
                starting = null;
            }
        }
    }

    private static UidGenerateException closedEarly() {
        return new UidGenerateException("the generator was closed before it had started");
    }

    private io.uidring.UidGenerator open(AssignedIn thread) {
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
            return io.uidring.UidGenerator.fixed(workerId(thread), all);
        }
        throw new IllegalStateException("set either workerIdAssigner or address: the one gives "
                + "worker ids, the other names the database that has the table WORKER_NODE");
    }

    /**
     * The worker id of the assigner. It is kept if the generator cannot start with it, so that
     * tries do not use worker ids up.
     */
    private long workerId(AssignedIn thread) {
        if (worker != null) {
            return worker;
        }
        if (assigning == null) {
            assigning = assign(thread);
        }
        try {
            long given = checked(result(assigning, "the worker id assigner has not answered for "
                    + PATIENCE + " s: see what its thread uidring-worker-id waits for, and start "
                    + "the bean by init-method=\"afterPropertiesSet\" if that is a lock of this "
                    + "thread"));
            if (given > 0) {
                worker = given;
            }
            return given;
        } finally {
            // The next call waits on for one that has not answered, and asks anew after a failure.
            if (assigning.isDone()) {
                assigning = null;
            }
        }
    }

    /**
     * A worker id of an assigner. 0 is what a field holds that nobody has set: with a mapper that
     * does not fetch the generated key, each program would have it, and give the ids of the others.
     */
    private static long checked(long worker) {
        if (worker == 0) {
            throw new UidGenerateException("the worker id assigner returned 0, which is what an id "
                    + "holds that was never set: most often, the mapper that inserts the row does "
                    + "not fetch the generated key (useGeneratedKeys=\"true\" keyProperty=\"id\" "
                    + "in MyBatis); return the key of the new row, and where worker ids are "
                    + "counted from 0, one more");
        }
        return worker;
    }

    private FutureTask<Long> assign(AssignedIn thread) {
        FutureTask<Long> task = new FutureTask<>(workerIdAssigner::assignWorkerId);
        if (thread == AssignedIn.THIS_THREAD) {
            task.run();
        } else {
            // Without what threads inherit, which could be a connection with a transaction.
            Thread fresh = new Thread(null, task, "uidring-worker-id", 0, false);
            fresh.setContextClassLoader(Thread.currentThread().getContextClassLoader());
            fresh.setDaemon(true);
            fresh.start();
        }
        return task;
    }

    /** What a task returns or throws. An interrupt does not end the wait. */
    private static <T> T result(FutureTask<T> task, String late) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return task.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException interrupt) {
                    isInterrupted = true;
                }
            }
        } catch (TimeoutException timeout) {
            throw new UidGenerateException(late, timeout);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof RuntimeException problem) {
                throw problem;
            }
            if (failed.getCause() instanceof Error problem) {
                throw problem;
            }
            throw new UidGenerateException(failed.getCause());
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends the generator. A second call does nothing, unless the first has failed. */
    public void destroy() {
        close();
    }

    /** Ends the generator. A second call does nothing, unless the first has failed. */
    @Override
    public void close() {
        synchronized (this) {
            isClosed = true;
        }
        // Without the monitor, which would keep the carrier of a virtual thread.
        if (uids != null) {
            uids.close();
        }
    }

    /**
     * The state of the generator, for operators. It starts it if that has not been done.
     *
     * @return the state at this moment
     */
    public Status status() {
        return start(AssignedIn.NEW_THREAD).status();
    }

    /**
     * Where the worker id comes from, asked once at the start. It must not give a worker id that
     * another start had, unless the option {@code state} names a file that keeps used times. If the
     * generator starts at the first {@link #getUID}, the assigner runs in a new thread, so that it
     * is not part of a transaction of the caller's, whose rollback would take its row away. One
     * that returns 0 is refused: it is most often a generated key that the mapper does not fetch.
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
     * @param timeBits the bits; 0 and less leave the default
     */
    public void setTimeBits(int timeBits) {
        if (timeBits > 0) {
            this.timeBits = timeBits;
        }
    }

    /**
     * The width of the worker field.
     *
     * @param workerBits the bits; 0 and less leave the default
     */
    public void setWorkerBits(int workerBits) {
        if (workerBits > 0) {
            this.workerBits = workerBits;
        }
    }

    /**
     * The width of the sequence field.
     *
     * @param seqBits the bits; 0 and less leave the default
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
