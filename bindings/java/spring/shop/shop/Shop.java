package shop;

import io.uidring.UidSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Shop {
    private final UidSource ids;

    public Shop(UidSource ids) {
        this.ids = ids;
    }

    @GetMapping("/order")
    public String order() {
        return Long.toString(ids.take());
    }

    public static void main(String[] arguments) {
        SpringApplication.run(Shop.class, arguments);
    }
}
