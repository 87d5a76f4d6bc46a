package orders;

import com.baomidou.mybatisplus.annotation.TableId;
import com.baomidou.mybatisplus.annotation.TableName;

@TableName("orders")
public class Order {
    @TableId
    public Long id;
    public String item;
}
