// SPDX-License-Identifier: Apache-2.0
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * What a browser would see of Tomcat's examples.
 *
 * <pre>
 * Pages wait PORT            until the server answers
 * Pages show PORT            all pages and a WebSocket's answers, without what changes each time
 * Pages load PORT SECONDS    asks all the time; "N requests, N errors"
 * </pre>
 */
public final class Pages {
    private static final String[] PATHS = {
        "servlets/servlet/HelloWorldExample",
        "servlets/servlet/RequestInfoExample",
        "servlets/servlet/RequestHeaderExample",
        "servlets/servlet/RequestParamExample?firstname=a&lastname=b",
        "servlets/servlet/CookieExample",
        "servlets/servlet/SessionExample",
        "servlets/nonblocking/numberwriter",
        "async/async0",
        "jsp/jsp2/el/basic-arithmetic.jsp",
        "jsp/jsp2/el/basic-comparisons.jsp",
        "jsp/jsp2/el/functions.jsp?foo=JSP+2.0",
        "jsp/jsp2/simpletag/hello.jsp",
        "jsp/jsp2/simpletag/repeat.jsp",
        "jsp/jsp2/simpletag/book.jsp",
        "jsp/jsp2/tagfiles/hello.jsp",
        "jsp/xml/xml.jsp",
        "jsp/error/err.jsp?name=integra&submit=Submit",
        "jsp/include/include.jsp",
        "index.html",
        "nothing-here"
    };

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(20)).build();

    private static URI uri(String scheme, String port, String path) {
        return URI.create(scheme + "://127.0.0.1:" + port + "/examples/" + path);
    }

    private static String get(String port, String path) throws Exception {
        HttpRequest r =
                HttpRequest.newBuilder(uri("http", port, path))
                        .timeout(Duration.ofSeconds(600)) // a JSP, by a compiler that is hooked itself
                        .build();
        var answer = CLIENT.send(r, BodyHandlers.ofString());
        return answer.statusCode() + "\n" + answer.body();
    }

    /** Ids of sessions, times, and what is drawn by lot. */
    private static String steady(String body) {
        return body.replaceAll("[0-9A-F]{32}", "ID")
                .replaceAll("\\d+:\\d\\d:\\d\\d", "TIME")
                .replaceAll("\\b1[0-9]{12}\\b", "MILLIS")
                .replaceAll("(Created|Last Accessed):.*", "$1")
                .replaceAll("\\w+ \\d+, \\d+,? TIME.[AP]M", "DATE")
                .replaceAll("127.0.0.1:[0-9]+", "HERE")
                .replaceAll("(?m)^.*(Random|[Cc]urrent time|[Ee]poch).*$", "");
    }

    private static void echo(String port, String path) throws Exception {
        BlockingQueue<String> said = new LinkedBlockingQueue<>();
        WebSocket s =
                CLIENT.newWebSocketBuilder()
                        .buildAsync(
                                uri("ws", port, path),
                                new WebSocket.Listener() {
                                    @Override
                                    public CompletionStage<?> onText(
                                            WebSocket w, CharSequence text, boolean isLast) {
                                        said.add(text.toString());
                                        w.request(1);
                                        return null;
                                    }
                                })
                        .get(120, TimeUnit.SECONDS);
        for (int k = 0; k < 5; k++) {
            s.sendText("message " + k, true).get(60, TimeUnit.SECONDS);
            System.out.println(path + ": " + said.poll(60, TimeUnit.SECONDS));
        }
        s.sendClose(WebSocket.NORMAL_CLOSURE, "").get(60, TimeUnit.SECONDS);
    }

    private static void await(String port) throws Exception {
        for (int k = 0; k < 6000; k++) { // the script has a limit of its own
            try {
                get(port, "index.html");
                return;
            } catch (java.io.IOException e) {
                Thread.sleep(100);
            }
        }
        System.exit(1);
    }

    private static void load(String port, int seconds) throws Exception {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        int n = 0;
        int errors = 0;
        while (System.nanoTime() < end) {
            String path = PATHS[n++ % (PATHS.length - 1)];
            try {
                errors += get(port, path).startsWith("200") ? 0 : 1;
            } catch (java.io.IOException e) {
                errors++;
            }
        }
        System.out.println(n + " requests, " + errors + " errors");
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "wait" -> await(args[1]);
            case "load" -> load(args[1], Integer.parseInt(args[2]));
            default -> {
                for (String path : PATHS) {
                    System.out.println("== " + path + "\n" + steady(get(args[1], path)));
                }
                echo(args[1], "websocket/echoProgrammatic");
                echo(args[1], "websocket/echoAnnotation");
            }
        }
    }
}
