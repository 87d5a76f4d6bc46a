package io.uidring.jackson;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.NopAnnotationIntrospector;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.lang.annotation.Annotation;
import java.util.Set;

/**
 * For Jackson 2: does what {@link UidText} does, for the fields that have another annotation
 * already, such as that of an id of Hibernate or MyBatis-Plus.
 */
public final class UidTextModule2 extends SimpleModule {
    private static final long serialVersionUID = 1;

    private final transient Set<Class<? extends Annotation>> annotations;

    /**
     * For the fields, getters and parameters with any of these.
     *
     * @param annotations their types
     */
    public UidTextModule2(Set<Class<? extends Annotation>> annotations) {
        super(UidTextModule2.class.getName());
        this.annotations = Set.copyOf(annotations);
    }

    @Override
    public void setupModule(SetupContext context) {
        super.setupModule(context);
        context.insertAnnotationIntrospector(new Texts(annotations));
    }

    private static final class Texts extends NopAnnotationIntrospector {
        private static final long serialVersionUID = 1;

        private final transient Set<Class<? extends Annotation>> annotations;

        Texts(Set<Class<? extends Annotation>> annotations) {
            this.annotations = annotations;
        }

        @Override
        public JsonFormat.Value findFormat(Annotated annotated) {
            return annotations.stream().anyMatch(annotated::hasAnnotation)
                    ? JsonFormat.Value.forShape(JsonFormat.Shape.STRING) : null;
        }
    }
}
