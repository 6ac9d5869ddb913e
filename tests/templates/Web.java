// SPDX-License-Identifier: Apache-2.0
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** A servlet and two filters in Tomcat, and a client. */
public class Web {
    static class Shop extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest q, HttpServletResponse r) throws IOException {
            if (q.getParameter("fail") != null) {
                throw new IllegalStateException("no tea");
            }
            r.getWriter().print("tea " + q.getQueryString());
        }

        @Override
        protected void doPost(HttpServletRequest q, HttpServletResponse r) throws IOException {
            r.sendError(409, "sold out");
        }
    }

    /** Knows nothing of HTTP. */
    static class Plain implements Filter {
        @Override
        public void doFilter(ServletRequest q, ServletResponse r, FilterChain chain)
                throws IOException, ServletException {
            chain.doFilter(q, r);
        }
    }

    /** Hands on a response that does not tell its status. */
    static class Broken extends HttpFilter {
        @Override
        protected void doFilter(HttpServletRequest q, HttpServletResponse r, FilterChain chain)
                throws IOException, ServletException {
            boolean broken = "broken".equals(q.getQueryString());
            chain.doFilter(q, broken ? new Mute(r) : r);
        }
    }

    static class Mute extends HttpServletResponseWrapper {
        Mute(HttpServletResponse r) {
            super(r);
        }

        @Override
        public int getStatus() {
            throw new UnsupportedOperationException();
        }
    }

    private static void add(Context context, String name, Filter filter) {
        FilterDef def = new FilterDef();
        FilterMap map = new FilterMap();
        def.setFilterName(name);
        def.setFilter(filter);
        map.setFilterName(name);
        map.addURLPattern("/*");
        context.addFilterDef(def);
        context.addFilterMap(map);
    }

    private static void request(int port, String method, String uri) throws IOException {
        URL url = new URL("http://127.0.0.1:" + port + uri);
        HttpURLConnection c = (HttpURLConnection) url.openConnection();
        c.setRequestMethod(method);
        int status = c.getResponseCode();
        String body = "";
        if (status == 200) {
            body = new String(c.getInputStream().readAllBytes());
        }
        System.out.println(method + " " + uri + " " + status + " " + body);
    }

    public static void main(String[] args) throws Exception {
        LogManager.getLogManager().reset();
        Logger.getLogger("").setLevel(Level.OFF);
        Path base = Files.createTempDirectory("tomcat");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.toString());
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        Context context = tomcat.addContext("/app", base.toString());
        add(context, "plain", new Plain());
        add(context, "broken", new Broken());
        Tomcat.addServlet(context, "shop", new Shop());
        context.addServletMappingDecoded("/shop/*", "shop");
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        request(port, "GET", "/app/shop/tea?secret=1");
        request(port, "GET", "/app/shop/tea;jsessionid=secret");
        request(port, "POST", "/app/shop/order");
        request(port, "GET", "/app/shop/tea?fail=1");
        request(port, "GET", "/app/shop/milk?broken");
        tomcat.stop();
        tomcat.destroy();
        try (var files = Files.walk(base)) {
            files.sorted(java.util.Comparator.reverseOrder()).forEach(p -> p.toFile().delete());
        }
    }
}
