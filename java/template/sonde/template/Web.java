// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import sonde.Here;

/**
 * Servlets and filters. Requests and responses are often wrapped by the program, and a wrapper's
 * getter may throw; then that fact is missing, and nothing else happens.
 */
final class Web {
    /** Any method (HttpServletRequest, HttpServletResponse, ...). */
    static void http() {
        HttpServletResponse response = (HttpServletResponse) Here.arg(2);
        long token = SondeProbe.enter(Here.id());
        if ((token & 1) != 0) { // somebody watches; else nobody asks the request
            try {
                HttpServletRequest request = (HttpServletRequest) Here.arg(1);
                SondeProbe.request(Here.id(), token, request.getMethod(), request.getRequestURI());
            } catch (Throwable e) {
                // the request does not tell
            }
        }
        Here.body();
        if ((token & 1) != 0 && Here.thrown() == null) { // else the container decides on the status later
            try {
                SondeProbe.number(Here.id(), token, "status", response.getStatus());
            } catch (Throwable e) {
                // the response does not tell, or is older than Servlet 3.0
            }
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** Any method (ServletRequest, ServletResponse, ...), which may be other than HTTP. */
    static void any() {
        ServletResponse response = (ServletResponse) Here.arg(2);
        ServletRequest request = (ServletRequest) Here.arg(1);
        long token = SondeProbe.enter(Here.id());
        if ((token & 1) != 0) {
            try {
                if (request instanceof HttpServletRequest) {
                    HttpServletRequest http = (HttpServletRequest) request;
                    SondeProbe.request(Here.id(), token, http.getMethod(), http.getRequestURI());
                }
            } catch (Throwable e) {
                // the request does not tell
            }
        }
        Here.body();
        if ((token & 1) != 0 && Here.thrown() == null) {
            try {
                if (response instanceof HttpServletResponse) {
                    SondeProbe.number(
                            Here.id(),
                            token,
                            "status",
                            ((HttpServletResponse) response).getStatus());
                }
            } catch (Throwable e) {
                // the response does not tell
            }
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
