// SPDX-License-Identifier: Apache-2.0
import javax.jms.*;
import org.apache.activemq.ActiveMQConnectionFactory;

/** A broker inside the program; messages to a queue and to a topic. */
public class Jms {
    static class Listener implements MessageListener {
        @Override
        public void onMessage(Message m) {
            try {
                System.out.println("heard " + ((TextMessage) m).getText());
            } catch (JMSException e) {
                throw new RuntimeException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Connection c =
                new ActiveMQConnectionFactory(
                                "vm://test?broker.persistent=false&broker.useJmx=false")
                        .createConnection();
        c.start();
        Session s = c.createSession(false, Session.AUTO_ACKNOWLEDGE);
        Queue queue = s.createQueue("orders");
        MessageProducer producer = s.createProducer(queue);
        producer.send(s.createTextMessage("tea"));
        MessageConsumer consumer = s.createConsumer(queue);
        System.out.println("got " + ((TextMessage) consumer.receive(10000)).getText());
        System.out.println("got " + consumer.receiveNoWait());
        consumer.close();

        Topic topic = s.createTopic("news");
        Listener listener = new Listener();
        listener.onMessage(told(s, topic));
        s.createProducer(null).send(topic, s.createTextMessage("milk"));
        c.close();
    }

    /** A message that comes from the topic. */
    private static Message told(Session s, Topic topic) throws JMSException {
        MessageConsumer consumer = s.createConsumer(topic);
        s.createProducer(topic).send(s.createTextMessage("salt"));
        return consumer.receive(10000);
    }
}
