/** Ids as texts in the JSON of Jackson 2 and 3: JavaScript rounds numbers that large. */
package io.uidring.jackson;
