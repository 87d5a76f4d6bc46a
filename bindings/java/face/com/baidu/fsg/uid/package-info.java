/** What programs with Baidu's UidGenerator name in their code, declared anew. */
package com.baidu.fsg.uid;
