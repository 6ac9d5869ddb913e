// SPDX-License-Identifier: Apache-2.0
package jakarta.jms;

public interface MessageListener {
    void onMessage(Message message);
}
