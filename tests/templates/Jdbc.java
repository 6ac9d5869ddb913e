// SPDX-License-Identifier: Apache-2.0
import java.sql.*;

/** Every way to hand a text to JDBC, and to run what was handed over before. */
public class Jdbc {
    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection("jdbc:h2:mem:shop", "user", "secret");
                Statement s = c.createStatement()) {
            s.execute("CREATE TABLE item(id INT PRIMARY KEY, name VARCHAR(20))");
            System.out.println(s.executeUpdate("INSERT INTO item VALUES(1, 'tea')"));
            System.out.println(s.executeLargeUpdate("INSERT INTO item VALUES(2, 'milk')"));
            s.addBatch("INSERT INTO item VALUES(3, 'salt')");
            System.out.println(s.executeBatch().length);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO item VALUES(?, ?)")) {
                p.setInt(1, 4);
                p.setString(2, "private");
                System.out.println(p.executeUpdate());
                p.setInt(1, 5);
                p.addBatch();
                System.out.println(p.executeBatch().length);
            }
            try (CallableStatement call = c.prepareCall("SELECT COUNT(*) FROM item");
                    ResultSet r = call.executeQuery()) {
                r.next();
                System.out.println(r.getInt(1));
            }
            try {
                s.executeQuery("SELECT nothing FROM nowhere");
            } catch (SQLException e) {
                System.out.println("refused: " + e.getSQLState());
            }
            System.out.println(new Dao(c).count("private"));
        }
    }

    /** A class that is no JDBC class: only what it calls tells that it is about the database. */
    static class Dao {
        private final Connection c;

        Dao(Connection c) {
            this.c = c;
        }

        int count(String name) throws SQLException {
            try (PreparedStatement p =
                    c.prepareStatement("SELECT COUNT(*) FROM item WHERE name = ?")) {
                p.setString(1, name);
                ResultSet r = p.executeQuery();
                r.next();
                return r.getInt(1);
            }
        }
    }
}
