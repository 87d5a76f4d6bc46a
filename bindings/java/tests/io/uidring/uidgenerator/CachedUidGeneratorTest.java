package io.uidring.uidgenerator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.baidu.fsg.uid.UidGenerator;
import com.baidu.fsg.uid.exception.UidGenerateException;
import com.baidu.fsg.uid.worker.WorkerIdAssigner;
import io.uidring.ClosedException;
import io.uidring.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.context.support.GenericXmlApplicationContext;
import org.springframework.core.io.ByteArrayResource;

/** That it is in the place of Baidu's generator. */
public final class CachedUidGeneratorTest {
    private final TimeZone zone = TimeZone.getDefault();
    private final Locale language = Locale.getDefault();

    /** Gives the worker id 4, as a bean of a test's configuration. */
    public static final class Four implements WorkerIdAssigner {
        @Override
        public long assignWorkerId() {
            return 4;
        }
    }

    @BeforeEach
    void inChina() {
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Shanghai"));
        Locale.setDefault(Locale.ROOT);
    }

    @AfterEach
    void whereItWas() {
        TimeZone.setDefault(zone);
        Locale.setDefault(language);
    }

    private static CachedUidGenerator bean() {
        CachedUidGenerator bean = new CachedUidGenerator();
        bean.setTimeBits(31);
        bean.setWorkerBits(19);
        bean.setSeqBits(13);
        bean.setEpochStr("2016-09-20");
        return bean;
    }

    @Test
    void textsAreThoseOfBaidus() {
        CachedUidGenerator bean = bean();
        bean.setTimeBits(29);
        bean.setWorkerBits(21);
        // What the README of UidGenerator prints.
        assertEquals("{\"UID\":\"180363646902239241\",\"timestamp\":\"2017-01-19 12:15:46\","
                + "\"workerId\":\"4\",\"sequence\":\"9\"}", bean.parseUID(180363646902239241L));
        // All fields at their ends. The time field takes the sign with it.
        assertEquals("{\"UID\":\"9223372036854775807\",\"timestamp\":\"2033-09-24 18:48:31\","
                + "\"workerId\":\"2097151\",\"sequence\":\"8191\"}",
                bean.parseUID(Long.MAX_VALUE));
        assertEquals("{\"UID\":\"-1\",\"timestamp\":\"2050-09-29 13:37:03\","
                + "\"workerId\":\"2097151\",\"sequence\":\"8191\"}", bean.parseUID(-1));
        // The defaults, with an epoch that is the same in each zone.
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        assertEquals("{\"UID\":\"0\",\"timestamp\":\"2016-05-19 16:00:00\",\"workerId\":\"0\","
                + "\"sequence\":\"0\"}", new CachedUidGenerator().parseUID(0));
    }

    @Test
    void propertiesAreReadAsByBaidus() {
        CachedUidGenerator bean = bean();
        // These leave what was set.
        bean.setTimeBits(0);
        bean.setWorkerBits(-1);
        bean.setSeqBits(0);
        bean.setEpochStr(" ");
        bean.setEpochStr(null);
        bean.setBoostPower(3);
        bean.setPaddingFactor(50);
        bean.setScheduleInterval(60);
        assertThrows(IllegalArgumentException.class, () -> bean.setBoostPower(0));
        assertThrows(IllegalArgumentException.class, () -> bean.setScheduleInterval(0));
        assertThrows(IllegalArgumentException.class, () -> bean.setEpochStr("20.9.2016"));
        bean.setWorkerIdAssigner(() -> 5);
        try (bean) {
            long uid = bean.getUID();
            assertTrue(uid > 0);
            assertTrue(bean.parseUID(uid).contains("\"workerId\":\"5\""), bean.parseUID(uid));
            assertTrue(bean.status().json().contains("\"worker_id\":5"), bean.status().json());
        }
    }

