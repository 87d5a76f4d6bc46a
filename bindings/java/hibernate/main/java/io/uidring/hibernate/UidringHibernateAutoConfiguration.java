package io.uidring.hibernate;

import io.uidring.UidSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Hands the source of ids of a context, such as that of the starter, to Hibernate. */
@AutoConfiguration(
        afterName = "io.uidring.spring.UidringAutoConfiguration",
        beforeName = {
            "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration",
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
        })
@ConditionalOnSingleCandidate(UidSource.class)
public class UidringHibernateAutoConfiguration {
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name =
            "org.springframework.boot.autoconfigure.orm.jpa.HibernatePropertiesCustomizer")
    static class Boot3 {
        @Bean
        org.springframework.boot.autoconfigure.orm.jpa.HibernatePropertiesCustomizer
                uidringHibernateSource(UidSource ids) {
            return settings -> settings.put(UidringIdGenerator.SOURCE, ids);
        }
    }

    /** The same of Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name =
            "org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer")
    static class Boot4 {
        @Bean
        org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer
                uidringHibernateSource(UidSource ids) {
            return settings -> settings.put(UidringIdGenerator.SOURCE, ids);
        }
    }
}
