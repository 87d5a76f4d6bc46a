package orders;

import com.baomidou.mybatisplus.core.mapper.BaseMapper;

public interface Customers extends BaseMapper<Customer> {}
