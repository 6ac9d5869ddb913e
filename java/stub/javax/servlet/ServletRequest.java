// SPDX-License-Identifier: Apache-2.0
package javax.servlet;

public interface ServletRequest {}
