package io.uidring;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The state of a series at one moment.
 *
 * @param state what takes do
 * @param obstacle why takes fail; empty while numbers are given or on their way
 * @param store whether the last load has succeeded; empty after a close
 * @param series the name of the series
 * @param scope the scope of which {@code inMemory} and {@code taken} are
 * @param scopes how many scopes are in memory
 * @param full how many counters have no number left
 * @param nearlyFull how many have few left
 * @param tight the counters that are full or nearly so
 * @param period the period in which numbers are counted now
 * @param inMemory how many loaded numbers of the scope are not taken
 * @param taken how many of its numbers were taken
 * @param lastNumber the last number of those that were loaded
 * @param json all of this and more, as a JSON object
 */
public record SeriesStatus(
        State state,
        Optional<String> obstacle,
        Optional<StoreState> store,
        String series,
        Optional<String> scope,
        long scopes,
        long full,
        long nearlyFull,
        List<Counter> tight,
        Optional<String> period,
        long inMemory,
        long taken,
        OptionalLong lastNumber,
        String json) {

    /**
     * A counter that has few numbers left, or none.
     *
     * @param scope its scope
     * @param period its period
     * @param last its last number
     * @param largest the largest that the pattern has
     */
    public record Counter(Optional<String> scope, String period, long last, long largest) {}

    static SeriesStatus of(String[] texts) {
        Fields fields = new Fields(texts);
        List<Counter> tight = new ArrayList<>();
        for (int i = 0; fields.has("tight." + i + ".period"); i++) {
            String counter = "tight." + i + '.';
            tight.add(new Counter(
                    fields.text(counter + "scope").filter(scope -> !scope.isEmpty()),
                    fields.word(counter + "period"),
                    fields.number(counter + "last"),
                    fields.number(counter + "largest")));
        }
        return new SeriesStatus(
                fields.state(),
                fields.text("obstacle"),
                fields.store(),
                fields.word("series"),
                fields.text("scope"),
                fields.number("scopes"),
                fields.number("full"),
                fields.number("nearly_full"),
                List.copyOf(tight),
                fields.text("period"),
                fields.number("numbers.in_memory"),
                fields.number("numbers.taken"),
                fields.maybe("numbers.last_number"),
                fields.json());
    }

    /** The JSON object. */
    @Override
    public String toString() {
        return json;
    }
}
