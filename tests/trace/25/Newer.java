// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.StructuredTaskScope;

/** Ways that only newer JDKs have. */
final class Newer {
    private Newer() {}

    static void virtual() throws Exception {
        Thread a = Thread.startVirtualThread(() -> Hops.step(1));
        Thread b = Thread.ofVirtual().unstarted(() -> Hops.step(2));
        b.start();
        a.join();
        b.join();
    }

    static void perTask() throws Exception {
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Integer> a = each.submit(() -> Hops.step(1));
            Future<Integer> b = each.submit(() -> Hops.step(2));
            a.get();
            b.get();
        }
    }

    static void scope() throws Exception {
        try (var scope = StructuredTaskScope.open()) {
            scope.fork(() -> Hops.step(1));
            scope.fork(() -> Hops.step(2));
            scope.join();
        }
    }
}
