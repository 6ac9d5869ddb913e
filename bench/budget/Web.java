// SPDX-License-Identifier: Apache-2.0
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** A server with Vert.x on the port of args[0]: a basket as JSON for every request. */
public class Web extends AbstractVerticle {
    private static int port;

    public static void main(String[] args) {
        port = Integer.parseInt(args[0]);
        Vertx.vertx().deployVerticle(Web.class, new DeploymentOptions().setInstances(2));
    }

    @Override
    public void start() {
        vertx.createHttpServer().requestHandler(Web::answer).listen(port, "127.0.0.1");
    }

    private static void answer(HttpServerRequest request) {
        request.response().putHeader("Content-Type", "application/json").end(basket(request.path()).encode());
    }

    private static JsonObject basket(String path) {
        JsonArray items = new JsonArray();
        for (int i = 0; i < 5; i++) {
            items.add(item(path, i));
        }
        return new JsonObject().put("path", path).put("items", items);
    }

    private static JsonObject item(String path, int i) {
        return new JsonObject().put("number", path.length() + i).put("price", i * 1.5).put("name", "item " + i);
    }
}
