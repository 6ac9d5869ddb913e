// SPDX-License-Identifier: Apache-2.0

/** What Glate extends: Loaders takes its time to load it. */
public class Gslow {
}
