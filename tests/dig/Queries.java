// SPDX-License-Identifier: Apache-2.0
// jar: /usr/share/java/h2.jar
// One query for the list of orders, and then one more for each of them.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

public class Queries {
	static final int ORDERS = 300;

	static String lines(Connection c, int order) throws SQLException {
		try (PreparedStatement s = c.prepareStatement("SELECT text FROM line WHERE orders = ?")) {
			s.setInt(1, order);
			try (ResultSet r = s.executeQuery()) {
				return r.next() ? r.getString(1) : "";
			}
		}
	}

	static int list(Connection c) throws SQLException {
		int n = 0;
		try (PreparedStatement s = c.prepareStatement("SELECT id FROM orders"); ResultSet r = s.executeQuery()) {
			while (r.next())
				n += lines(c, r.getInt(1)).length();
		}
		return n;
	}

	public static void main(String[] args) throws Exception {
		try (Connection c = DriverManager.getConnection("jdbc:h2:mem:shop")) {
			c.createStatement().execute("CREATE TABLE orders(id INT PRIMARY KEY)");
			c.createStatement().execute("CREATE TABLE line(orders INT, text VARCHAR(200))");
			for (int i = 0; i < ORDERS; i++) {
				c.createStatement().execute("INSERT INTO orders VALUES(" + i + ")");
				c.createStatement().execute("INSERT INTO line VALUES(" + i + ", 'two of them')");
			}
			System.out.println("ready");
			while (list(c) > 0)
				Thread.sleep(5);
		}
	}
}
