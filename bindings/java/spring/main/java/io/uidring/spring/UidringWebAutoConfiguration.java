package io.uidring.spring;

import io.uidring.UnavailableException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** What a web program answers where there is no id for now. */
@AutoConfiguration(after = UidringAutoConfiguration.class)
@ConditionalOnClass({ProblemDetail.class, RestControllerAdvice.class})
@ConditionalOnWebApplication
public class UidringWebAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    UidringProblems uidringProblems() {
        return new UidringProblems();
    }

    /** 503, and when to come again. A program's own advice goes first. */
    @RestControllerAdvice
    @Order(Ordered.LOWEST_PRECEDENCE)
    public static class UidringProblems {
        @ExceptionHandler(UnavailableException.class)
        ResponseEntity<ProblemDetail> unavailable(UnavailableException none) {
            HttpStatus status = HttpStatus.SERVICE_UNAVAILABLE;
            // The reason names the store, which is for operators.
            ProblemDetail problem =
                    ProblemDetail.forStatusAndDetail(status, "there is no id for now; try again");
            return ResponseEntity.status(status).header(HttpHeaders.RETRY_AFTER, "1").body(problem);
        }
    }
}
