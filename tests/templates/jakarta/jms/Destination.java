// SPDX-License-Identifier: Apache-2.0
package jakarta.jms;

/** The interfaces in this folder: as much of Jakarta Messaging as the test needs. */
public interface Destination {}
