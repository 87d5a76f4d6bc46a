package rows;

import io.uidring.spring.UidringId;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

@Table("orders")
public record Order(@Id @UidringId Long id, String item) {}
