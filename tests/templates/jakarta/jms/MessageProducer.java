// SPDX-License-Identifier: Apache-2.0
package jakarta.jms;

public interface MessageProducer {
    void send(Message message);

    void send(Destination destination, Message message);
}
