package io.uidring.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Gives an id to the attribute with {@code @Id} of an entity of Spring Data JDBC, a {@code long} or
 * {@code Long}, where the program has not assigned one: null and 0 are none.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER,
    ElementType.RECORD_COMPONENT})
public @interface UidringId {}