    @Test
    void errorsAreBaidusWithOursAsTheCause() {
        // The defaults ended in 2024.
        CachedUidGenerator over = new CachedUidGenerator();
        over.setWorkerIdAssigner(new Four());
        UidGenerateException none = assertThrows(UidGenerateException.class, over::getUID);
        assertInstanceOf(RefusedException.class, none.getCause());
        assertThrows(RefusedException.class, over::afterPropertiesSet);

        CachedUidGenerator bean = bean();
        assertThrows(IllegalStateException.class, bean::afterPropertiesSet);
        bean.setWorkerIdAssigner(new Four());
        bean.setAddress("uidring.db");
        assertThrows(IllegalStateException.class, bean::afterPropertiesSet);
        bean.setAddress(null);
        bean.setOptions(Map.of("max_lead", "1h"));
        bean.afterPropertiesSet();
        bean.afterPropertiesSet();
        bean.destroy();
        bean.destroy();
        UidGenerateException closed = assertThrows(UidGenerateException.class, bean::getUID);
        assertInstanceOf(ClosedException.class, closed.getCause());

        CachedUidGenerator early = bean();
        early.setWorkerIdAssigner(new Four());
        early.close();
        assertThrows(UidGenerateException.class, early::getUID);
    }

    /** Each Java machine with such an assigner would give the ids of the others. */
    @Test
    void anAssignerThatReturnsNoKeyIsRefused() {
        for (long wrong : new long[] {0, -1, Long.MIN_VALUE}) {
            long[] next = {wrong};
            for (boolean isFirst : new boolean[] {true, false}) {
                next[0] = wrong;
                CachedUidGenerator bean = bean();
                bean.setWorkerIdAssigner(() -> next[0]);
                RuntimeException refused = isFirst
                        ? assertThrows(UidGenerateException.class, bean::getUID)
                        : assertThrows(RuntimeException.class, bean::afterPropertiesSet);
                String said = refused.getMessage();
                assertTrue(said.contains(wrong == 0 ? "useGeneratedKeys" : "" + wrong), said);
                // It is asked again, and not remembered.
                next[0] = 4;
                try (bean) {
                    assertTrue(bean.parseUID(bean.getUID()).contains("\"workerId\":\"4\""));
                }
            }
        }
    }

    @Test
    void aFirstIdStartsItOutsideOfTheCallersTransaction() {
        // Transactions belong to threads.
        List<Thread> threads = new ArrayList<>();
        CachedUidGenerator lazy = bean();
        lazy.setWorkerIdAssigner(() -> {
            threads.add(Thread.currentThread());
            return 4;
        });
        try (lazy) {
            Thread.currentThread().interrupt();
            assertTrue(lazy.getUID() > 0);
            assertTrue(Thread.interrupted(), "an interrupt ends no start, and stays");
            assertNotEquals(lazy.getUID(), lazy.getUID());
            lazy.afterPropertiesSet();
        }
        assertEquals(1, threads.size());
        assertNotEquals(Thread.currentThread(), threads.get(0));
    }

    /** Looks a bean up that is not made yet, as one with {@code @Transactional} may. */
    public static final class LooksUp implements WorkerIdAssigner, BeanFactoryAware {
        private BeanFactory beans;

        @Override
        public void setBeanFactory(BeanFactory beans) {
            this.beans = beans;
        }

        @Override
        public long assignWorkerId() {
            return beans.getBean("later").toString().isEmpty() ? 5 : 4;
        }
    }

    @Test
    void springStartsItInTheThreadThatMayMakeBeans() {
        try (GenericXmlApplicationContext context = spring(
                "<property name=\"workerIdAssigner\" ref=\"disposableWorkerIdAssigner\"/>",
                LooksUp.class)) {
            assertTrue(context.getBean(CachedUidGenerator.class).status().json()
                    .contains("\"worker_id\":5"));
        }
    }

