// SPDX-License-Identifier: Apache-2.0
import jakarta.jms.*;
import java.util.ArrayDeque;

/** Jakarta Messaging, with the smallest provider there can be. */
public class JmsJakarta {
    static class Name implements Queue {
        public String getQueueName() {
            return "orders";
        }

        public String toString() {
            return "queue " + getQueueName();
        }
    }

    static class Text implements Message {
        private Destination destination;

        public Destination getJMSDestination() {
            return destination;
        }

        public void setJMSDestination(Destination d) {
            destination = d;
        }
    }

    static class Provider implements MessageProducer, MessageConsumer {
        private final ArrayDeque<Message> messages = new ArrayDeque<>();

        public void send(Message m) {
            send(new Name(), m);
        }

        public void send(Destination d, Message m) {
            m.setJMSDestination(d);
            messages.add(m);
        }

        public Message receive(long timeout) {
            return messages.poll();
        }
    }

    static class Listener implements MessageListener {
        public void onMessage(Message m) {
            System.out.println("heard");
        }
    }

    /** Does not tell where it comes from. */
    static class Mute extends Text {
        @Override
        public Destination getJMSDestination() {
            throw new IllegalStateException();
        }
    }

    public static void main(String[] args) {
        Provider provider = new Provider();
        Listener listener = new Listener();
        provider.send(new Text());
        listener.onMessage(provider.receive(0));
        System.out.println(provider.receive(0));
        listener.onMessage(new Mute());
        try {
            provider.send(null);
        } catch (NullPointerException e) {
            System.out.println("null");
        }
    }
}
