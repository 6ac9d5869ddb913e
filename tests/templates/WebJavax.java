// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** The older names of the servlet interfaces, called without a container. */
public class WebJavax {
    static class Shop extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest q, HttpServletResponse r) throws IOException {
            r.setStatus(203);
        }
    }

    /** Takes any request, but knows of HTTP. */
    static class Guard implements Filter {
        @Override
        public void init(FilterConfig config) {}

        @Override
        public void destroy() {}

        @Override
        public void doFilter(ServletRequest q, ServletResponse r, FilterChain chain)
                throws IOException, ServletException {
            if (q instanceof HttpServletRequest && r instanceof HttpServletResponse) {
                System.out.println("guarded");
            }
            chain.doFilter(q, r);
        }
    }

    private static Object make(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    public static void main(String[] args) throws Exception {
        int[] status = {200};
        HttpServletRequest q =
                (HttpServletRequest)
                        make(
                                HttpServletRequest.class,
                                (self, m, a) ->
                                        m.getName().equals("getMethod")
                                                ? "GET"
                                                : m.getName().equals("getRequestURI") ? "/x" : null);
        HttpServletResponse r =
                (HttpServletResponse)
                        make(
                                HttpServletResponse.class,
                                (self, m, a) -> {
                                    if (m.getName().equals("setStatus")) {
                                        status[0] = (Integer) a[0];
                                    }
                                    return m.getName().equals("getStatus") ? status[0] : null;
                                });
        Shop shop = new Shop();
        new Guard().doFilter(q, r, (q1, r1) -> shop.service(q1, r1));
        new Guard().doFilter(null, null, (q1, r1) -> System.out.println("none"));
        System.out.println(status[0]);
    }
}
