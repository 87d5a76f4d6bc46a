package io.uidring.spring;

import io.uidring.Segments;
import io.uidring.Series;
import io.uidring.UidGenerator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * One generator for each context, which is closed with it. Where it has no address of its own, the
 * store is the database of the program.
 */
@AutoConfiguration(afterName = {
    "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
    "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
})
@ConditionalOnProperty(prefix = "uidring", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(UidringProperties.class)
public class UidringAutoConfiguration {
    /** Outlives what is opened with it, so that the log has each end. */
    @Bean
    @ConditionalOnMissingBean
    UidringLog uidringLog() {
        return new UidringLog();
    }

    /** Made at the start, so that a store that is away is told then. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    UidGenerator uidGenerator(UidringLog log, UidringProperties properties, StoreAddress database) {
        return Opening.generator(properties, database);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @ConditionalOnProperty("uidring.segments.enabled")
    Segments uidringSegments(UidringLog log, UidringProperties properties, StoreAddress database) {
        return Opening.segments(properties, database);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @ConditionalOnProperty("uidring.series.enabled")
    Series uidringSeries(UidringLog log, UidringProperties properties, StoreAddress database) {
        return Opening.series(properties, database);
    }

    /** The database of a program that Boot has no details of, or none. */
    @Bean
    @ConditionalOnMissingBean
    StoreAddress uidringDatabaseOfProperties(Environment environment) {
        return new StoreAddress(
                environment.getProperty("spring.datasource.url"),
                environment.getProperty("spring.datasource.username"),
                environment.getProperty("spring.datasource.password"));
    }

    /** The database as Boot 3 knows it, of a container too. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails")
    @ConditionalOnBean(org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails.class)
    static class Boot3Database {
        @Bean
        StoreAddress uidringDatabase(
                org.springframework.boot.autoconfigure.jdbc.JdbcConnectionDetails details) {
            return new StoreAddress(
                    details.getJdbcUrl(), details.getUsername(), details.getPassword());
        }
    }

    /** The same of Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails")
    @ConditionalOnBean(org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails.class)
    static class Boot4Database {
        @Bean
        StoreAddress uidringDatabase(
                org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails details) {
            return new StoreAddress(
                    details.getJdbcUrl(), details.getUsername(), details.getPassword());
        }
    }
}
