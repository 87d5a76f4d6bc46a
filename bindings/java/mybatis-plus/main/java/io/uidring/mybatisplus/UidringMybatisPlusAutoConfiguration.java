package io.uidring.mybatisplus;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.uidring.UidSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Where a context has a source of ids, such as that of the starter, MyBatis-Plus takes from it. */
@AutoConfiguration(
        afterName = "io.uidring.spring.UidringAutoConfiguration",
        beforeName = {
            "com.baomidou.mybatisplus.autoconfigure.IdentifierGeneratorAutoConfiguration",
            "com.baomidou.mybatisplus.autoconfigure.MybatisPlusAutoConfiguration",
        })
@ConditionalOnSingleCandidate(UidSource.class)
public class UidringMybatisPlusAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    IdentifierGenerator uidringIdentifierGenerator(UidSource ids) {
        return new UidringIdentifierGenerator(ids);
    }
}
