package orders;

import com.baomidou.mybatisplus.annotation.TableId;
import com.baomidou.mybatisplus.annotation.TableName;

/** Its id is a text in the program, and a number in the database. */
@TableName("customers")
public class Customer {
    @TableId
    public String id;
    public String name;
}
