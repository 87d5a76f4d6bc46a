package io.uidring;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The state of a {@link UidGenerator} at one moment. Counters are since it was opened. After a
 * close, they stay, and all that was alive is empty or zero.
 *
 * @param state what takes do
 * @param obstacle why takes fail or wait for long; empty while it runs
 * @param store what the store has answered; empty without a store
 * @param layout the layout, as options write it
 * @param workerId the worker id in the ids that are given now
 * @param isLeased whether the worker id is leased, and not permanent
 * @param reservedUntil when the times end that the store has reserved for a leased worker id: ids
 *     end then, unless it reserves further ones before
 * @param leaseLeft how long it is until then
 * @param workerIdsLeft how many worker ids are left, if they can run out
 * @param newWorkers how many worker ids were taken on after the first
 * @param lead how far the newest ids are ahead of the clock
 * @param lag how far the next id is behind the clock
 * @param isAtLeadLimit whether {@code max_lead} is used up
 * @param available how many ids are ready
 * @param taken how many ids were taken, with those that threads have claimed
 * @param lost how many ids nobody will get
 * @param waits how many takes waited
 * @param clockSteps how often the clock was seen to have gone back
 * @param expiresAt when the time field of the layout ends
 * @param json all of this and more, as a JSON object: lengths in milliseconds, times in RFC 3339
 */
public record Status(
        State state,
        Optional<String> obstacle,
        Optional<StoreState> store,
        String layout,
        OptionalLong workerId,
        boolean isLeased,
        Optional<Instant> reservedUntil,
        Optional<Duration> leaseLeft,
        OptionalLong workerIdsLeft,
        long newWorkers,
        Duration lead,
        Duration lag,
        boolean isAtLeadLimit,
        long available,
        long taken,
        long lost,
        long waits,
        long clockSteps,
        Optional<Instant> expiresAt,
        String json) {

    static Status of(String[] texts) {
        Fields fields = new Fields(texts);
        return new Status(
                fields.state(),
                fields.text("obstacle"),
                fields.store(),
                fields.word("layout"),
                fields.maybe("worker_id"),
                fields.flag("leased"),
                fields.time("reserved_until"),
                fields.length("lease_left_ms"),
                fields.maybe("worker_ids_left"),
                fields.number("new_workers"),
                fields.length("lead_ms").orElse(Duration.ZERO),
                fields.length("lag_ms").orElse(Duration.ZERO),
                fields.flag("at_lead_limit"),
                fields.number("available"),
                fields.number("taken"),
                fields.number("lost"),
                fields.number("waits"),
                fields.number("clock_steps"),
                fields.time("expires_at"),
                fields.json());
    }

    /** The JSON object. */
    @Override
    public String toString() {
        return json;
    }
}
