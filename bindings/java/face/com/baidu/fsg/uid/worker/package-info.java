/** Where programs with Baidu's UidGenerator get worker ids. */
package com.baidu.fsg.uid.worker;
