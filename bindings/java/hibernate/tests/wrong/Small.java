package wrong;

import io.uidring.hibernate.UidringId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** Its id is too small. */
@Entity
public class Small {
    @Id
    @UidringId
    public Integer id;
}
