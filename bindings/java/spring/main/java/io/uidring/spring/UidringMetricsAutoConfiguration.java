package io.uidring.spring;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.uidring.UidGenerator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Meters, where the program has Micrometer. */
@AutoConfiguration(after = UidringAutoConfiguration.class)
@ConditionalOnClass(MeterBinder.class)
@ConditionalOnBean(UidGenerator.class)
public class UidringMetricsAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    UidringMetrics uidringMetrics(UidGenerator uids) {
        return new UidringMetrics(uids);
    }
}
