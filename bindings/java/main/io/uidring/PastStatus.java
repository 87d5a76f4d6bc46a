package io.uidring;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * The state of a {@link PastGenerator} at one moment.
 *
 * @param state what takes do
 * @param obstacle why takes fail; empty while it runs
 * @param store what the store has answered; empty after a close
 * @param layout the layout, as options write it
 * @param workerId the worker id that was taken on last; empty after a close
 * @param workers how many worker ids it has taken on
 * @param taken how many ids were taken
 * @param ticks of how many ticks it remembers what was taken
 * @param json all of this, as a JSON object
 */
public record PastStatus(
        State state,
        Optional<String> obstacle,
        Optional<StoreState> store,
        String layout,
        OptionalLong workerId,
        long workers,
        long taken,
        long ticks,
        String json) {

    static PastStatus of(String[] texts) {
        Fields fields = new Fields(texts);
        return new PastStatus(
                fields.state(),
                fields.text("obstacle"),
                fields.store(),
                fields.word("layout"),
                fields.maybe("worker_id"),
                fields.number("workers"),
                fields.number("taken"),
                fields.number("ticks"),
                fields.json());
    }

    /** The JSON object. */
    @Override
    public String toString() {
        return json;
    }
}
