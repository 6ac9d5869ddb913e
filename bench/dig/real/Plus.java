// SPDX-License-Identifier: Apache-2.0
// truth: A page of orders asks the database once for each of its 150 orders (N+1 statements).
// jars: spring
// package: orders
package orders;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A Spring Boot application with a database. */
@SpringBootApplication
public class Plus {
	@Repository
	static class Customers {
		private final JdbcTemplate db;

		Customers(JdbcTemplate db) {
			this.db = db;
		}

		String name(int customer) {
			return db.queryForObject("select name from customer where id = ?", String.class, customer);
		}
	}

	@Repository
	static class Orders {
		private final JdbcTemplate db;

		Orders(JdbcTemplate db) {
			this.db = db;
			db.execute("create table customer(id int primary key, name varchar(40))");
			db.execute("create table entry(id int primary key, customer int)");
			for (int i = 0; i < 150; i++) {
				db.update("insert into customer values (?, ?)", i, "customer " + i);
				db.update("insert into entry values (?, ?)", i, i);
			}
		}

		List<Integer> customers() {
			return db.queryForList("select customer from entry order by id", Integer.class);
		}
	}

	@RestController
	static class Page {
		private final Orders orders;
		private final Customers customers;

		Page(Orders orders, Customers customers) {
			this.orders = orders;
			this.customers = customers;
		}

		@GetMapping("/orders")
		String show() {
			StringBuilder page = new StringBuilder();
			for (int customer : orders.customers())
				page.append(customers.name(customer)).append('\n');
			return page.toString();
		}
	}

	static void browse(String port) throws Exception {
		HttpClient client = HttpClient.newHttpClient();
		HttpRequest ask = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/orders")).build();
		for (;;) {
			client.send(ask, HttpResponse.BodyHandlers.ofString());
			Thread.sleep(40);
		}
	}

	public static void main(String[] args) throws Exception {
		if (args.length > 0) {
			browse(args[0]);
			return;
		}
		int port = ((WebServerApplicationContext) SpringApplication.run(Plus.class, "--server.port=0", "--server.address=127.0.0.1",
			"--spring.main.banner-mode=off", "--logging.level.root=warn")).getWebServer().getPort();
		for (int i = 0; i < 2; i++)
			new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-Xmx48m", "-cp", System.getProperty("java.class.path"),
				"orders.Plus", String.valueOf(port)).inheritIO().start();
		System.out.println("ready");
	}
}
