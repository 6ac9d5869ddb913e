// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import sonde.Here;

/**
 * JDBC. A statement's text is recorded where it is handed over as text. Where a prepared statement
 * is run there is none: toString() of a driver's object may be expensive and may show the values
 * of its parameters. Such a call is tied to the one that prepared the statement by a number that
 * tells objects apart; asking for it runs no code of the driver.
 */
final class Database {
    /** prepareStatement(sql, ...) and prepareCall(sql, ...). */
    static void prepare() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.data(Here.id(), token, "sql", (String) Here.arg(1));
        Here.body();
        if ((token & 1) != 0) { // the number is kept in the object's header from then on
            SondeProbe.number(
                    Here.id(), token, "statement", System.identityHashCode(Here.result()));
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** execute(sql, ...), addBatch(sql) and the like. */
    static void text() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.data(Here.id(), token, "sql", (String) Here.arg(1));
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** execute() and the like, of what was prepared or gathered before. */
    static void statement() {
        long token = SondeProbe.enter(Here.id());
        if ((token & 1) != 0) {
            SondeProbe.number(Here.id(), token, "statement", System.identityHashCode(Here.self()));
        }
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
