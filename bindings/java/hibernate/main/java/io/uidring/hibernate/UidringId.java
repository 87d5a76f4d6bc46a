package io.uidring.hibernate;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.IdGeneratorType;

/**
 * Gives an id to the attribute with {@code @Id}, a {@code long} or {@code Long}, where the program
 * has not assigned one: null and 0 are none. The ids come from the setting
 * {@value UidringIdGenerator#SOURCE}, which the starter for Spring Boot makes.
 */
@IdGeneratorType(UidringIdGenerator.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface UidringId {}
