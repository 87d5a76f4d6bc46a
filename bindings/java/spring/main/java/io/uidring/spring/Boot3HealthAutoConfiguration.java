package io.uidring.spring;

import io.uidring.UidGenerator;
import java.util.Set;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.health.AdditionalHealthEndpointPath;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthEndpointGroup;
import org.springframework.boot.actuate.health.HealthEndpointGroups;
import org.springframework.boot.actuate.health.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.HttpCodeStatusMapper;
import org.springframework.boot.actuate.health.StatusAggregator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Health in Spring Boot 3. */
@AutoConfiguration(after = UidringAutoConfiguration.class, afterName =
        "org.springframework.boot.actuate.autoconfigure.availability."
                + "AvailabilityProbesAutoConfiguration")
@ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
@ConditionalOnBean(UidGenerator.class)
@ConditionalOnProperty(name = "management.health.uidring.enabled", matchIfMissing = true)
public class Boot3HealthAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean(name = "uidringHealthIndicator")
    HealthIndicator uidringHealthIndicator(UidGenerator uids) {
        return () -> {
            Reading reading = new Reading(uids);
            return Health.status(reading.status).withDetails(reading.details).build();
        };
    }

    /** A program that gets no ids is not ready. */
    @Bean
    @Order(Ordered.LOWEST_PRECEDENCE)
    static HealthEndpointGroupsPostProcessor uidringInReadiness() {
        return Groups::new;
    }

    private record Groups(HealthEndpointGroups groups) implements HealthEndpointGroups {
        @Override
        public HealthEndpointGroup getPrimary() {
            return groups.getPrimary();
        }

        @Override
        public Set<String> getNames() {
            return groups.getNames();
        }

        @Override
        public HealthEndpointGroup get(String name) {
            HealthEndpointGroup group = groups.get(name);
            return group != null && name.equals("readiness") ? new Readiness(group) : group;
        }
    }

    private record Readiness(HealthEndpointGroup group) implements HealthEndpointGroup {
        @Override
        public boolean isMember(String name) {
            return name.equals("uidring") || group.isMember(name);
        }

        @Override
        public boolean showComponents(SecurityContext context) {
            return group.showComponents(context);
        }

        @Override
        public boolean showDetails(SecurityContext context) {
            return group.showDetails(context);
        }

        @Override
        public StatusAggregator getStatusAggregator() {
            return group.getStatusAggregator();
        }

        @Override
        public HttpCodeStatusMapper getHttpCodeStatusMapper() {
            return group.getHttpCodeStatusMapper();
        }

        @Override
        public AdditionalHealthEndpointPath getAdditionalPath() {
            return group.getAdditionalPath();
        }
    }
}
