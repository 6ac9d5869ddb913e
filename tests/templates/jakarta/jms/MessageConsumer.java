// SPDX-License-Identifier: Apache-2.0
package jakarta.jms;

public interface MessageConsumer {
    Message receive(long timeout);
}
