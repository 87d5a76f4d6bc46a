package texts;

import io.uidring.jackson.UidText;

public class Order {
    @UidText
    public long id;
    public long price;
}
