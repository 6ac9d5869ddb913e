// SPDX-License-Identifier: Apache-2.0
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** A database in memory that is asked and changed until somebody ends the program. */
public final class Database {
    static long ask(PreparedStatement s, int n) throws Exception {
        s.setString(1, "%" + n % 100 + "%");
        try (ResultSet r = s.executeQuery()) {
            r.next();
            return r.getLong(1);
        }
    }

    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection("jdbc:h2:mem:x");
                Statement s = c.createStatement()) {
            s.execute("create table item(id int primary key, name varchar(40))");
            for (int i = 0; i < 2000; i++) {
                s.execute("insert into item values (" + i + ", 'item " + i + "')");
            }
            System.out.println("ready");
            try (PreparedStatement p = c.prepareStatement("select count(*) from item where name like ?")) {
                for (int i = 0; i >= 0; i++) {
                    ask(p, i);
                    s.execute("update item set name = 'item " + i + "' where id = " + i % 2000);
                }
            }
        }
    }
}
