package orders;

import io.uidring.hibernate.UidringId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** Its id is a primitive, by a method. */
@Entity
public class Line {
    private long id;

    @Id
    @UidringId
    public long getId() {
        return id;
    }

    public void setId(long id) {
        this.id = id;
    }
}
