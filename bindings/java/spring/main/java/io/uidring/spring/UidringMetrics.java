package io.uidring.spring;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.uidring.State;
import io.uidring.Status;
import io.uidring.StoreState;
import io.uidring.UidGenerator;
import java.time.Duration;
import java.time.Instant;
import java.util.function.ToDoubleFunction;

/**
 * Meters of a generator, under the names that the library has in other languages: Prometheus shows
 * {@code uidring.taken.uids} as {@code uidring_taken_uids_total}.
 */
public final class UidringMetrics implements MeterBinder {
    private final UidGenerator uids;

    /**
     * Of this generator.
     *
     * @param uids is held as long as this is
     */
    public UidringMetrics(UidGenerator uids) {
        this.uids = uids;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "worker.id", null, "The worker id in the ids given now",
                status -> status.workerId().isPresent() ? status.workerId().getAsLong() : -1);
        gauge(registry, "worker.ids.left", null, "Worker ids that are left",
                status -> status.workerIdsLeft().isPresent()
                        ? status.workerIdsLeft().getAsLong() : Double.POSITIVE_INFINITY);
        gauge(registry, "lead", "seconds", "How far the newest ids are ahead of the clock",
                status -> seconds(status.lead()));
        gauge(registry, "lag", "seconds", "How far the next id is behind the clock",
                status -> seconds(status.lag()));
        gauge(registry, "available.uids", null, "Ids that can be taken now", Status::available);
        gauge(registry, "giving.uids", null, "0 if takes fail, or wait for long",
                status -> status.state() == State.RUNNING ? 1 : 0);
        gauge(registry, "at.lead.limit", null, "1 if max_lead is used up",
                status -> status.isAtLeadLimit() ? 1 : 0);
        gauge(registry, "store.reachable", null, "0 if the store did not answer the last time",
                status -> status.store().map(StoreState::isReachable).orElse(true) ? 1 : 0);
        gauge(registry, "reserved.until.timestamp", "seconds",
                "When the reserved times of a leased worker id end",
                status -> status.reservedUntil().map(UidringMetrics::seconds)
                        .orElse(Double.POSITIVE_INFINITY));
        gauge(registry, "expires.timestamp", "seconds", "When the time field of the layout ends",
                status -> status.expiresAt().map(UidringMetrics::seconds)
                        .orElse(Double.POSITIVE_INFINITY));
        counter(registry, "taken.uids", "Ids taken or claimed", Status::taken);
        counter(registry, "lost.uids", "Ids that nobody will get", Status::lost);
        counter(registry, "new.workers", "Worker ids after the first", Status::newWorkers);
        counter(registry, "waits", "Takes that had to wait", Status::waits);
        counter(registry, "clock.steps", "How often the clock has gone back", Status::clockSteps);
    }

    private void gauge(MeterRegistry registry, String name, String unit, String description,
            ToDoubleFunction<Status> of) {
        Gauge.builder("uidring." + name, uids, of(of)).baseUnit(unit).description(description)
                .register(registry);
    }

    private void counter(MeterRegistry registry, String name, String description,
            ToDoubleFunction<Status> of) {
        FunctionCounter.builder("uidring." + name, uids, of(of)).description(description)
                .register(registry);
    }

    private static ToDoubleFunction<UidGenerator> of(ToDoubleFunction<Status> of) {
        return uids -> of.applyAsDouble(uids.status());
    }

    private static double seconds(Duration length) {
        return length.toMillis() / 1_000.0;
    }

    private static double seconds(Instant time) {
        return time.toEpochMilli() / 1_000.0;
    }
}
