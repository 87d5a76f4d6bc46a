package orders;

import io.uidring.hibernate.UidringId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

@Entity
@Table(name = "orders")
public class Order {
    @Id
    @UidringId
    public Long id;
    public String item;
}
