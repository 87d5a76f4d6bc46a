/** A bean with the properties of Baidu's UidGenerator, for programs that move over from it. */
package io.uidring.uidgenerator;
