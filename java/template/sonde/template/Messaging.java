// SPDX-License-Identifier: Apache-2.0
package sonde.template;

import java.util.SondeProbe;
import javax.jms.Message;
import sonde.Here;

/** JMS: to and from where. A destination's text is its name, by the specification. */
final class Messaging {
    /** send(Destination, ...), publish(Topic, ...), createConsumer(Destination, ...). */
    static void destination() {
        long token = SondeProbe.enter(Here.id());
        SondeProbe.text(Here.id(), token, "destination", Here.arg(1));
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** onMessage(Message). */
    static void deliver() {
        long token = SondeProbe.enter(Here.id());
        try {
            Message message = (Message) Here.arg(1);
            SondeProbe.text(Here.id(), token, "destination", message.getJMSDestination());
        } catch (Throwable e) {
            // the message does not tell
        }
        Here.body();
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** send(Message, ...): a message learns its destination by being sent. */
    static void send() {
        Message message = (Message) Here.arg(1);
        long token = SondeProbe.enter(Here.id());
        Here.body();
        if (Here.thrown() == null) {
            try {
                SondeProbe.text(Here.id(), token, "destination", message.getJMSDestination());
            } catch (Throwable e) {
                // the message does not tell
            }
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }

    /** Message receive(...); without a message there is nothing to tell. */
    static void receive() {
        long token = SondeProbe.enter(Here.id());
        Here.body();
        try {
            Message message = (Message) Here.result();
            if (message != null) {
                SondeProbe.text(Here.id(), token, "destination", message.getJMSDestination());
            }
        } catch (Throwable e) {
            // the message does not tell
        }
        SondeProbe.exit(Here.id(), token, Here.thrown());
    }
}
