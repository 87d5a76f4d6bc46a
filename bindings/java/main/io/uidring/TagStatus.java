package io.uidring;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The state of a {@link SegmentTag} at one moment. Counters are since its store was opened.
 *
 * @param state what takes do
 * @param obstacle why takes fail; empty while numbers are given or on their way
 * @param store whether the last load has succeeded; empty after a close
 * @param tag the name of the tag
 * @param inMemory how many loaded numbers are not taken
 * @param taken how many numbers were taken, with those that threads have claimed
 * @param lost how many numbers nobody will get
 * @param rate how many numbers are taken in a second
 * @param emptyIn how long the numbers in memory last at this rate
 * @param lastNumber the last number of all that were loaded
 * @param loads how often numbers were loaded
 * @param failures how often that has failed
 * @param waits how many takes waited for a load
 * @param longestWait the longest of these waits
 * @param json all of this and more, as a JSON object
 */
public record TagStatus(
        State state,
        Optional<String> obstacle,
        Optional<StoreState> store,
        String tag,
        long inMemory,
        long taken,
        long lost,
        double rate,
        Optional<Duration> emptyIn,
        OptionalLong lastNumber,
        long loads,
        long failures,
        long waits,
        Duration longestWait,
        String json) {

    static TagStatus of(String[] texts) {
        Fields fields = new Fields(texts);
        return new TagStatus(
                fields.state(),
                fields.text("obstacle"),
                fields.store(),
                fields.word("tag"),
                fields.number("in_memory"),
                fields.number("taken"),
                fields.number("lost"),
                fields.real("rate"),
                fields.length("empty_in_ms"),
                fields.maybe("last_number"),
                fields.number("loads"),
                fields.number("failures"),
                fields.number("waits"),
                fields.length("longest_wait_ms").orElse(Duration.ZERO),
                fields.json());
    }

    /** The JSON object. */
    @Override
    public String toString() {
        return json;
    }
}
