// SPDX-License-Identifier: Apache-2.0
package jakarta.jms;

public interface Queue extends Destination {
    String getQueueName();
}
