// SPDX-License-Identifier: Apache-2.0
package bus;

/** What a message bus that Sonde does not know takes. */
public class Record {
    private final String topic;

    public Record(String topic) {
        this.topic = topic;
    }

    public String topic() {
        return topic;
    }
}
