// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the agent's frames with the definitions in src/wire/messages.def, independently of the
 * command line.
 *
 * <pre>
 * Frames ask SOCKET FILE      the answers to `report`, `hooks` and `ask_status`, as they came
 * Frames sum FILE             one line: classes, methods, calls, what was left alone
 * Frames left FILE            a line for each reason: count, reason, example
 * Frames show FILE [TEXT]     the methods with TEXT in their names
 * Frames check FILE OUTPUT    do the figures agree with the lines "want ..." in OUTPUT?
 * </pre>
 *
 * A line is {@code want METHOD FIELD OP NUMBER...}: FIELD is one of the message `method`, or `avg`
 * (total_ns / calls), or `rows`, how many such methods there are; OP is one of = > < and ~ (within
 * 20 %). METHOD may be a class; then the figures of all its methods are summed.
 */
public final class Frames {
    private static final Path DEFINITIONS = Path.of("src/wire/messages.def");

    record Field(String type, String name) {}

    record Row(String type, Map<String, Object> fields) {
        long number(String field) {
            return ((Number) fields.getOrDefault(field, 0L)).longValue();
        }

        String text(String field) {
            return String.valueOf(fields.getOrDefault(field, ""));
        }
    }

    private static final List<String> NAMES = new ArrayList<>();
    private static final Map<String, List<Field>> FIELDS = new LinkedHashMap<>();

    private static void define() throws IOException {
        String all = Files.readString(DEFINITIONS).replaceAll("(?s)/\\*.*?\\*/", "");
        Pattern field = Pattern.compile("(U8|U32|U64|F64|STR)\\((\\w+)\\)");
        for (String part : all.split("MESSAGE\\(")) {
            String name = part.strip().split(",")[0];
            if (name.isEmpty()) {
                continue;
            }
            NAMES.add(name);
            List<Field> list = new ArrayList<>();
            for (Matcher m = field.matcher(part); m.find(); ) {
                list.add(new Field(m.group(1), m.group(2)));
            }
            FIELDS.put(name, list);
        }
    }

    private static Row decode(String name, ByteBuffer b) {
        Map<String, Object> out = new LinkedHashMap<>();
        for (Field f : FIELDS.get(name)) {
            if (!b.hasRemaining()) {
                break;
            }
            switch (f.type) {
                case "U8" -> out.put(f.name, (long) b.get() & 0xff);
                case "U32" -> out.put(f.name, b.getInt() & 0xffffffffL);
                case "U64" -> out.put(f.name, b.getLong());
                case "F64" -> out.put(f.name, b.getDouble());
                default -> {
                    byte[] text = new byte[b.getInt()];
                    b.get(text);
                    out.put(f.name, new String(text, StandardCharsets.UTF_8));
                }
            }
        }
        return new Row(name, out);
    }

    /** Takes one whole frame out of b, which is left behind it; null when there is none. */
    private static Row next(ByteBuffer b) {
        if (b.remaining() < 8 || b.remaining() < 4 + b.getInt(b.position())) {
            return null;
        }
        int length = b.getInt(b.position());
        int type = b.getShort(b.position() + 4);
        Row row = decode(NAMES.get(type - 1), b.slice(b.position() + 8, length - 4));
        b.position(b.position() + 4 + length);
        return row;
    }

    private static List<Row> read(String file) throws IOException {
        ByteBuffer b = ByteBuffer.wrap(Files.readAllBytes(Path.of(file)));
        List<Row> rows = new ArrayList<>();
        for (Row r; (r = next(b)) != null; ) {
            rows.add(r);
        }
        return rows;
    }

    // ---- the socket ----

    private static ByteBuffer request(String name, Object... values) {
        ByteBuffer b = ByteBuffer.allocate(256);
        b.putInt(0).putShort((short) (NAMES.indexOf(name) + 1)).putShort((short) 0);
        for (Object v : values) {
            if (v instanceof Integer) {
                b.putInt((int) v);
            } else {
                b.putInt(((String) v).length()).put(((String) v).getBytes());
            }
        }
        return b.putInt(0, b.position() - 4).flip();
    }

