package io.uidring.jackson;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.lang.annotation.Annotation;
import java.util.Set;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.NopAnnotationIntrospector;
import tools.jackson.databind.module.SimpleModule;

/**
 * For Jackson 3: does what {@link UidText} does, for the fields that have another annotation
 * already, such as that of an id of Hibernate or MyBatis-Plus.
 */
public final class UidTextModule3 extends SimpleModule {
    private static final long serialVersionUID = 1;

    private final transient Set<Class<? extends Annotation>> annotations;

    /**
     * For the fields, getters and parameters with any of these.
     *
     * @param annotations their types
     */
    public UidTextModule3(Set<Class<? extends Annotation>> annotations) {
        super(UidTextModule3.class.getName());
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
        public JsonFormat.Value findFormat(MapperConfig<?> config, Annotated annotated) {
            return annotations.stream().anyMatch(annotated::hasAnnotation)
                    ? JsonFormat.Value.forShape(JsonFormat.Shape.STRING) : null;
        }
    }
}
