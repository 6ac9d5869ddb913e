// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Programs that nobody here wrote, as rounds: {@code javac DIR}, {@code h2}, {@code json}. {@code run MS} does
 * rounds for so long, and answers with their number and the nanoseconds.
 */
public final class Work {
    interface Round {
        long run() throws Exception;
    }

    private static Round javac(String dir) {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        List<String> args = new ArrayList<>(List.of("-proc:none", "-nowarn", "-Xlint:none", "-d", dir + "/out"));
        for (File f : new File(dir).listFiles()) {
            if (f.getName().endsWith(".java")) {
                args.add(f.getPath());
            }
        }
        return () -> {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            if (javac.run(null, out, out, args.toArray(new String[0])) != 0) {
                throw new IllegalStateException(out.toString());
            }
            return out.size();
        };
    }

    private static Round h2() throws Exception {
        Connection c = DriverManager.getConnection("jdbc:h2:mem:bench");
        c.createStatement().execute("create table t(id int primary key, name varchar, amount int)");
        try (PreparedStatement in = c.prepareStatement("insert into t values(?, ?, ?)")) {
            for (int i = 0; i < 5000; i++) {
                in.setInt(1, i);
                in.setString(2, "name" + i % 97);
                in.setInt(3, i * 7 % 1000);
                in.execute();
            }
        }
        PreparedStatement sum =
                c.prepareStatement("select name, sum(amount), count(*) from t where amount > ? group by name order by 2");
        PreparedStatement one = c.prepareStatement("select amount from t where id = ?");
        return () -> {
            long all = 0;
            sum.setInt(1, 300);
            try (ResultSet r = sum.executeQuery()) {
                while (r.next()) {
                    all += r.getLong(2);
                }
            }
            for (int i = 0; i < 200; i++) {
                one.setInt(1, i * 23 % 5000);
                try (ResultSet r = one.executeQuery()) {
                    r.next();
                    all += r.getInt(1);
                }
            }
            return all;
        };
    }

    private static Round json() {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < 2000; i++) {
            text.append(i == 0 ? "" : ",").append("{\"id\":").append(i).append(",\"name\":\"some \\\"name\\\" ").append(i);
            text.append("\",\"values\":[1,2.5,true,null,").append(i * 31L).append("]}");
        }
        String all = text.append("]").toString();
        JsonFactory factory = new JsonFactory();
        return () -> {
            long sum = 0;
            try (JsonParser p = factory.createParser(all)) {
                for (JsonToken t = p.nextToken(); t != null; t = p.nextToken()) {
                    sum += t == JsonToken.VALUE_NUMBER_INT ? p.getLongValue() : t == JsonToken.VALUE_STRING ? p.getText().length() : 1;
                }
            }
            return sum;
        };
    }

    public static void main(String[] args) throws Exception {
        Round round = args[0].equals("javac") ? javac(args[1]) : args[0].equals("h2") ? h2() : json();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            long ms = Long.parseLong(line.split(" ")[1]);
            long begin = System.nanoTime();
            long sum = 0;
            int n = 0;
            for (; n == 0 || System.nanoTime() - begin < ms * 1_000_000; n++) {
                sum += round.run();
            }
            System.out.println("ran " + n + " " + (System.nanoTime() - begin) + " " + sum);
        }
    }
}
