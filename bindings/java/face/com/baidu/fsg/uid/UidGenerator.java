package com.baidu.fsg.uid;

import com.baidu.fsg.uid.exception.UidGenerateException;

/**
 * The interface that programs with Baidu's UidGenerator know, declared anew so that they keep it
 * without Baidu's jar. With that jar on the class path as well, either of the two may be loaded.
 */
public interface UidGenerator {
    /**
     * Takes an id.
     *
     * @return a positive id, which is never given again
     * @throws UidGenerateException if there is no id
     */
    long getUID() throws UidGenerateException;

    /**
     * Decodes an id.
     *
     * @param uid the id
     * @return a JSON object with the texts {@code UID}, {@code timestamp}, {@code workerId} and
     *     {@code sequence}
     */
    String parseUID(long uid);
}
