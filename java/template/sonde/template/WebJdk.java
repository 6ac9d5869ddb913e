// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import com.sun.net.httpserver.HttpExchange;
import java.util.SondeProbe;
import sonde.Here;

/** Handlers and filters of the JDK's own HTTP server. */
final class WebJdk {
    /** Any method (HttpExchange, ...). */
    static void exchange() {
        HttpExchange exchange = (HttpExchange) Here.arg(1);
        long token = SondeProbe.enter(Here.id());
        if ((token & 1) != 0) { // somebody watches; else nobody asks the exchange
            try {
                SondeProbe.request(
                        Here.id(),
                        token,
                        exchange.getRequestMethod(),
                        exchange.getRequestURI().getPath());
            } catch (Throwable e) {
                // the exchange does not tell
            }
        }
        Here.body();
        if ((token & 1) != 0 && Here.thrown() == null) {
            try {
                SondeProbe.number(Here.id(), token, "status", exchange.getResponseCode());
            } catch (Throwable e) {
                // the exchange does not tell
            }
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
