package texts;

/** Its id has another annotation. */
public class Row {
    @Key
    public Long id;
    public long price;
}
