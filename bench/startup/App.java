// SPDX-License-Identifier: Apache-2.0
package bench.startup;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A small Spring Boot application with a database: its first answer needs all of the framework. */
@SpringBootApplication
@RestController
public class App {
    private final JdbcTemplate db;

    App(JdbcTemplate db) {
        this.db = db;
        db.execute("create table item(id int primary key, name varchar(40))");
        for (int i = 0; i < 100; i++) {
            db.update("insert into item values (?, ?)", i, "item " + i);
        }
    }

    @GetMapping("/items")
    String items() {
        return "items: " + db.queryForObject("select count(*) from item where name like 'item 1%'", Integer.class);
    }

    public static void main(String[] args) {
        SpringApplication.run(App.class, args);
    }
}
