// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;

/** Streams, channels and datagrams on loopback, all in one thread. */
public class Sockets {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private static void streams() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, LOOPBACK);
                Socket client = new Socket()) {
            client.connect(server.getLocalSocketAddress(), 5000);
            try (Socket peer = server.accept()) {
                OutputStream out = client.getOutputStream();
                InputStream in = peer.getInputStream();
                out.write(new byte[700], 100, 600);
                out.write(7);
                System.out.println(in.readNBytes(600).length + " " + in.read());
                client.shutdownOutput();
                System.out.println(in.read(new byte[10], 0, 10));
            }
        }
        try (Socket nobody = new Socket()) {
            nobody.connect(new InetSocketAddress(LOOPBACK, 1), 5000);
        } catch (ConnectException e) {
            System.out.println("refused");
        }
    }

    private static void channels() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(LOOPBACK, 0));
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress());
                    SocketChannel peer = server.accept()) {
                ByteBuffer[] two = {ByteBuffer.allocate(30), ByteBuffer.allocate(3)};
                System.out.println(client.write(ByteBuffer.allocate(300)));
                System.out.println(peer.read(ByteBuffer.allocate(1000)));
                System.out.println(client.write(two));
                two[0].clear();
                System.out.println(peer.read(two, 0, 1));
            }
        }
    }

    private static void datagrams() throws IOException {
        try (DatagramSocket a = new DatagramSocket(0, LOOPBACK);
                DatagramSocket b = new DatagramSocket(0, LOOPBACK)) {
            DatagramPacket packet = new DatagramPacket(new byte[100], 100);
            a.send(new DatagramPacket(new byte[42], 42, b.getLocalSocketAddress()));
            b.receive(packet);
            System.out.println(packet.getLength());
        }
    }

    public static void main(String[] args) throws IOException {
        streams();
        channels();
        datagrams();
    }
}
