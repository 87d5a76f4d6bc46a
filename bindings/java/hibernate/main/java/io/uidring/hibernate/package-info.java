/** Ids for entities of Hibernate 6.6 and 7, by {@link io.uidring.hibernate.UidringId}. */
package io.uidring.hibernate;