    private static void ask(String socket, Path file) throws IOException {
        Files.write(file, new byte[0]);
        try (SocketChannel c = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            c.write(request("hello", 0x534f4e44, 1, "test"));
            ByteBuffer in = ByteBuffer.allocate(64 << 20);
            for (String what : new String[] {"report", "hooks", "ask_status"}) {
                c.write(request(what, 0));
                for (Row r = null; r == null || !r.type.equals("done"); ) {
                    in.flip();
                    int from = in.position();
                    r = next(in);
                    if (r != null && !r.type.equals("done")) {
                        byte[] frame = new byte[in.position() - from];
                        in.get(from, frame);
                        Files.write(file, frame, StandardOpenOption.APPEND);
                    }
                    in.compact();
                    if (r == null && c.read(in) < 0) {
                        throw new IOException("the agent closed the connection");
                    }
                }
            }
        }
    }

    // ---- what is printed ----

    private static void sum(List<Row> rows) {
        long methods = 0;
        long calls = 0;
        long errors = 0;
        long classes = 0;
        String notes = "";
        StringBuilder left = new StringBuilder();
        for (Row r : rows) {
            if (r.type.equals("method")) {
                methods++;
                calls += r.number("calls");
                errors += r.number("errors");
            } else if (r.type.equals("left")) {
                left.append(left.length() == 0 ? "" : ", ").append(r.number("count")).append(' ');
                left.append(r.text("reason").split("[:,]")[0]);
            } else if (r.type.equals("status")) {
                classes = r.number("classes");
                notes = r.text("notes").strip().replace('\n', ';');
            }
        }
        System.out.printf(
                "%d classes, %d methods, %d calls, %d errors; left: %s%s%n",
                classes, methods, calls, errors, left, notes.isEmpty() ? "" : "; notes: " + notes);
    }

    private static void left(List<Row> rows) {
        for (Row r : rows) {
            if (r.type.equals("left")) {
                System.out.printf(
                        "  left alone: %d  %s (%s)%n",
                        r.number("count"), r.text("reason"), r.text("example"));
            }
        }
    }

    private static void show(List<Row> rows, String text) {
        for (Row r : rows) {
            if (r.type.equals("method") ? r.text("name").contains(text) : !r.type.equals("left")) {
                System.out.println(r.type + " " + r.fields);
            }
        }
    }

    private static boolean holds(double is, String op, double wanted) {
        return switch (op) {
            case "=" -> is == wanted;
            case ">" -> is >= wanted;
            case "<" -> is <= wanted;
            default -> Math.abs(is - wanted) <= 0.2 * wanted;
        };
    }

    private static double figure(List<Row> rows, String method, String field) {
        double sum = 0;
        double calls = 0;
        for (Row r : rows) {
            String name = r.text("name");
            if (!r.type.equals("method")
                    || !(name.equals(method) || name.startsWith(method + "."))) {
                continue;
            }
            calls += r.number("calls");
            sum +=
                    switch (field) {
                        case "rows" -> 1;
                        case "avg" -> r.number("total_ns");
                        default -> r.number(field);
                    };
        }
        return field.equals("avg") ? sum / calls : sum;
    }

    private static int check(List<Row> rows, String output) throws IOException {
        int asked = 0;
        int wrong = 0;
        for (String line : Files.readAllLines(Path.of(output))) {
            String[] w = line.split(" ");
            if (!w[0].equals("want")) {
                continue;
            }
            asked++;
            double is = figure(rows, w[1], w[2]);
            if (!holds(is, w[3], Double.parseDouble(w[4]))) {
                System.out.printf("%s, but it is %.0f%n", line, is);
                wrong++;
            }
        }
        System.out.printf("%d figures asked, %d wrong%n", asked, wrong);
        return asked == 0 || wrong > 0 ? 1 : 0;
    }

    public static void main(String[] args) throws IOException {
        define();
        if (args[0].equals("ask")) {
            ask(args[1], Path.of(args[2]));
            return;
        }
        List<Row> rows = read(args[1]);
        switch (args[0]) {
            case "sum" -> sum(rows);
            case "left" -> left(rows);
            case "show" -> show(rows, args.length > 2 ? args[2] : "");
            default -> System.exit(check(rows, args[2]));
        }
    }
}
