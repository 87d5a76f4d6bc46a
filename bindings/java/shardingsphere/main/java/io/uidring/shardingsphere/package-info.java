/** Ids for the keys of ShardingSphere 5.4 and 5.5: the key generator of the type UIDRING. */
package io.uidring.shardingsphere;
