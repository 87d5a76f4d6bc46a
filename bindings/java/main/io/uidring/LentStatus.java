package io.uidring;

import java.time.Duration;
import java.util.Optional;

/**
 * The state of a lent {@link WorkerId} at one moment.
 *
 * @param state {@link State#HELD} or {@link State#LOST}
 * @param id the worker id
 * @param timeLeft how long ids may be made with it if it is not renewed any more
 * @param renewals how often it was renewed
 * @param failedRenewals how often that has failed
 * @param lastError why the last renewal has failed, if it has
 * @param json all of this, as a JSON object
 */
public record LentStatus(
        State state,
        long id,
        Duration timeLeft,
        long renewals,
        long failedRenewals,
        Optional<String> lastError,
        String json) {

    static LentStatus of(String[] texts) {
        Fields fields = new Fields(texts);
        return new LentStatus(
                fields.state(),
                fields.number("id"),
                fields.length("time_left_ms").orElse(Duration.ZERO),
                fields.number("renewals"),
                fields.number("failed_renewals"),
                fields.text("last_error"),
                fields.json());
    }

    /** The JSON object. */
    @Override
    public String toString() {
        return json;
    }
}
