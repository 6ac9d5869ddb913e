// SPDX-License-Identifier: Apache-2.0
// truth: Requests wait for a connection of the pool, since Report.collect has all three of them for a while.
// jars: debian:HikariCP debian:h2 debian:slf4j-api debian:slf4j-nop
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A shop with a pool of three connections, which a report takes for 300 ms, every 1.5 s. */
public class Hikari {
	static final class Orders {
		private final DataSource source;

		Orders(DataSource source) {
			this.source = source;
		}

		String name(int id) throws SQLException {
			try (Connection c = source.getConnection(); PreparedStatement s = c.prepareStatement("select name from item where id = ?")) {
				s.setInt(1, id);
				try (ResultSet rows = s.executeQuery()) {
					return rows.next() ? rows.getString(1) : "";
				}
			}
		}
	}

	static final class Shop {
		private final Orders orders;

		Shop(Orders orders) {
			this.orders = orders;
		}

		int show(int id) throws SQLException {
			return orders.name(id).length() + id;
		}
	}

	static final class Report {
		private final DataSource source;

		Report(DataSource source) {
			this.source = source;
		}

		void collect() throws SQLException, InterruptedException {
			List<Connection> parts = new ArrayList<>();
			for (int i = 0; i < 3; i++)
				parts.add(source.getConnection());
			write();
			for (Connection c : parts)
				c.close();
		}

		private void write() throws InterruptedException {
			Thread.sleep(300);
		}

		void run() {
			try {
				for (;;) {
					Thread.sleep(1200);
					collect();
				}
			} catch (SQLException | InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
		config.setMaximumPoolSize(3);
		HikariDataSource source = new HikariDataSource(config);
		try (Connection c = source.getConnection()) {
			c.createStatement().execute("create table item(id int primary key, name varchar(40))");
			for (int i = 0; i < 100; i++)
				c.createStatement().execute("insert into item values (" + i + ", 'item " + i + "')");
		}
		Shop shop = new Shop(new Orders(source));
		for (int t = 0; t < 6; t++) {
			int first = t;
			new Thread(() -> {
				try {
					for (int i = first;; i++) {
						shop.show(i % 100);
						Thread.sleep(20);
					}
				} catch (SQLException | InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}, "request-" + t).start();
		}
		new Thread(new Report(source)::run, "report").start();
		System.out.println("ready");
	}
}
