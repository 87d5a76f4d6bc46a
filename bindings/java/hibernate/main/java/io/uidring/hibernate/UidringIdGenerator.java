package io.uidring.hibernate;

import io.uidring.UidSource;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.EnumSet;
import org.hibernate.HibernateException;
import org.hibernate.engine.config.spi.ConfigurationService;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.AnnotationBasedGenerator;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.GeneratorCreationContext;

/** What {@link UidringId} stands for. */
public class UidringIdGenerator
        implements BeforeExecutionGenerator, AnnotationBasedGenerator<UidringId> {
    /** The setting of Hibernate that is a {@link UidSource}, such as a generator. */
    public static final String SOURCE = "uidring.source";

    private static final long serialVersionUID = 1;

    private transient UidSource ids;

    @Override
    public void initialize(
            UidringId annotation, Member member, GeneratorCreationContext context) {
        String name = member.getDeclaringClass().getName() + "." + member.getName();
        Class<?> type = member instanceof Field field
                ? field.getType() : ((Method) member).getReturnType();
        if (type != Long.class && type != long.class) {
            throw new HibernateException("@UidringId of " + name + " is for a long or a Long, "
                    + "and not for a " + type.getTypeName());
        }
        Object source = context.getServiceRegistry().requireService(ConfigurationService.class)
                .getSettings().get(SOURCE);
        if (!(source instanceof UidSource found)) {
            throw new HibernateException("@UidringId of " + name + " has no generator: add "
                    + "uidring-spring-boot-starter, or set " + SOURCE + " among Hibernate's "
                    + "settings to a UidGenerator; it is " + source);
        }
        ids = found;
    }

    @Override
    public Object generate(SharedSessionContractImplementor session, Object owner,
            Object assigned, EventType event) {
        return assigned == null || assigned.equals(0L) ? (Object) ids.take() : assigned;
    }

    @Override
    public EnumSet<EventType> getEventTypes() {
        return EventTypeSets.INSERT_ONLY;
    }

    @Override
    public boolean allowAssignedIdentifiers() {
        return true;
    }
}
