// SPDX-License-Identifier: Apache-2.0
package jakarta.jms;

public interface Message {
    Destination getJMSDestination();

    void setJMSDestination(Destination destination);
}
