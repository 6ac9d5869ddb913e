// SPDX-License-Identifier: Apache-2.0
import com.sun.net.httpserver.HttpHandler;
import java.lang.reflect.Proxy;
import java.text.DecimalFormat;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Scanner;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Has new classes come all the time; with each line of input many at once, and JDK classes besides. */
public class Once {
    /** What a proxy of it is, its own class file does not tell. */
    public interface Late extends HttpHandler {}

    public interface Above {
        void above();
    }

    public interface Plain extends Above {}

    static class Other {
        static int other(int n) {
            return n + 1;
        }
    }

    static volatile Object last;

    /** A class of its own each time. */
    static void make(Class<?> type) throws Exception {
        ClassLoader loader = new ClassLoader(Once.class.getClassLoader()) {};
        Object made = Proxy.newProxyInstance(loader, new Class<?>[] {type}, (proxy, method, arguments) -> null);
        last = made; // of another thread by now, perhaps
        if (made instanceof Plain) {
            ((Plain) made).above();
        } else {
            ((Late) made).handle(null);
        }
    }

    static void trickle() {
        try {
            while (true) {
                make(Late.class);
                make(Plain.class);
                Thread.sleep(20);
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    static String jdk(int n) {
        ConcurrentSkipListMap<String, Integer> map = new ConcurrentSkipListMap<>();
        IntStream.range(0, n).boxed().sorted().map(i -> i * i).forEach(i -> map.put("k" + i, i));
        return new DecimalFormat("#,##0.00").format(map.size())
                + Pattern.compile("(a|b)*c").matcher("ababc").matches()
                + ZonedDateTime.now().format(DateTimeFormatter.RFC_1123_DATE_TIME);
    }

    public static void main(String[] arguments) throws Exception {
        Thread thread = new Thread(Once::trickle);
        Scanner in = new Scanner(System.in);
        make(Late.class);
        make(Plain.class);
        Other.other(1);
        thread.setDaemon(true);
        thread.start();
        System.out.println("step up");
        while (in.hasNextLine()) {
            String line = in.nextLine();
            for (int i = 0; i < 40; i++) {
                make(Late.class);
                make(Plain.class);
            }
            jdk(100);
            System.out.println("step " + line);
        }
    }
}
