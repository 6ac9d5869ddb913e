// SPDX-License-Identifier: Apache-2.0
package javax.servlet.http;

public interface HttpServletResponse extends javax.servlet.ServletResponse {
    int getStatus();
}
