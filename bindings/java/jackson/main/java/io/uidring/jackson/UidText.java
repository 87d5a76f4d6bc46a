package io.uidring.jackson;

import com.fasterxml.jackson.annotation.JacksonAnnotationsInside;
import com.fasterxml.jackson.annotation.JsonFormat;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Writes a {@code long} or {@code Long} as a text, and reads it from one, or from a number. */
@JacksonAnnotationsInside
@JsonFormat(shape = JsonFormat.Shape.STRING)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER})
public @interface UidText {}
