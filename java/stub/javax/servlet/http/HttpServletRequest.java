// SPDX-License-Identifier: Apache-2.0
package javax.servlet.http;

public interface HttpServletRequest extends javax.servlet.ServletRequest {
    String getMethod();

    String getRequestURI();
}
