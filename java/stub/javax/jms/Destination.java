// SPDX-License-Identifier: Apache-2.0
package javax.jms;

public interface Destination {}
