package io.uidring.spring;

import io.uidring.InvalidArgumentException;
import io.uidring.UidringException;
import io.uidring.UnavailableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** What a program says that cannot start for want of ids, in the sentence of the library. */
public class UidringFailureAnalyzer extends AbstractFailureAnalyzer<UidringException> {
    /** The same where there is no address. */
    public static class NoAddress extends AbstractFailureAnalyzer<NoAddressException> {
        @Override
        protected FailureAnalysis analyze(Throwable failure, NoAddressException cause) {
            String action = "Set uidring.address, or uidring.enabled=false where there are to be "
                    + "no ids.";
            return new FailureAnalysis("There are no ids: " + cause.getMessage(), action, cause);
        }
    }

    @Override
    protected FailureAnalysis analyze(Throwable failure, UidringException cause) {
        String action;
        if (cause instanceof InvalidArgumentException) {
            action = "Correct the properties below uidring, where an option such as max_lead is "
                    + "called uidring.max-lead.";
        } else if (cause instanceof UnavailableException) {
            action = "See that the store runs and can be reached from here. It is asked for as "
                    + "long as uidring.start-deadline says, 30s unless set.";
        } else {
            action = "Do what the sentence says; the program does not start before.";
        }
        return new FailureAnalysis("There are no ids: " + cause.getMessage(), action, cause);
    }
}
