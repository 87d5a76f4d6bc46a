package io.uidring.spring;

import io.uidring.Options;
import io.uidring.Segments;
import io.uidring.Series;
import io.uidring.UidGenerator;
import java.time.Duration;

/** Opens what the properties describe. */
final class Opening {
    private Opening() {}

    static UidGenerator generator(UidringProperties properties, StoreAddress database) {
        if (properties.getWorkerId() != null) {
            Options options = withTimes(new Options(), properties);
            set(options, "state", properties.getStateFile());
            return UidGenerator.fixed(properties.getWorkerId(), options.map());
        }
        StoreAddress address = StoreAddress.of(properties, database);
        Options options = withTimes(address.options(), properties);
        if (!properties.getLease().isZero()) {
            options.lease(properties.getLease());
        }
        set(options, "worker_ids", properties.getWorkerIds());
        set(options, "partition", properties.getPartition());
        set(options, "timeout", properties.getTimeout());
        // It is refused with a sentence of its own.
        set(options, "state", properties.getStateFile());
        return UidGenerator.open(address.url(), options.map());
    }

    static Segments segments(UidringProperties properties, StoreAddress database) {
        StoreAddress address = StoreAddress.of(properties, database);
        Options options = loading(address, properties, properties.getSegments());
        return Segments.open(address.url(), options.map());
    }

    static Series series(UidringProperties properties, StoreAddress database) {
        StoreAddress address = StoreAddress.of(properties, database);
        Options options = loading(address, properties, properties.getSeries());
        return Series.open(address.url(), options.map());
    }

    private static Options withTimes(Options options, UidringProperties properties) {
        set(options, "preset", properties.getPreset());
        set(options, "layout", properties.getLayout());
        set(options, "epoch", properties.getEpoch());
        set(options, "tick", properties.getTick());
        if (properties.getExactTime() != null) {
            options.exactTime(properties.getExactTime());
        }
        set(options, "max_lead", properties.getMaxLead());
        set(options, "on_lead_limit", properties.getOnLeadLimit());
        set(options, "start_deadline", properties.getStartDeadline());
        set(options, "shutdown_deadline", properties.getShutdownDeadline());
        properties.getOptions().forEach(options::with);
        return options;
    }

    private static Options loading(
            StoreAddress address, UidringProperties properties, UidringProperties.Numbers numbers) {
        Options options = address.options();
        set(options, "max_wait", numbers.getMaxWait());
        set(options, "ahead", numbers.getAhead());
        set(options, "refresh", numbers.getRefresh());
        set(options, "shutdown_deadline", properties.getShutdownDeadline());
        set(options, "timeout", properties.getTimeout());
        numbers.getOptions().forEach(options::with);
        return options;
    }

    private static void set(Options options, String name, String value) {
        if (value != null && !value.isEmpty()) {
            options.with(name, value);
        }
    }

    private static void set(Options options, String name, Duration value) {
        if (value != null) {
            options.with(name, value);
        }
    }
}
