package io.uidring.mybatisplus;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.uidring.UidSource;
import java.util.Objects;

/** Gives ids to the fields with {@code @TableId(type = IdType.ASSIGN_ID)}, which is the default. */
public final class UidringIdentifierGenerator implements IdentifierGenerator {
    private final UidSource ids;

    /**
     * Of a source that outlives it.
     *
     * @param ids a {@link io.uidring.UidGenerator}, or what stands for one
     */
    public UidringIdentifierGenerator(UidSource ids) {
        this.ids = Objects.requireNonNull(ids, "the source of ids is null");
    }

    @Override
    public Long nextId(Object entity) {
        return ids.take();
    }
}
