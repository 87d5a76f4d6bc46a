package io.uidring;

import java.util.EnumSet;
import java.util.Set;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * {@code java.util.logging} at the end of a program. Its log manager has a shutdown hook that takes
 * all handlers away, and hooks run at the same time. So what a close in another hook says would
 * reach nobody. It goes to the standard error instead, if the handlers had told it.
 */
final class JavaLogging {
    private static final String FINDER = "sun.util.logging.";
    private static final boolean IS_IN_USE = isInUse();

    /** Never registered: to remove it fails while the program ends. */
    private static final Thread NO_HOOK = Events.newThread(() -> {}, "uidring-no-hook");

    /** The levels that handlers told when they were last seen. */
    private static Set<System.Logger.Level> told = EnumSet.noneOf(System.Logger.Level.class);

    private JavaLogging() {}

    /** Remembers what handlers tell. A short program ends before its first event is logged. */
    static synchronized void look() {
        if (IS_IN_USE && !isEnding()) {
            told = Handlers.told();
        }
    }

    /** Says what was just logged, if there was no handler because the program ends. */
    static synchronized void logged(System.Logger.Level level, String text) {
        if (!IS_IN_USE) {
            return;
        }
        if (!isEnding()) {
            told = Handlers.told();
        } else if (told.contains(level) && !Handlers.areThere()) {
            // Looked for afterwards, because handlers that go are not seen in between.
            System.err.println(level + ": " + text);
        }
    }

    private static boolean isEnding() {
        try {
            Runtime.getRuntime().removeShutdownHook(NO_HOOK);
            return false;
        } catch (IllegalStateException ending) {
            return true;
        }
    }

    /** Whether {@code System.Logger} leads there, and to no other log. */
    private static boolean isInUse() {
        try {
            return System.LoggerFinder.getLoggerFinder().getClass().getName().startsWith(FINDER);
        } catch (Throwable none) {
            return false;
        }
    }

    /** A class of its own, because a Java machine may have no such module. */
    private static final class Handlers {
        private static final Logger LOG = Logger.getLogger("io.uidring");

        static boolean areThere() {
            return least() != Level.OFF;
        }

        static Set<System.Logger.Level> told() {
            int least = least().intValue();
            Set<System.Logger.Level> told = EnumSet.noneOf(System.Logger.Level.class);
            for (System.Logger.Level level : System.Logger.Level.values()) {
                Level own = of(level);
                if (own.intValue() >= least && LOG.isLoggable(own)) {
                    told.add(level);
                }
            }
            return told;
        }

        /** The lowest level of all handlers; none if there are none. */
        private static Level least() {
            Level least = Level.OFF;
            for (Logger log = LOG; log != null;
                    log = log.getUseParentHandlers() ? log.getParent() : null) {
                for (Handler handler : log.getHandlers()) {
                    if (handler.getLevel().intValue() < least.intValue()) {
                        least = handler.getLevel();
                    }
                }
            }
            return least;
        }

        private static Level of(System.Logger.Level level) {
            return switch (level) {
                case ALL -> Level.ALL;
                case TRACE -> Level.FINER;
                case DEBUG -> Level.FINE;
                case INFO -> Level.INFO;
                case WARNING -> Level.WARNING;
                case ERROR -> Level.SEVERE;
                case OFF -> Level.OFF;
            };
        }
    }
}
