package io.uidring.against;

import cn.hutool.core.util.IdUtil;
import com.baomidou.mybatisplus.core.incrementer.DefaultIdentifierGenerator;
import com.github.f4b6a3.tsid.TsidCreator;
import com.github.f4b6a3.uuid.UuidCreator;
import com.github.wujun234.uid.impl.UidProperties;
import io.uidring.UidGenerator;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import me.ahoo.cosid.segment.IdSegmentDistributor;
import me.ahoo.cosid.segment.SegmentChainId;
import me.ahoo.cosid.snowflake.ClockSyncSnowflakeId;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.springframework.beans.factory.InitializingBean;

/** Generators of ids as a program of Java has them, with their defaults but for a worker id. */
public enum Generators {
    /** What all threads share at the least. */
    ATOMIC_LONG {
        @Override
        public LongSupplier open() {
            return new AtomicLong()::incrementAndGet;
        }
    },
    /** With a worker id of its own, so that no store is needed. */
    UIDRING {
        @Override
        public LongSupplier open() {
            UidGenerator uids = UidGenerator.fixed(1);
            return uids::take;
        }
    },
    /** CosId's numbers, from a store that is an {@code AtomicLong}. */
    COSID_SEGMENT_CHAIN {
        @Override
        public LongSupplier open() {
            return new SegmentChainId(new IdSegmentDistributor.Atomic())::generate;
        }
    },
    /** As its Spring Boot starter makes them. */
    COSID_SNOWFLAKE {
        @Override
        public LongSupplier open() {
            return new ClockSyncSnowflakeId(new MillisecondSnowflakeId(1))::generate;
        }
    },
    XFVAPE_CACHED {
        @Override
        public LongSupplier open() {
            return xfvape(new com.xfvape.uid.impl.CachedUidGenerator());
        }
    },
    XFVAPE_DEFAULT {
        @Override
        public LongSupplier open() {
            return xfvape(new com.xfvape.uid.impl.DefaultUidGenerator());
        }
    },
    WUJUN234_CACHED {
        @Override
        public LongSupplier open() {
            var uids = new com.github.wujun234.uid.impl.CachedUidGenerator(new UidProperties());
            uids.setWorkerIdAssigner(new One());
            return started(uids, uids::getUID);
        }
    },
    TSID {
        @Override
        public LongSupplier open() {
            return () -> TsidCreator.getTsid().toLong();
        }
    },
    HUTOOL {
        @Override
        public LongSupplier open() {
            return IdUtil::getSnowflakeNextId;
        }
    },
    MYBATIS_PLUS {
        @Override
        public LongSupplier open() {
            DefaultIdentifierGenerator uids = DefaultIdentifierGenerator.getInstance();
            return () -> uids.nextId(null);
        }
    },
    UUID_RANDOM {
        @Override
        public LongSupplier open() {
            return () -> folded(UUID.randomUUID());
        }
    },
    /** UUIDv7, of uuid-creator. */
    UUID_V7 {
        @Override
        public LongSupplier open() {
            return () -> folded(UuidCreator.getTimeOrderedEpoch());
        }
    };

    /** Opens one. */
    public abstract LongSupplier open();

    private static long folded(UUID uuid) {
        return uuid.getMostSignificantBits() ^ uuid.getLeastSignificantBits();
    }

    /** With the layout of its README, because that of its defaults has ended. */
    private static LongSupplier xfvape(com.xfvape.uid.impl.DefaultUidGenerator uids) {
        uids.setTimeBits(31);
        uids.setWorkerBits(19);
        uids.setSeqBits(13);
        uids.setEpochStr("2016-09-20");
        uids.setWorkerIdAssigner(() -> 1);
        return started(uids, uids::getUID);
    }

    private static LongSupplier started(InitializingBean bean, LongSupplier takes) {
        try {
            bean.afterPropertiesSet();
        } catch (Exception error) {
            throw new AssertionError(error);
        }
        return takes;
    }

    private static final class One implements com.github.wujun234.uid.worker.WorkerIdAssigner {
        @Override
        public long assignWorkerId() {
            return 1;
        }

        @Override
        public long assignFakeWorkerId() {
            return 2;
        }
    }
}
