package io.uidring.spring;

import io.uidring.UidSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.data.mapping.PersistentPropertyAccessor;
import org.springframework.data.relational.core.mapping.RelationalMappingContext;
import org.springframework.data.relational.core.mapping.RelationalPersistentEntity;
import org.springframework.data.relational.core.mapping.RelationalPersistentProperty;
import org.springframework.data.relational.core.mapping.event.BeforeConvertCallback;

/** Ids for entities of Spring Data JDBC. */
@AutoConfiguration(after = UidringAutoConfiguration.class)
@ConditionalOnClass(BeforeConvertCallback.class)
public class UidringDataAutoConfiguration {
    @Bean
    @ConditionalOnBean(UidSource.class)
    BeforeConvertCallback<Object> uidringIds(
            ObjectProvider<RelationalMappingContext> mappings, ObjectProvider<UidSource> ids) {
        // A class, because Spring reads the type of its entities from it.
        return new BeforeConvertCallback<>() {
            @Override
            public Object onBeforeConvert(Object row) {
                return withId(row, mappings.getObject(), ids.getObject());
            }
        };
    }

    /** Spring Data has decided before that the row is new. */
    private static Object withId(Object row, RelationalMappingContext mapping, UidSource ids) {
        RelationalPersistentEntity<?> entity = mapping.getRequiredPersistentEntity(row.getClass());
        RelationalPersistentProperty id = entity.getIdProperty();
        if (id == null || !id.isAnnotationPresent(UidringId.class)) {
            return row;
        }
        PersistentPropertyAccessor<Object> properties = entity.getPropertyAccessor(row);
        Object assigned = properties.getProperty(id);
        if (assigned == null || assigned.equals(0L)) {
            properties.setProperty(id, ids.take());
        }
        // A record is another one then.
        return properties.getBean();
    }
}
