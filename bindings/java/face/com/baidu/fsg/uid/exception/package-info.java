/** The exception that programs with Baidu's UidGenerator catch. */
package com.baidu.fsg.uid.exception;
