package io.uidring.spring;

import io.uidring.Event;
import io.uidring.EventListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Tells the events to SLF4J, once for all contexts of the program, until the last of them has
 * closed its generator. Spring Boot's way from {@code java.util.logging} ends before that, with the
 * first context that is closed.
 */
public final class UidringLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger("io.uidring");

    // The monitor of the class guards these.
    private static int contexts;
    private static EventListener.Registration registration;

    private boolean isClosed;

    UidringLog() {
        synchronized (UidringLog.class) {
            if (contexts == 0) {
                registration = EventListener.addInPlaceOfLog(UidringLog::tell);
            }
            contexts++;
        }
    }

    private static void tell(Event event) {
        Level level = switch (event.level()) {
            case ERROR -> Level.ERROR;
            case WARNING -> Level.WARN;
            case INFO -> Level.INFO;
            default -> Level.DEBUG;
        };
        LOG.atLevel(level).log("{}", event.text());
    }

    @Override
    public void close() {
        synchronized (UidringLog.class) {
            if (isClosed) {
                return;
            }
            isClosed = true;
            contexts--;
            if (contexts == 0) {
                registration.close();
            }
        }
    }
}
