package io.uidring.spring;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;

/** The properties of a generator, whose texts are those of the options of all bindings. */
@ConfigurationProperties("uidring")
public class UidringProperties {
    /** Whether there is a generator. */
    private boolean enabled = true;

    /**
     * The address of the store, such as postgres://db.example.com/ids or jdbc:mysql://db/ids.
     * Without it, the database of spring.datasource is the store.
     */
    private String address;

    /** The user of the server, if the address does not name it. */
    private String username;

    /** The password, if it is not in the address. */
    private String password;

    /** How long a worker id is leased. 0 uses a permanent one up at each start. */
    private Duration lease = Duration.ofMinutes(10);

    /** A worker id of the program's own, which no other may have. Then there is no store. */
    private Long workerId;

    /** With a worker id of its own: the file that keeps up to which time it was used. */
    private String stateFile;

    /** Take the worker ids A to B only, written A-B. */
    private String workerIds;

    /** Take worker ids from part I of N equal parts, counted from 0, written I/N. */
    private String partition;

    /** A layout that is known by a name, such as twitter. */
    private String preset;

    /** The widths of time, worker and sequence in bits, such as 41,10,12. */
    private String layout;

    /** When the time field begins, such as 2026-01-01. */
    private String epoch;

    /** What the time field counts. */
    private Duration tick;

    /** Whether each id has the time of its take. */
    private Boolean exactTime;

    /** How far the time of ids may run ahead of the clock. */
    private Duration maxLead;

    /** What happens when max-lead is used up: new-worker, wait or fail. */
    private String onLeadLimit;

    /** How long to wait for the store at the start. */
    private Duration startDeadline;

    /** How long to wait for the store at the end. */
    private Duration shutdownDeadline;

    /** How long one call to the store may take. */
    private Duration timeout;

    /** Further options of the generator, by name. */
    private Map<String, String> options = new LinkedHashMap<>();

    /** Dense numbers, counted per tag. */
    @NestedConfigurationProperty
    private Numbers segments = new Numbers();

    /** Numbers that people see. */
    @NestedConfigurationProperty
    private Numbers series = new Numbers();

    /** Numbers that are loaded from the store of the generator. */
    public static class Numbers {
        /** Whether there is a bean for them. */
        private boolean enabled;

        /** How long a take waits for numbers that are being loaded. */
        private Duration maxWait;

        /** Keep numbers in memory for at least this time at the present rate. */
        private Duration ahead;

        /** Ask the store about once in this time. */
        private Duration refresh;

        /** Further options, by name. */
        private Map<String, String> options = new LinkedHashMap<>();

        /** The property enabled. */
        public boolean isEnabled() {
            return enabled;
        }

        /** Sets the property. */
        public void setEnabled(boolean enabled) {
            this.enabled = enabled;
        }

        /** The property max-wait. */
        public Duration getMaxWait() {
            return maxWait;
        }

        /** Sets the property. */
        public void setMaxWait(Duration maxWait) {
            this.maxWait = maxWait;
        }

        /** The property ahead. */
        public Duration getAhead() {
            return ahead;
        }

        /** Sets the property. */
        public void setAhead(Duration ahead) {
            this.ahead = ahead;
        }

        /** The property refresh. */
        public Duration getRefresh() {
            return refresh;
        }

        /** Sets the property. */
        public void setRefresh(Duration refresh) {
            this.refresh = refresh;
        }

        /** The property options. */
        public Map<String, String> getOptions() {
            return options;
        }

        /** Sets the property. */
        public void setOptions(Map<String, String> options) {
            this.options = options;
        }
    }

    /** The property enabled. */
    public boolean isEnabled() {
        return enabled;
    }

    /** Sets the property. */
    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /** The property address. */
    public String getAddress() {
        return address;
    }

    /** Sets the property. */
    public void setAddress(String address) {
        this.address = address;
    }

