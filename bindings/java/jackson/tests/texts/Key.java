package texts;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Stands where an annotation of Hibernate or MyBatis-Plus would. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Key {}
