package io.uidring.spring;

import io.uidring.State;
import io.uidring.Status;
import io.uidring.StoreState;
import io.uidring.UidGenerator;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a health check says of a generator. */
final class Reading {
    /** In the word of Spring: takes go on, and the store has to come back in time. */
    static final String DEGRADED = "DEGRADED";

    final String status;
    final Map<String, Object> details = new LinkedHashMap<>();

    Reading(UidGenerator uids) {
        Status now = uids.status();
        boolean isAway = now.store().filter(store -> !store.isReachable()).isPresent();
        if (now.state() != State.RUNNING) {
            status = "DOWN";
        } else {
            status = isAway ? DEGRADED : "UP";
        }
        details.put("state", now.state().toString().toLowerCase(java.util.Locale.ROOT));
        now.obstacle().ifPresent(why -> details.put("obstacle", why));
        now.workerId().ifPresent(worker -> details.put("workerId", worker));
        now.leaseLeft().ifPresent(left -> details.put("leaseLeft", left.toString()));
        now.store().ifPresent(this::store);
    }

    private void store(StoreState store) {
        details.put("store", store.name());
        details.put("storeReachable", store.isReachable());
        store.since().ifPresent(since -> details.put("storeSince", since.toString()));
        store.error().ifPresent(error -> details.put("storeError", error));
    }
}