    /** The property username. */
    public String getUsername() {
        return username;
    }

    /** Sets the property. */
    public void setUsername(String username) {
        this.username = username;
    }

    /** The property password. */
    public String getPassword() {
        return password;
    }

    /** Sets the property. */
    public void setPassword(String password) {
        this.password = password;
    }

    /** The property lease. */
    public Duration getLease() {
        return lease;
    }

    /** Sets the property. */
    public void setLease(Duration lease) {
        this.lease = lease;
    }

    /** The property worker-id. */
    public Long getWorkerId() {
        return workerId;
    }

    /** Sets the property. */
    public void setWorkerId(Long workerId) {
        this.workerId = workerId;
    }

    /** The property state-file. */
    public String getStateFile() {
        return stateFile;
    }

    /** Sets the property. */
    public void setStateFile(String stateFile) {
        this.stateFile = stateFile;
    }

    /** The property worker-ids. */
    public String getWorkerIds() {
        return workerIds;
    }

    /** Sets the property. */
    public void setWorkerIds(String workerIds) {
        this.workerIds = workerIds;
    }

    /** The property partition. */
    public String getPartition() {
        return partition;
    }

    /** Sets the property. */
    public void setPartition(String partition) {
        this.partition = partition;
    }

    /** The property preset. */
    public String getPreset() {
        return preset;
    }

    /** Sets the property. */
    public void setPreset(String preset) {
        this.preset = preset;
    }

    /** The property layout. */
    public String getLayout() {
        return layout;
    }

    /** Sets the property. */
    public void setLayout(String layout) {
        this.layout = layout;
    }

    /** The property epoch. */
    public String getEpoch() {
        return epoch;
    }

    /** Sets the property. */
    public void setEpoch(String epoch) {
        this.epoch = epoch;
    }

    /** The property tick. */
    public Duration getTick() {
        return tick;
    }

    /** Sets the property. */
    public void setTick(Duration tick) {
        this.tick = tick;
    }

    /** The property exact-time. */
    public Boolean getExactTime() {
        return exactTime;
    }

    /** Sets the property. */
    public void setExactTime(Boolean exactTime) {
        this.exactTime = exactTime;
    }

    /** The property max-lead. */
    public Duration getMaxLead() {
        return maxLead;
    }

    /** Sets the property. */
    public void setMaxLead(Duration maxLead) {
        this.maxLead = maxLead;
    }

    /** The property on-lead-limit. */
    public String getOnLeadLimit() {
        return onLeadLimit;
    }

    /** Sets the property. */
    public void setOnLeadLimit(String onLeadLimit) {
        this.onLeadLimit = onLeadLimit;
    }

    /** The property start-deadline. */
    public Duration getStartDeadline() {
        return startDeadline;
    }

    /** Sets the property. */
    public void setStartDeadline(Duration startDeadline) {
        this.startDeadline = startDeadline;
    }

    /** The property shutdown-deadline. */
    public Duration getShutdownDeadline() {
        return shutdownDeadline;
    }

    /** Sets the property. */
    public void setShutdownDeadline(Duration shutdownDeadline) {
        this.shutdownDeadline = shutdownDeadline;
    }

    /** The property timeout. */
    public Duration getTimeout() {
        return timeout;
    }

    /** Sets the property. */
    public void setTimeout(Duration timeout) {
        this.timeout = timeout;
    }

    /** The property options. */
    public Map<String, String> getOptions() {
        return options;
    }

    /** Sets the property. */
    public void setOptions(Map<String, String> options) {
        this.options = options;
    }

    /** The property segments. */
    public Numbers getSegments() {
        return segments;
    }

    /** Sets the property. */
    public void setSegments(Numbers segments) {
        this.segments = segments;
    }

    /** The property series. */
    public Numbers getSeries() {
        return series;
    }

    /** Sets the property. */
    public void setSeries(Numbers series) {
        this.series = series;
    }
}