    @Test
    void startsThatFailUseOneWorkerIdUp() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        CachedUidGenerator bean = bean();
        bean.setWorkerIdAssigner(asked::incrementAndGet);
        bean.setOptions(Map.of("max_lead", "a day"));
        for (int i = 0; i < 10; i++) {
            assertThrows(UidGenerateException.class, bean::getUID);
        }
        assertEquals(1, asked.get());
        // Once it can start, it does so with that one.
        bean.setOptions(Map.of());
        try (bean) {
            assertTrue(bean.status().json().contains("\"worker_id\":1"), bean.status().json());
        }
        assertEquals(1, asked.get());
    }

    @Test
    void callsThatComeDuringAStartShareItsResult() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch goesOn = new CountDownLatch(1);
        CachedUidGenerator bean = bean();
        bean.setWorkerIdAssigner(() -> {
            asked.incrementAndGet();
            try {
                goesOn.await();
            } catch (InterruptedException interrupt) {
                throw new AssertionError(interrupt);
            }
            throw new IllegalStateException("the database is away");
        });
        Queue<Throwable> problems = new ConcurrentLinkedQueue<>();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            callers.add(new Thread(() ->
                    problems.add(assertThrows(IllegalStateException.class, bean::getUID))));
        }
        callers.forEach(Thread::start);
        for (Thread caller : callers) {
            while (caller.getState() != Thread.State.TIMED_WAITING) {
                assertTrue(caller.isAlive(), "each waits");
                Thread.onSpinWait();
            }
        }
        goesOn.countDown();
        for (Thread caller : callers) {
            caller.join();
        }
        assertEquals(8, problems.size());
        assertEquals(1, asked.get());
        // Later calls try again.
        assertThrows(IllegalStateException.class, bean::getUID);
        assertEquals(2, asked.get());
    }

    @Test
    void aCloseDuringAStartEndsIt() throws Exception {
        CountDownLatch isAsked = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        CachedUidGenerator bean = bean();
        bean.setWorkerIdAssigner(() -> {
            isAsked.countDown();
            try {
                goesOn.await();
            } catch (InterruptedException interrupt) {
                throw new AssertionError(interrupt);
            }
            return 4;
        });
        Queue<Throwable> problems = new ConcurrentLinkedQueue<>();
        Thread caller = new Thread(() ->
                problems.add(assertThrows(UidGenerateException.class, bean::getUID)));
        caller.start();
        isAsked.await();
        bean.close();
        goesOn.countDown();
        caller.join();
        assertTrue(problems.remove().getMessage().contains("was closed before"));
        assertThrows(UidGenerateException.class, bean::getUID);
    }

    /** The beans of UidGenerator's README, with another class. */
    private static GenericXmlApplicationContext spring(String worker) {
        return spring(worker, Four.class);
    }

    private static GenericXmlApplicationContext spring(String worker, Class<?> assigner) {
        String xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <beans xmlns="http://www.springframework.org/schema/beans"
                xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                xsi:schemaLocation="http://www.springframework.org/schema/beans
                    http://www.springframework.org/schema/beans/spring-beans.xsd">
              <bean id="cachedUidGenerator" class="%s" init-method="afterPropertiesSet">
                %s
                <property name="timeBits" value="31"/>
                <property name="workerBits" value="19"/>
                <property name="seqBits" value="13"/>
                <property name="epochStr" value="2016-09-20"/>
                <property name="boostPower" value="3"></property>
                <property name="paddingFactor" value="50"></property>
                <property name="scheduleInterval" value="60"></property>
              </bean>
              <bean id="disposableWorkerIdAssigner" class="%s" />
              <bean id="later" class="java.lang.String" />
            </beans>
            """.formatted(CachedUidGenerator.class.getName(), worker, assigner.getName());
        return new GenericXmlApplicationContext(new ByteArrayResource(xml.getBytes()));
    }

    @Test
    void springTakesItForBaidus() {
        UidGenerator uids;
        try (GenericXmlApplicationContext context = spring(
                "<property name=\"workerIdAssigner\" ref=\"disposableWorkerIdAssigner\"/>")) {
            uids = context.getBean(UidGenerator.class);
            String parsed = uids.parseUID(uids.getUID());
            assertTrue(parsed.contains("\"workerId\":\"4\""), parsed);
        }
        // Spring has closed it.
        assertThrows(UidGenerateException.class, uids::getUID);
    }

    @Test
    void itTakesWorkerIdsFromTheTableOfBaidus() throws Exception {
        Database database = Database.create();
        try {
            database.run(Database.WORKER_NODE);
            // Starts of both kinds, by turns.
            TreeSet<Long> workers = new TreeSet<>();
            for (int i = 0; i < 4; i++) {
                workers.add(Long.parseLong(database.run(Database.START_OF_BAIDUS)));
                try (GenericXmlApplicationContext context = spring(
                        "<property name=\"address\" value=\"" + database.address + "\"/>")) {
                    UidGenerator uids = context.getBean(UidGenerator.class);
                    long uid = uids.getUID();
                    assertNotEquals(uid, uids.getUID());
                    workers.add(uid >>> 13 & (1 << 19) - 1);
                }
            }
            assertEquals(8, workers.size(), "none twice: " + workers);
            assertEquals("8\t8", database.run("SELECT COUNT(*), COUNT(DISTINCT ID) "
                    + "FROM WORKER_NODE WHERE TYPE IN (1, 2) AND LAUNCH_DATE IS NOT NULL"));
        } finally {
            database.drop();
        }
    }
}
