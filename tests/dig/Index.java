// jar: /usr/share/java/h2.jar
// Customers are looked for by their number, and their orders with all lines of those; somebody forgot the index that
// leads from an order to its lines.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

public class Index {
	static final class Customers {
		private final Connection c;

		Customers(Connection c) {
			this.c = c;
		}

		private String first(String sql, int number) throws SQLException {
			try (PreparedStatement s = c.prepareStatement(sql)) {
				s.setInt(1, number);
				try (ResultSet r = s.executeQuery()) {
					return r.next() ? r.getString(1) : null;
				}
			}
		}

		String name(int number) throws SQLException {
			return first("SELECT name FROM customer WHERE number = ?", number);
		}

		String total(int number) throws SQLException {
			return first("SELECT SUM(l.price) FROM orders o JOIN line l ON l.orders = o.number WHERE o.customer = ?", number);
		}
	}

	static volatile String kept;

	static void visit(Customers customers, int i) throws SQLException {
		kept = customers.name(i % 500);
		if (i % 8 == 0)
			kept = customers.total(i % 500);
	}

	public static void main(String[] args) throws Exception {
		try (Connection c = DriverManager.getConnection("jdbc:h2:mem:shop")) {
			c.createStatement().execute("CREATE TABLE customer(number INT PRIMARY KEY, name VARCHAR(40)) AS "
					+ "SELECT x, 'Customer ' || x FROM SYSTEM_RANGE(1, 500)");
			c.createStatement().execute("CREATE TABLE orders(number INT PRIMARY KEY, customer INT) AS "
					+ "SELECT x, MOD(x, 500) FROM SYSTEM_RANGE(1, 20000)");
			c.createStatement().execute("CREATE INDEX customers ON orders(customer)");
			c.createStatement().execute("CREATE TABLE line(number INT PRIMARY KEY, orders INT, price INT) AS "
					+ "SELECT x, MOD(x, 20000), x FROM SYSTEM_RANGE(1, 25000)");
			Customers customers = new Customers(c);
			System.out.println("ready");
			for (int i = 0;; i++) {
				visit(customers, i);
				Thread.sleep(1);
			}
		}
	}
}
