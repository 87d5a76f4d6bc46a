package io.uidring;

import java.util.Objects;

/**
 * Hears the events of all that is open in this program, whoever has opened it.
 *
 * <pre>{@code
 * EventListener.Registration alarms = EventListener.add(event -> {
 *     if (event.name().equals("lease_lost")) {
 *         alert(event.message(), event.fields().get("worker"));
 *     }
 * });
 * }</pre>
 *
 * <p>It is called by one thread at a time, in the order of the events, and no take waits for it. A
 * close waits until it has heard all that came before, for 5 seconds at most. What it throws goes
 * to the thread's handler of uncaught exceptions.
 */
@FunctionalInterface
public interface EventListener {
    /**
     * Hears an event.
     *
     * @param event what has happened
     */
    void on(Event event);

    /**
     * Has a listener hear events from now on, and the log as before.
     *
     * @param listener what hears them
     * @return ends that
     */
    static Registration add(EventListener listener) {
        return Events.listen(Objects.requireNonNull(listener, "the listener is null"), false);
    }

    /**
     * Has a listener hear events from now on in place of the {@link System.Logger} named
     * {@code io.uidring}, which gets none until this and all others of its kind are closed.
     *
     * @param listener what hears them
     * @return ends that
     */
    static Registration addInPlaceOfLog(EventListener listener) {
        return Events.listen(Objects.requireNonNull(listener, "the listener is null"), true);
    }

    /** Until it is closed, a listener hears events, and is held with its class loader. */
    interface Registration extends AutoCloseable {
        /** Ends it. Close first what is to be heard of. A second close has no effect. */
        @Override
        void close();
    }
}
