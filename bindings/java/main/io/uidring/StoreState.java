package io.uidring;

import java.time.Instant;
import java.util.Optional;

/**
 * What a store has answered when it was asked last. A generator asks it when it opens, and again
 * when it needs more times of its lease: ids go on meanwhile.
 *
 * @param name the path of the file, or the address without a password
 * @param isReachable whether it has answered
 * @param since since when it has answered, or has failed, if that is known
 * @param error why it has failed; empty while it answers
 */
public record StoreState(
        String name, boolean isReachable, Optional<Instant> since, Optional<String> error) {}
