/** Ids for the {@code ASSIGN_ID} of MyBatis-Plus. */
package io.uidring.mybatisplus;
