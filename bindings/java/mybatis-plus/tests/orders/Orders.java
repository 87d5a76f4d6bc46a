package orders;

import com.baomidou.mybatisplus.core.mapper.BaseMapper;

public interface Orders extends BaseMapper<Order> {}
