/** Ids in Spring Boot 3 and 4: a {@link io.uidring.UidGenerator} for each context. */
package io.uidring.spring;
